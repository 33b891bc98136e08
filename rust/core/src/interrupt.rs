//! How long work learns that nobody waits for it any more.
//!
//! The core never hears of Python. Whoever calls it may run the call inside [`watch`], with a question that is put from
//! the calling thread about every 50 ms; when the answer is yes, [`requested`] is true for the rest of that call, on the
//! calling thread and on the threads that [`crate::parallel`] starts for it. Outside of [`watch`] it is always false.
//!
//! The rules for code that takes long:
//!
//! - A loop that may run for more than some milliseconds asks [`requested`] (or [`check`]) at every step that takes a
//!   microsecond or more, and at every so many steps where they are shorter: one question costs a reading of the clock,
//!   some 30 ns inside [`watch`] and 2 ns outside.
//! - A function that returns a [`Result`] returns [`Error::Interrupted`]. One that returns a plain number returns its
//!   pessimistic value (a delta of 1, an infinite epsilon); the caller inside [`watch`] raises what the question found,
//!   and throws the value away.
//! - Nothing that was computed after a request is kept: no cache may hold a value that was cut short.
//! - The question may run code of the user, on the calling thread. A lock that it could want is not held while asking.
//!
//! Nothing here outlives a call, so that `fork` has nothing to copy, and calls of different threads do not disturb each
//! other.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// How long the question is not put again.
pub const INTERVAL: Duration = Duration::from_millis(50);

/// The question: whether the work is to stop.
pub type Question = Box<dyn FnMut() -> bool>;

thread_local! {
    /// The call that this thread works for.
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

struct Call {
    stop: Token,
    /// Where this thread is the one that made the call.
    asker: Option<Asker>,
}

struct Asker {
    /// Absent while it is being asked.
    question: Option<Question>,
    next: Instant,
}

/// The request of one call, for the threads that work for it.
#[derive(Clone, Default)]
pub struct Token(Arc<AtomicBool>);

/// Puts back the call that a thread worked for before, also when the work panics.
struct Restore(Option<Call>);

impl Drop for Restore {
    fn drop(&mut self) {
        CALL.set(self.0.take());
    }
}

impl Token {
    /// The request of the call that this thread works for; outside of a call one that never comes.
    pub fn current() -> Self {
        CALL.with_borrow(|call| call.as_ref().map(|call| call.stop.clone())).unwrap_or_default()
    }

    /// Runs `work` for the call that this token belongs to, on a thread of its own: it hears the request, but does not ask.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let _restore = Restore(CALL.replace(Some(Call { stop: self.clone(), asker: None })));
        work()
    }
}

/// Runs `work`; while it asks whether to stop, `question` is put about every [`INTERVAL`] until it says yes.
///
/// # Examples
/// ```
/// use simplexdp_core::interrupt::{requested, watch};
///
/// let mut steps = 0;
/// watch(Box::new(|| true), || {
///     while !requested() {
///         steps += 1;
///     }
/// });
/// assert!(steps > 0 && !requested());
/// ```
pub fn watch<R>(question: Question, work: impl FnOnce() -> R) -> R {
    let asker = Asker { question: Some(question), next: Instant::now() + INTERVAL };
    let _restore = Restore(CALL.replace(Some(Call { stop: Token::default(), asker: Some(asker) })));
    work()
}

/// Asks the call that this thread works for to stop; does nothing outside of a call.
pub fn request() {
    CALL.with_borrow(|call| call.iter().for_each(|call| call.stop.0.store(true, Ordering::Relaxed)));
}

/// Whether the call that this thread works for is to stop.
pub fn requested() -> bool {
    let due = CALL.with_borrow_mut(|call| match call {
        None => Err(false),
        Some(Call { stop, .. }) if stop.0.load(Ordering::Relaxed) => Err(true),
        Some(Call { asker: None, .. }) => Err(false),
        Some(Call { asker: Some(asker), .. }) if Instant::now() < asker.next => Err(false),
        // Taken out, and the borrow given up: the question may make a call of its own on this thread.
        Some(Call { asker: Some(asker), .. }) => asker.question.take().ok_or(false),
    });
    let mut question = match due {
        Ok(question) => question,
        Err(known) => return known,
    };
    let answer = question();
    CALL.with_borrow_mut(|call| {
        if let Some(Call { stop, asker: Some(asker) }) = call {
            stop.0.fetch_or(answer, Ordering::Relaxed);
            *asker = Asker { question: Some(question), next: Instant::now() + INTERVAL };
        }
    });
    answer
}

/// [`requested`] as an error.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn check() -> Result<()> {
    if requested() { Err(Error::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks until the answer is yes or the time is over.
    fn wait(limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if requested() {
                return true;
            }
        }
        false
    }

    #[test]
    fn the_question_is_put_at_intervals_and_its_answer_stays() {
        let asked = Arc::new(std::sync::Mutex::new(0));
        let counter = Arc::clone(&asked);
        let question = move || {
            let mut n = counter.lock().unwrap();
            *n += 1;
            *n == 3
        };
        let start = Instant::now();
        watch(Box::new(question), || {
            assert!(!requested(), "nobody was asked yet");
            assert!(wait(Duration::from_secs(120)));
            assert!(requested() && check() == Err(Error::Interrupted));
        });
        assert_eq!(*asked.lock().unwrap(), 3);
        assert!(start.elapsed() >= 3 * INTERVAL);
        assert!(!requested() && check().is_ok(), "the request ends with its call");
    }

    #[test]
    fn threads_of_a_call_hear_its_request_and_no_other() {
        watch(Box::new(|| true), || {
            let token = Token::current();
            std::thread::scope(|scope| {
                let worker = scope.spawn(|| token.run(|| wait(Duration::from_secs(120))));
                let stranger = scope.spawn(|| watch(Box::new(|| false), || wait(3 * INTERVAL)));
                assert!(wait(Duration::from_secs(120)));
                assert!(worker.join().unwrap());
                assert!(!stranger.join().unwrap());
            });
        });
    }

    #[test]
    fn the_question_may_make_a_call_of_its_own() {
        let inner = || watch(Box::new(|| true), || wait(Duration::from_secs(120)));
        watch(Box::new(move || !inner()), || assert!(!wait(3 * INTERVAL), "the inner request stayed inside"));
        watch(Box::new(|| false), || {
            assert!(!requested());
            request();
            assert!(requested());
        });
    }

    #[test]
    fn a_panic_ends_the_call() {
        let panicked = std::panic::catch_unwind(|| {
            watch(Box::new(|| true), || {
                request();
                panic!("of the work");
            })
        });
        assert!(panicked.is_err() && !requested());
    }
}
