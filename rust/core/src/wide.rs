//! What a loop over long columns asks of the processor: its widest vectors, and values fetched ahead.
//!
//! Wheels are compiled for the oldest x86-64, whose vectors hold 16 bytes. A loop that is worth it asks for two or four
//! times that at run time. Results do not depend on it: the loops that go through here work on integers, or on numbers in
//! an order of their own.
//!
//! The only unsafe calls of this workspace are here: Rust has no other way to choose instructions.

#[cfg(target_arch = "x86_64")]
use crate::random::chacha::registers;

/// Runs `work`, a closure marked `#[inline(always)]` as all that it calls, compiled for the widest vectors that this
/// processor has: 64 bytes, 32, or what every processor has.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_64_bytes() {
        // SAFETY: `with_avx512` is safe but for its instructions, and the line above has seen that they exist.
        #[allow(unsafe_code)]
        return unsafe { with_avx512(work) };
    }
    wide(work)
}

/// The same with 32 bytes at most: for the loops of tables and of curves, which gain nothing from more.
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: `with_avx2` is safe but for its instructions, and the line above has seen that they exist.
        #[allow(unsafe_code)]
        return unsafe { with_avx2(work) };
    }
    work()
}

/// Whether there are vectors of 64 bytes that pay: processors that also count bits in them keep their clock while they use
/// them; older ones slow down.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_64_bytes() -> bool {
    std::arch::is_x86_feature_detected!("avx512vpopcntdq")
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2")]
fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Writes ChaCha20 blocks, sixteen at a time, where this processor's vectors hold so many; tells whether they do. `start` is
/// the state before the first round, but for the number, which begins at `counter`.
pub(crate) fn chacha_by_sixteen(start: &[u32; 16], counter: u64, words: &mut [u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_64_bytes() {
        for (at, words) in words.as_chunks_mut().0.iter_mut().enumerate() {
            // SAFETY: `sixteen` is safe but for its instructions, and the line above has seen that they exist.
            #[allow(unsafe_code)]
            unsafe {
                registers::sixteen(start, counter.wrapping_add(16 * at as u64), words);
            }
        }
        return true;
    }
    let _ = (start, counter, words);
    false
}

/// The same, eight at a time.
pub(crate) fn chacha_by_eight(start: &[u32; 16], counter: u64, words: &mut [u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        for (at, words) in words.as_chunks_mut().0.iter_mut().enumerate() {
            // SAFETY: `eight` is safe but for its instructions, and the line above has seen that they exist.
            #[allow(unsafe_code)]
            unsafe {
                registers::eight(start, counter.wrapping_add(8 * at as u64), words);
            }
        }
        return true;
    }
    let _ = (start, counter, words);
    false
}

/// Asks for these values to be fetched into the second-level cache while other work goes on.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for value in values.iter().step_by((LINE / size_of::<T>()).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch changes nothing that the program can see, whatever the address.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// Bytes that are fetched together.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

#[cfg(test)]
mod tests {
    use super::{prefetch, wide, widest};

    #[inline(always)]
    fn mixed(values: &[u32], out: &mut [u32]) -> Option<u32> {
        for (to, &value) in out.iter_mut().zip(values) {
            *to = value ^ (value >> 7);
        }
        out.iter().copied().max()
    }

    /// `make unsafe` runs these under Miri, which sees a read or a write outside of what a reference may touch, once
    /// with the wide vectors and once without.
    #[test]
    fn the_widest_vectors_give_what_the_narrow_ones_give() {
        for length in [0, 1, 7, 8, 9, 31, 32, 33, 100] {
            let values: Vec<u32> = (0..length).map(|i| 2_654_435_761_u32.wrapping_mul(i).rotate_left(i)).collect();
            let expected: Vec<u32> = values.iter().map(|&value| value ^ (value >> 7)).collect();
            for narrower in [false, true] {
                let mut out = vec![0_u32; values.len()];
                let largest = if narrower {
                    wide(
                        #[inline(always)]
                        || mixed(&values, &mut out),
                    )
                } else {
                    widest(
                        #[inline(always)]
                        || mixed(&values, &mut out),
                    )
                };
                assert_eq!(out, expected);
                assert_eq!(largest, expected.iter().copied().max());
            }
        }
    }

    #[test]
    fn a_closure_may_own_what_it_takes_and_gives_back() {
        let text = String::from("kept");
        let back = widest(
            #[inline(always)]
            move || text + ", and longer",
        );
        assert_eq!(back, "kept, and longer");
    }

    #[test]
    fn what_a_closure_owns_is_dropped_when_it_panics() {
        let shared = std::sync::Arc::new(1_u8);
        let inside = std::sync::Arc::clone(&shared);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            widest(
                #[inline(always)]
                move || assert_eq!(*inside, 2, "as it is meant to"),
            );
        }));
        assert!(ended.is_err());
        assert_eq!(std::sync::Arc::strong_count(&shared), 1);
    }

    #[test]
    fn a_prefetch_of_any_slice_changes_nothing() {
        for length in [0, 1, 7, 8, 63, 64, 65, 200] {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let doubles: Vec<f64> = (0..length).map(f64::from).collect();
            let records = vec![[3_u64; 20]; length as usize];
            prefetch(&bytes);
            prefetch(&bytes[bytes.len()..]);
            prefetch(&doubles);
            prefetch(&records);
            assert!(bytes.iter().zip(0_u8..).all(|(&a, b)| a == b));
            assert!(doubles.iter().zip(0..).all(|(&a, b)| a == f64::from(b)));
            assert!(records.iter().all(|record| *record == [3; 20]));
        }
    }
}
