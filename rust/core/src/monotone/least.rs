//! The least number with a property that all larger ones have.

use crate::{Result, interrupt};

/// How far from the start the search goes, in powers of two.
const REACH: i32 = 200;

/// The least double of `bits` significant bits, or a little more, for which `holds`, where it does for all larger ones.
///
/// What comes back holds, whether the property is monotone or not. There is none when the property changes nowhere between
/// 2^-200 and 2^200 times the start.
///
/// # Errors
/// The first error of `holds`.
pub(crate) fn least(start: f64, bits: u32, mut holds: impl FnMut(f64) -> Result<bool>) -> Result<Option<f64>> {
    let mut holds = |x: f64| -> Result<bool> {
        interrupt::check()?;
        holds(x)
    };
    let start = 2f64.powi(start.log2().floor() as i32);
    let (mut low, mut high) = (start, start);
    if holds(start)? {
        while holds(low / 2.0)? {
            low /= 2.0;
            if !within(low, start) {
                return Ok(None);
            }
        }
        (low, high) = (low / 2.0, low);
    } else {
        while !holds(high * 2.0)? {
            high *= 2.0;
            if !within(high, start) {
                return Ok(None);
            }
        }
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..bits {
        let middle = low + (high - low) / 2.0;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}

fn within(at: f64, start: f64) -> bool {
    (at / start).log2().abs() < f64::from(REACH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn it_finds_the_threshold_from_either_side() {
        for (start, threshold) in [(1.0, 0.3), (0.3, 1e9), (1e-5, 1e-6), (3.0, 3.0), (8.0, 2.0)] {
            let found = least(start, 40, |x| Ok(x >= threshold)).unwrap().unwrap();
            assert!(found >= threshold && found <= threshold * (1.0 + 2f64.powi(-39)), "{start} {threshold} {found}");
        }
        assert!(least(1.0, 40, |_| Ok(true)).unwrap().is_none());
        assert!(least(1.0, 40, |_| Ok(false)).unwrap().is_none());
        assert!(matches!(least(1.0, 40, |_| Err(Error::Interrupted)), Err(Error::Interrupted)));
    }
}
