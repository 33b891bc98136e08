//! What a loop over long columns asks of the processor: its widest vectors, and values fetched ahead.
//!
//! Wheels are compiled for the oldest x86-64, whose vectors hold 16 bytes. A loop that is worth it asks for twice that
//! at run time. Results do not depend on it: the loops that go through here work on integers, or on numbers in an order
//! of their own.
//!
//! The only unsafe calls of this workspace are here: Rust has no other way to choose instructions.

/// Runs `work`, a closure marked `#[inline(always)]` as all that it calls, compiled for the widest vectors that this
/// processor has.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: `with_avx2` is safe but for its instructions, and the line above has seen that they exist.
        #[allow(unsafe_code)]
        return unsafe { with_avx2(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
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
