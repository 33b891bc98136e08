//! Long work without the interpreter, which gets it back every 50 ms to look for signals.
//!
//! Every exported function whose time the user's arguments decide runs its work through [`detached`]. Ctrl-C is then
//! heard within that time (as far as the work asks, see `simplexdp_core::interrupt`), and what the signal's handler
//! raises is raised by the call. What a function of the user raises in the middle of the work goes the same way, by
//! [`fail`].

use std::cell::RefCell;

use pyo3::prelude::*;
use simplexdp_core::interrupt;

thread_local! {
    /// What was raised in the call of [`detached`] that runs on this thread, if one does.
    static RAISED: RefCell<Option<Option<PyErr>>> = const { RefCell::new(None) };
}

/// Puts back what belongs to the call around this one, also when the work panics.
struct Restore(Option<Option<PyErr>>);

impl Drop for Restore {
    fn drop(&mut self) {
        RAISED.set(self.0.take());
    }
}

/// Runs `work` with the interpreter released.
///
/// # Errors
/// What a signal's handler or a function of the user raised meanwhile; the work was then cut short, and its value is
/// gone.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let _restore = Restore(RAISED.replace(Some(None)));
    let value = py.detach(|| {
        let mut elsewhere = false;
        interrupt::watch(Box::new(move || !elsewhere && stopped_by_signal(&mut elsewhere)), work)
    });
    RAISED.take().flatten().map_or(Ok(value), Err)
}

/// [`detached`] for work of this many values, and with the interpreter held where it is at most `held` of them: to let
/// go of it would take longer than the work.
pub(crate) fn detached_above<T: Send>(
    py: Python<'_>,
    held: usize,
    values: usize,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if values > held { detached(py, work) } else { Ok(work()) }
}

/// Ends the call of [`detached`] that runs on this thread with an exception; the first one counts.
pub(crate) fn fail(error: PyErr) {
    RAISED.with_borrow_mut(|raised| raised.as_mut().map(|first| first.get_or_insert(error)).is_some());
    interrupt::request();
}

/// Whether a handler has raised. Python runs handlers on its main thread: `elsewhere` says that this is another one,
/// which would wait for the interpreter every time, for nothing.
fn stopped_by_signal(elsewhere: &mut bool) -> bool {
    // Nothing to attach to: the interpreter is shutting down, and nobody waits for the value.
    let found = Python::try_attach(|py| py.check_signals().and_then(|()| on_main_thread(py)));
    match found {
        None => true,
        Some(Ok(main)) => {
            *elsewhere = !main;
            false
        }
        Some(Err(error)) => {
            fail(error);
            true
        }
    }
}

fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    threading.call_method0("main_thread")?.getattr("ident")?.eq(threading.call_method0("get_ident")?)
}
