#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers of a simulation"
)]

use super::*;
use crate::walk::concurrency::MOST_WORKERS;

/// A server in simulated time: it works on so many requests at a time, each takes so long, and more
/// requests than that slow it down by this part each.
#[derive(Clone, Copy)]
struct Server {
    at_a_time: usize,
    milliseconds: f64,
    slowdown: f64,
}

impl Server {
    /// Returns requests a second, and seconds a request, with so many workers.
    fn serve(self, workers: usize) -> (f64, f64) {
        let served = workers.min(self.at_a_time) as f64;
        let queued = (workers as f64 - served).max(0.0);
        let rate = served / (self.milliseconds / 1000.0) / (1.0 + queued * self.slowdown);
        (rate, workers as f64 / rate)
    }
}

/// A climb in simulated time, in steps of one millisecond.
struct Walk {
    climb: Climb,
    workers: usize,
    elapsed: Duration,
    calls: f64,
    in_calls: f64,
}

impl Walk {
    fn new() -> Self {
        Self {
            climb: Climb::default(),
            workers: 2,
            elapsed: Duration::ZERO,
            calls: 0.0,
            in_calls: 0.0,
        }
    }

    /// Walks for so long. Returns the requests a second on average, and the largest number of
    /// workers.
    fn run(&mut self, server: Server, milliseconds: u32) -> (f64, usize) {
        let (mut done, mut most) = (0.0, 0);
        for _ in 0..milliseconds {
            let (rate, latency) = server.serve(self.workers);
            self.elapsed += Duration::from_millis(1);
            self.calls += rate / 1000.0;
            self.in_calls += latency * rate / 1000.0;
            done += rate / 1000.0;
            most = most.max(self.workers);
            let measured = Measured {
                calls: self.calls as u64,
                timed: self.calls as u64,
                in_calls: Duration::from_secs_f64(self.in_calls),
                elapsed: self.elapsed,
                workers: self.workers,
                least: 2,
                most: MOST_WORKERS,
            };
            if let Some(step) = self.climb.step(measured) {
                self.workers = step.workers;
                self.elapsed = Duration::ZERO;
                (self.calls, self.in_calls) = (0.0, 0.0);
            }
        }
        (done * 1000.0 / f64::from(milliseconds), most)
    }
}

const WIDE: Server = Server {
    at_a_time: 10_000,
    milliseconds: 5.0,
    slowdown: 0.0,
};

const NARROW: Server = Server {
    at_a_time: 20,
    milliseconds: 1.0,
    slowdown: 0.0,
};

#[test]
fn a_server_that_takes_everything_gets_the_most_within_a_fifth_of_a_second() {
    let mut walk = Walk::new();
    walk.run(WIDE, 200);
    assert_eq!(walk.workers, MOST_WORKERS);
}

#[test]
fn more_requests_than_the_server_works_on_are_taken_back() {
    let mut walk = Walk::new();
    let (_, most) = walk.run(NARROW, 300);
    assert!(most <= 128, "{most}");
    let (rate, most) = walk.run(NARROW, 5000);
    assert!((20..=64).contains(&walk.workers), "{}", walk.workers);
    assert!(rate > 0.95 * 20_000.0, "{rate}");
    assert!(most <= 64, "{most}");
}

#[test]
fn a_server_that_suffers_from_more_requests_is_spared() {
    let suffers = Server {
        slowdown: 0.01,
        ..NARROW
    };
    let mut walk = Walk::new();
    walk.run(suffers, 300);
    let (rate, _) = walk.run(suffers, 3000);
    while !matches!(walk.climb.trial, Trial::None) {
        walk.run(suffers, 1);
    }
    assert!((16..=32).contains(&walk.workers), "{}", walk.workers);
    assert!(rate > 0.8 * 20_000.0, "{rate}");
}

#[test]
fn a_server_that_becomes_narrow_gets_fewer_requests() {
    let mut walk = Walk::new();
    walk.run(WIDE, 1000);
    let narrow = Server {
        at_a_time: 20,
        ..WIDE
    };
    walk.run(narrow, 20_000);
    assert!(walk.workers <= 64, "{}", walk.workers);
    // It gets more again when it takes more.
    walk.run(WIDE, 20_000);
    assert_eq!(walk.workers, MOST_WORKERS);
}

#[test]
fn a_server_that_becomes_slower_for_all_keeps_its_requests() {
    let mut walk = Walk::new();
    walk.run(WIDE, 1000);
    let slower = Server {
        milliseconds: 20.0,
        ..WIDE
    };
    let (rate, _) = walk.run(slower, 10_000);
    let (most, _) = slower.serve(MOST_WORKERS);
    assert!(rate > 0.8 * most, "{rate}");
}

#[test]
fn trials_without_success_become_rare() {
    let mut walk = Walk::new();
    walk.run(NARROW, 10_000);
    assert_eq!(walk.climb.settled, Some(LONGEST_SETTLED));
    walk.climb.forget();
    assert_eq!(walk.climb.settled, None);
}
