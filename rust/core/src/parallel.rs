//! Work shared between threads that end with the call.
//!
//! A pool that outlived its call would not survive `fork`: the child inherits the pool's state, but none of its threads,
//! and waits for them for ever. Starting a thread costs some 20 us, so callers ask for several ([`threads_for`]) only
//! where the work takes a multiple of that.
//!
//! Tasks are handed out in order, each to the first thread that is free, and their results come back in order. What they
//! are does not depend on the threads: whoever sums up results does so in that order, and whoever draws gives each task
//! a stream of its own. The calling thread takes part. While it waits for the others it keeps asking whether to stop
//! ([`crate::interrupt`]), and every thread asks between two tasks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Builder, Thread};

use crate::interrupt::{self, Token};
use crate::{Error, Result};

/// The environment variable that lowers the number of threads of a call; it is read once.
pub const LIMIT_VARIABLE: &str = "SIMPLEXDP_NUM_THREADS";

/// The most threads that a call takes: the processors that this process may use, or fewer where [`LIMIT_VARIABLE`] says
/// so. Without the feature `threads` it is one.
pub fn most_threads() -> usize {
    if cfg!(not(feature = "threads")) {
        return 1;
    }
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let limit = std::env::var(LIMIT_VARIABLE).ok().and_then(|limit| limit.parse().ok());
        processors.min(limit.unwrap_or(processors)).max(1)
    })
}

/// One thread for every `per_thread` units of work, from one to [`most_threads`].
pub fn threads_for(size: usize, per_thread: usize) -> usize {
    let wanted = size / per_thread.max(1);
    if wanted <= 1 { 1 } else { wanted.min(most_threads()) }
}

/// The results of `work` on every task, in order.
///
/// # Errors
/// The error of the first task in order that failed, after which no further task is begun; [`Error::Interrupted`] when
/// the call was asked to stop.
///
/// # Examples
/// ```
/// let squares = simplexdp_core::parallel::map(0..4_u32, 2, |n| Ok(n * n))?;
/// assert_eq!(squares, [0, 1, 4, 9]);
/// # Ok::<(), simplexdp_core::Error>(())
/// ```
pub fn map<T: Send, R: Send>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    map_reporting(tasks, threads, work, |_| Ok(()))
}

/// [`map`] that tells `report`, on the calling thread, how many tasks are done: after its own tasks, and every so often
/// while it waits for the others.
///
/// # Errors
/// As [`map`], or what `report` returns.
pub fn map_reporting<T: Send, R: Send>(
    tasks: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) -> Result<R> + Sync,
    mut report: impl FnMut(usize) -> Result<()>,
) -> Result<Vec<R>> {
    let n_tasks = tasks.len();
    let threads = if cfg!(feature = "threads") { threads.min(n_tasks) } else { 1 };
    let checked = |task| interrupt::check().and_then(|()| work(task));
    if threads <= 1 {
        let mut results = Vec::with_capacity(n_tasks);
        for task in tasks {
            results.push(checked(task)?);
            report(results.len())?;
        }
        return Ok(results);
    }
    let (queue, token) = (Queue::new(tasks), Token::current());
    let mut parts = thread::scope(|scope| {
        let _stop = StopOnPanic(&queue.stopped);
        let others: Vec<_> = (1..threads)
            .map_while(|_| {
                let leave = Leave::enter(&queue);
                let run = || {
                    let _leave = leave;
                    token.run(|| queue.run(checked, || Ok(())))
                };
                // A thread that the system refuses leaves its work to the others.
                Builder::new().spawn_scoped(scope, run).ok()
            })
            .collect();
        let mut told = || report(queue.done.load(Ordering::Relaxed));
        let own = queue.run(checked, &mut told);
        let waited = queue.wait(told);
        let mut parts = vec![own, waited];
        for other in others {
            parts.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        parts
    });
    if let Some((_, error)) = parts.iter_mut().filter_map(|part| part.failed.take()).min_by_key(|failed| failed.0) {
        return Err(error);
    }
    let mut results: Vec<_> = parts.into_iter().flat_map(|part| part.results).collect();
    results.sort_unstable_by_key(|result| result.0);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// What the threads of one call share.
struct Queue<I> {
    tasks: Mutex<I>,
    /// Set where a task failed: no further one is begun.
    stopped: AtomicBool,
    done: AtomicUsize,
    /// The other threads that still run.
    running: AtomicUsize,
    caller: Thread,
}

/// What one thread did; positions are those of the tasks.
struct Part<R> {
    results: Vec<(usize, R)>,
    failed: Option<(usize, Error)>,
}

impl<T, I: Iterator<Item = T>> Queue<std::iter::Enumerate<I>> {
    fn new(tasks: I) -> Self {
        Self {
            tasks: Mutex::new(tasks.enumerate()),
            stopped: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            caller: thread::current(),
        }
    }

    /// Works until there is no task left; calls `then` after each.
    fn run<R>(&self, work: impl Fn(T) -> Result<R>, mut then: impl FnMut() -> Result<()>) -> Part<R> {
        let _stop = StopOnPanic(&self.stopped);
        let mut part = Part { results: Vec::new(), failed: None };
        while let Some((index, task)) = self.next() {
            match work(task) {
                Ok(result) => part.results.push((index, result)),
                Err(error) => return self.fail(part, index, error),
            }
            self.done.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = then() {
                return self.fail(part, index, error);
            }
        }
        part
    }

    fn next(&self) -> Option<(usize, T)> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        // Poisoned if an iterator panicked, which ends the call.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    fn fail<R>(&self, mut part: Part<R>, index: usize, error: Error) -> Part<R> {
        self.stopped.store(true, Ordering::Relaxed);
        part.failed = Some((index, error));
        part
    }

    /// Waits for the other threads, asking whether to stop meanwhile.
    fn wait<R>(&self, mut then: impl FnMut() -> Result<()>) -> Part<R> {
        let mut part = Part { results: Vec::new(), failed: None };
        while self.running.load(Ordering::Acquire) > 0 {
            thread::park_timeout(interrupt::INTERVAL);
            if part.failed.is_none()
                && let Err(error) = interrupt::check().and_then(|()| then())
            {
                part = self.fail(part, usize::MAX, error);
            }
        }
        part
    }
}

/// Counts a thread as running until it ends, however it ends.
struct Leave<'a> {
    running: &'a AtomicUsize,
    caller: &'a Thread,
}

impl<'a> Leave<'a> {
    fn enter<I>(queue: &'a Queue<I>) -> Self {
        queue.running.fetch_add(1, Ordering::Relaxed);
        Self { running: &queue.running, caller: &queue.caller }
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}

/// Lets the other threads stop when this one panics.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn results_come_in_order_for_every_number_of_threads() {
        for n in [0, 1, 2, 3, 100, 1001] {
            let expected: Vec<usize> = (0..n).map(|i| i * i).collect();
            for threads in [0, 1, 2, 7, 200] {
                assert_eq!(map(0..n, threads, |i| Ok(i * i)).unwrap(), expected);
            }
        }
    }

    #[test]
    fn tasks_may_own_what_they_write() {
        let mut values = vec![0; 10_000];
        let work = |(i, chunk): (usize, &mut [usize])| {
            chunk.fill(i);
            Ok(())
        };
        map(values.chunks_mut(16).enumerate(), 3, work).unwrap();
        assert!(values.iter().enumerate().all(|(i, &value)| value == i / 16));
    }

    #[test]
    fn the_first_error_in_order_is_returned_and_work_stops() {
        for threads in [1, 2, 4] {
            let begun = AtomicUsize::new(0);
            let work = |i: usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(if i == 20 { 5 } else { 0 }));
                if i >= 20 { Err(Error::data("task", if i == 20 { "first" } else { "later" })) } else { Ok(i) }
            };
            assert_eq!(map(0..100_000, threads, work), Err(Error::data("task", "first")));
            assert!(begun.into_inner() < 1000);
        }
    }

    #[test]
    fn a_panic_of_any_thread_goes_on_in_the_caller() {
        for threads in [1, 2, 4] {
            let begun = AtomicUsize::new(0);
            let work = |i: usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                assert!(i != 3, "task three");
                thread::sleep(Duration::from_millis(1));
                Ok(())
            };
            let panic = std::panic::catch_unwind(|| map(0..100_000, threads, work)).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"task three"));
            // A panic that prints its frames takes its time, in which others go on: half of them would take ten seconds.
            assert!(begun.into_inner() < 50_000);
        }
    }

    /// The caller is idle: a question is put although only another thread works, and that thread hears the answer.
    #[test]
    #[cfg(feature = "threads")]
    fn a_request_reaches_all_threads_also_while_the_caller_waits() {
        let caller = thread::current().id();
        let (start, begun) = (Instant::now(), AtomicBool::new(false));
        let wait = |_| {
            let is_caller = thread::current().id() == caller;
            if !is_caller {
                begun.store(true, Ordering::Relaxed);
            }
            // The caller works until the other thread has a task, which works until it is told to stop.
            let ends = || if is_caller { begun.load(Ordering::Relaxed) } else { interrupt::requested() };
            while !ends() && start.elapsed().as_secs() < 120 {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        };
        let found = interrupt::watch(Box::new(|| true), || map(0..2, 2, wait));
        assert_eq!(found, Err(Error::Interrupted));
        assert!(start.elapsed() < Duration::from_secs(60));
        assert!(
            interrupt::watch(Box::new(|| true), || map(0..1_000_000, 2, |_| {
                thread::sleep(Duration::from_millis(1));
                Ok(())
            }))
            .is_err()
        );
    }

    #[test]
    fn progress_is_told_on_the_calling_thread_and_may_end_the_work() {
        for threads in [1, 3] {
            let (caller, mut told) = (thread::current().id(), Vec::new());
            let works = AtomicBool::new(false);
            let work = |_| {
                works.fetch_or(thread::current().id() == caller, Ordering::Relaxed);
                // The others wait for the caller: had they done all before it came, it would have nothing to tell.
                while !works.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_micros(100));
                }
                thread::sleep(Duration::from_micros(100));
                Ok(())
            };
            map_reporting(0..200, threads, work, |done| {
                assert_eq!(thread::current().id(), caller);
                told.push(done);
                Ok(())
            })
            .unwrap();
            assert!(told.is_sorted() && told.last().is_some_and(|&last| (1..=200).contains(&last)), "{told:?}");
            let stop = |done| if done > 10 { Err(Error::data("task", "stop")) } else { Ok(()) };
            assert_eq!(map_reporting(0..1_000_000, threads, work, stop), Err(Error::data("task", "stop")));
        }
    }

    #[test]
    fn threads_are_asked_for_where_they_pay() {
        assert_eq!((threads_for(0, 0), threads_for(10, 1000), threads_for(1999, 1000)), (1, 1, 1));
        assert!(threads_for(usize::MAX, 1) == most_threads() && most_threads() >= 1);
    }
}
