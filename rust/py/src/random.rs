//! The `rng` argument: nothing for the operating system's entropy, or a `SeededRng`.

use std::sync::atomic::{AtomicBool, Ordering};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple};
use simplexdp_core::random::{Bits, SeededKeys, StreamKey};
use simplexdp_core::{Error, interrupt, memory};

use crate::detached::detached;
use crate::error::CoreResult;

const INSECURE: &str = "a SeededRng repeats its draws: whoever knows the seed can subtract the noise. Use it in tests and \
                        experiments only; leave rng out for a release (this warning is shown once)";

const RNG_RULE: &str = "be None (the operating system's entropy) or a simplexdp.testing.SeededRng (tests only); \
                        generators of numpy or random are not cryptographically secure, so no release may use them";

/// Children of one call; more would only fill memory.
const MAX_CHILDREN: u64 = 1 << 20;

/// The number of calls that a new object may skip; counting on never overflows.
const MAX_CALLS: u64 = 1 << 62;

/// Whether this process has been warned.
static WARNED: AtomicBool = AtomicBool::new(false);

/// Reproducible randomness for tests and experiments; whoever knows the seed can undo a release.
///
/// Call number ``c`` that is given this object draws from ChaCha20 under a key of its own: the first 32 bytes of
/// ChaCha20 (20 rounds, 64-bit counter from 0) with key ``seed`` (little-endian) and the number ``c`` as its 64-bit
/// nonce. The values do not change between versions unless the changelog marks a value change. Threads may share an object; which call comes
/// first is then up to them, so give each its own child (`spawn`) where the run must repeat. A copy, also by pickle,
/// continues where the original stands and repeats what the original draws from there.
///
/// Parameters
/// ----------
/// seed : int
///     From 0 to 2**256 - 1.
/// calls : int, default 0
///     The number of calls to skip.
#[pyclass(frozen, name = "SeededRng", module = "simplexdp.testing")]
pub(crate) struct SeededRng(SeededKeys);

#[pymethods]
impl SeededRng {
    #[new]
    #[pyo3(signature = (seed, calls = None), text_signature = "(seed, calls=0)")]
    fn new(seed: &Bound<'_, PyAny>, calls: Option<&Bound<'_, PyAny>>) -> CoreResult<Self> {
        let bytes = seed_bytes(seed)
            .map_err(|_| Error::parameter("seed", "be an integer from 0 to 2**256 - 1", shown(seed)))?;
        let calls = calls.map_or(Ok(0), |calls| {
            up_to(calls, MAX_CALLS)
                .ok_or_else(|| Error::parameter("calls", "be an integer from 0 to 2**62", shown(calls)))
        })?;
        Ok(Self(SeededKeys::new(bytes, calls)))
    }

    /// The seed.
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &self.0.seed()), "little"))
    }

    /// The number of calls that this object has served.
    #[getter]
    fn calls(&self) -> u64 {
        self.0.calls()
    }

    /// Independent children, to hand to threads or processes; each counts as one call.
    fn spawn(&self, n_children: &Bound<'_, PyAny>) -> CoreResult<Vec<Self>> {
        let n_children = up_to(n_children, MAX_CHILDREN)
            .ok_or_else(|| Error::parameter("n_children", "be an integer from 0 to 2**20", shown(n_children)))?;
        Ok((0..n_children).map(|_| Self(SeededKeys::new(self.0.next_bytes(), 0))).collect())
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, rng) = (this.py(), this.get());
        (this.get_type(), (rng.seed(py)?, rng.calls())).into_pyobject(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let seed = self.seed(py)?;
        Ok(match self.calls() {
            0 => format!("SeededRng({seed})"),
            calls => format!("SeededRng({seed}, calls={calls})"),
        })
    }
}

/// The seed as 32 little-endian bytes.
fn seed_bytes(seed: &Bound<'_, PyAny>) -> PyResult<[u8; 32]> {
    seed.call_method0("__index__")?.call_method1("to_bytes", (32, "little"))?.extract()
}

/// The integer, if it is one from 0 to `most`.
fn up_to(value: &Bound<'_, PyAny>, most: u64) -> Option<u64> {
    value.call_method0("__index__").ok()?.extract().ok().filter(|&value| value <= most)
}

/// A public argument for a message; anything that cannot be printed is named by its type.
fn shown(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| type_name(object), |text| text.to_string())
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

/// The key of one call, from the operating system or, with a warning the first time, from a `SeededRng`.
pub(crate) fn stream_key(rng: Option<&Bound<'_, PyAny>>) -> CoreResult<StreamKey> {
    let key = simulation_key(rng)?;
    rng.map_or(Ok(()), |rng| warn_once(rng.py()))?;
    Ok(key)
}

/// The same without a warning, for draws that are not fit for release anyway.
pub(crate) fn simulation_key(rng: Option<&Bound<'_, PyAny>>) -> CoreResult<StreamKey> {
    let Some(rng) = rng else {
        return Ok(StreamKey::from_os()?);
    };
    let seeded = rng.cast::<SeededRng>().map_err(|_| Error::parameter("rng", RNG_RULE, type_name(rng)))?;
    Ok(seeded.get().0.next_key())
}

/// Warns the first time, at the line that called the package; a plan's or a comparison's own seeds are no news. Where
/// warnings are errors the call is refused, and so is the next one.
fn warn_once(py: Python<'_>) -> PyResult<()> {
    if WARNED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let warn = || -> PyResult<bool> {
        py.import("simplexdp._cautions")?.getattr("caution_seed")?.call1((INSECURE,))?.extract()
    };
    let told = warn();
    if !matches!(told, Ok(true)) {
        WARNED.store(false, Ordering::Relaxed);
    }
    told.map(drop)
}

/// `size` raw words of stream `index` of a fresh key, with the interpreter released: what the tests of uniqueness compare.
#[pyfunction]
#[pyo3(signature = (size, index = 0, rng = None))]
pub(crate) fn random_words<'py>(
    py: Python<'py>,
    size: usize,
    index: u64,
    rng: Option<&Bound<'py, PyAny>>,
) -> CoreResult<Bound<'py, PyArray1<u64>>> {
    let key = stream_key(rng)?;
    let words = detached(py, || {
        let (mut stream, mut words) = (key.stream(index), memory::zeros("the words", size)?);
        for chunk in words.chunks_mut(1 << 16) {
            interrupt::check()?;
            chunk.iter_mut().for_each(|word| *word = stream.next_u64());
        }
        Ok::<_, Error>(words)
    })??;
    Ok(words.into_pyarray(py))
}
