use super::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[test]
fn every_task_is_done_once() {
    for workers in [None, NonZeroUsize::new(1), NonZeroUsize::new(7)] {
        let crew = Crew::default();
        let sum = AtomicU64::new(0);
        let work = |task: u64, done: &mut u64| {
            *done += 1;
            sum.fetch_add(task, Ordering::Relaxed);
            // Each task of the producer makes another one.
            if task < 10_000 {
                crew.push_first(task + 10_000);
            }
        };
        crew.run(
            workers,
            || 0,
            work,
            || (0..10_000).for_each(|task| crew.push(task)),
        )
        .unwrap();
        assert_eq!(sum.into_inner(), (0..20_000).sum(), "{workers:?}");
        assert_eq!(crew.waiting(), 0);
    }
}

#[test]
fn without_tasks_it_ends() {
    let crew = Crew::<()>::default();
    crew.run(None, || (), |(), ()| {}, || {}).unwrap();
}

#[test]
fn tasks_that_wait_get_more_workers_and_no_more_than_allowed() {
    let most_at_once = |workers| {
        let crew = Crew::default();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |(), (): &mut ()| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            now.fetch_sub(1, Ordering::SeqCst);
        };
        crew.run(
            workers,
            || (),
            work,
            || (0..600).for_each(|_| crew.push(())),
        )
        .unwrap();
        most.into_inner()
    };
    assert_eq!(most_at_once(NonZeroUsize::new(3)), 3);
    let cpus = thread::available_parallelism().unwrap().get();
    let most = most_at_once(None);
    assert!(
        most > cpus && most <= MOST.max(cpus),
        "{most} with {cpus} CPUs"
    );
}

#[test]
fn the_newest_first_task_comes_first() {
    let crew = Crew::default();
    let order = Mutex::new(Vec::new());
    let work = |task: u32, (): &mut ()| {
        if task == 0 {
            crew.push_first(10);
            crew.push_first(11);
        }
        lock(&order).push(task);
    };
    let produce = || (0..3).for_each(|task| crew.push(task));
    crew.run(NonZeroUsize::new(1), || (), work, produce)
        .unwrap();
    let order = order.into_inner().unwrap();
    assert_eq!(
        order.iter().filter(|task| **task >= 10).collect::<Vec<_>>(),
        [&11, &10]
    );
    assert_eq!(order[..3], [0, 11, 10]);
}
