use super::*;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// The time after which a wait fails its test. It is long, because the machine may be busy.
const LIMIT: Duration = Duration::from_secs(300);

/// The work of a job, and the channel that reports it.
struct Task {
    act: Box<dyn FnOnce() + Send>,
    done: Sender<&'static str>,
}

impl PoolJob for Task {
    fn run(self) {
        (self.act)();
        let _ = self.done.send("done");
    }

    fn refuse(self, _: &io::Error) {
        let _ = self.done.send("refused");
    }
}

fn pool(base: usize, most: usize) -> (Pool<Task>, Sender<&'static str>, Receiver<&'static str>) {
    let idle = Duration::from_millis(50);
    let (sender, receiver) = channel();
    (Pool::new(PoolBounds { base, most, idle }), sender, receiver)
}

fn task(done: &Sender<&'static str>, act: impl FnOnce() + Send + 'static) -> Task {
    let (act, done) = (Box::new(act), done.clone());
    Task { act, done }
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LIMIT, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn expect(done: &Receiver<&'static str>, count: usize) {
    for _ in 0..count {
        let word = done.recv_timeout(LIMIT);
        assert_eq!(word, Ok("done"));
    }
}

#[test]
fn jobs_are_done_by_few_threads_which_end() {
    let (pool, sender, done) = pool(2, 8);
    assert_eq!(pool.threads(), 0);
    for round in 0..3 {
        for _ in 0..500 {
            pool.submit(task(&sender, || {}));
        }
        expect(&done, 500);
        assert!(pool.threads() <= 8, "{round}");
        wait_until("threads end", || pool.threads() == 0);
    }
}

/// First as many jobs wait for each other as there may be threads; then one more job.
#[test]
fn stuck_jobs_get_more_threads_up_to_the_bound() {
    let (pool, sender, done) = pool(1, 5);
    let (release, held) = channel::<()>();
    let held = Arc::new(Mutex::new(held));
    for _ in 0..4 {
        let held = Arc::clone(&held);
        pool.submit(task(&sender, move || {
            let _ = held.lock().unwrap().recv();
        }));
    }
    pool.submit(task(&sender, || {}));
    expect(&done, 1);
    assert!(pool.waits());
    // The bound is reached: no more jobs are done until one of those has ended.
    let held_too = Arc::clone(&held);
    pool.submit(task(&sender, move || {
        let _ = held_too.lock().unwrap().recv();
    }));
    wait_until("five are at work", || pool.0.lock().queue.is_empty());
    pool.submit(task(&sender, || {}));
    assert!(done.recv_timeout(Duration::from_millis(100)).is_err());
    assert_eq!(pool.0.lock().awake, 5);
    for _ in 0..5 {
        release.send(()).unwrap();
    }
    expect(&done, 6);
    for _ in 0..20 * CALM {
        pool.submit(task(&sender, || {}));
    }
    expect(&done, 20 * CALM as usize);
    wait_until("threads end", || pool.threads() == 0);
}

#[test]
fn a_panic_ends_the_job_and_not_the_thread() {
    let (pool, sender, done) = pool(1, 1);
    let threads = Arc::new(Mutex::new(HashSet::new()));
    let note = |act: Box<dyn FnOnce() + Send>| {
        let threads = Arc::clone(&threads);
        task(&sender, move || {
            threads.lock().unwrap().insert(thread::current().id());
            act();
        })
    };
    // The first job lasts until all others are queued, so that no thread ends for want of work.
    let (release, held) = channel::<()>();
    pool.submit(note(Box::new(move || held.recv().unwrap())));
    for _ in 0..10 {
        pool.submit(note(Box::new(|| std::panic::resume_unwind(Box::new(())))));
    }
    pool.submit(note(Box::new(|| {})));
    release.send(()).unwrap();
    expect(&done, 2);
    // One thread does the jobs, and one stands watch and may take its place.
    assert!(threads.lock().unwrap().len() <= 2);
}

#[test]
fn submitters_on_many_threads_and_threads_that_end_lose_nothing() {
    let (mut pool, sender, done) = pool(2, 4);
    Arc::get_mut(&mut pool.0).unwrap().bounds.idle = Duration::from_micros(50);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..500 {
                    pool.submit(task(&sender, || {}));
                    if round % 5 == 0 {
                        thread::sleep(Duration::from_micros(round % 100));
                    }
                }
            });
        }
    });
    expect(&done, 2000);
    wait_until("threads end", || pool.threads() == 0);
    let state = pool.0.lock();
    assert_eq!((state.awake, state.idle, state.woken), (0, 0, 0));
}
