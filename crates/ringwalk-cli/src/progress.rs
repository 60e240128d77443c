//! The line of progress: entries, rate, and the directory that the walk is reading; or the rows of
//! a snapshot that are done, and the rate.
//!
//! This module uses no library for progress bars. The size of a tree is unknown, so there can be no
//! bar, and each name must lose its control characters first. A thread draws the line, and is
//! started only if progress may be shown. The thread sleeps for half a second first, so shorter
//! work shows nothing.
//!
//! On a terminal there is one line, redrawn ten times a second and erased at the end. Elsewhere
//! (`always`) there are plain lines: one a second at first, later one in ten seconds.

use ringwalk_sys::sync::{IgnorePoison, lock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ringwalk::Monitor;
use ringwalk_dupes::MatchProgress;
use ringwalk_snapshot::RowCounter;
use unicode_width::UnicodeWidthChar;

use crate::common_args::ProgressWhen;
use crate::console;
use crate::quote::push_shown;

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(100);
/// The time between asking the walk for its directory and showing the line.
const NOTICE: Duration = Duration::from_millis(50);
const FIRST_LINE_INTERVAL: Duration = Duration::from_secs(1);
const LAST_LINE_INTERVAL: Duration = Duration::from_secs(10);
/// The number of columns if the terminal does not report it.
const USUAL_COLUMNS: usize = 80;

/// The state of the work at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sample {
    /// Entries or rows that are done.
    done: u64,
    /// The number of all rows. `None` for entries, whose number is not known.
    total: Option<u64>,
    /// The directory that a worker is reading, if known.
    path: Option<Vec<u8>>,
}

impl Sample {
    fn of_walk(monitor: &Monitor) -> Self {
        Self {
            done: monitor.entries(),
            total: None,
            path: Some(monitor.current_path()).filter(|path| !path.is_empty()),
        }
    }

    fn of_rows(rows: &RowCounter) -> Self {
        Self {
            done: rows.done(),
            total: rows.total(),
            path: None,
        }
    }
}

/// Shows progress until it is dropped.
#[must_use = "progress is shown until this is dropped"]
#[derive(Debug, Default)]
pub struct Progress {
    drawer: Option<(Arc<Stop>, JoinHandle<()>)>,
}

#[derive(Debug, Default)]
struct Stop {
    wanted: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Sleeps for `time`. Returns true if the end was demanded meanwhile.
    fn sleep(&self, time: Duration) -> bool {
        let wanted = lock(&self.wanted);
        let answer = self
            .changed
            .wait_timeout_while(wanted, time, |wanted| !*wanted);
        *answer.ignore_poison().0
    }

    fn demand(&self) {
        *lock(&self.wanted) = true;
        self.changed.notify_all();
    }
}

impl Progress {
    /// Starts to show the samples that `sample` returns, if `when` and standard error allow that.
    fn start(when: ProgressWhen, sample: impl FnMut() -> Sample + Send + 'static) -> Self {
        let terminal = match when {
            ProgressWhen::Never => return Self::default(),
            ProgressWhen::Auto | ProgressWhen::Always => {
                console::stderr_is_terminal() && !ringwalk_gnu::is_dumb_terminal()
            }
        };
        if when == ProgressWhen::Auto && !terminal {
            return Self::default();
        }
        let stop = Arc::new(Stop::default());
        let drawer = {
            let stop = Arc::clone(&stop);
            let draw = move || {
                if terminal {
                    redraw(&stop, sample);
                } else {
                    print_lines(&stop, sample);
                }
            };
            std::thread::Builder::new()
                .name("progress".to_owned())
                .spawn(draw)
        };
        // If no thread can be started there is no progress. The work does not depend on it.
        Self {
            drawer: drawer.ok().map(|drawer| (stop, drawer)),
        }
    }
}

impl Progress {
    /// Shows the progress of a walk by its live counters.
    pub fn of_walk(when: ProgressWhen, monitor: Arc<Monitor>) -> Self {
        // Asking before the walk begins gives an answer even if no directory is opened for a while.
        monitor.current_path();
        Self::start(when, move || Sample::of_walk(&monitor))
    }

    /// Shows the progress of a walk, and then the number of files that were compared.
    pub fn of_search(
        when: ProgressWhen,
        monitor: Arc<Monitor>,
        counts: Arc<MatchProgress>,
    ) -> Self {
        monitor.current_path();
        Self::start(when, move || match counts.files.load(Ordering::Relaxed) {
            0 => Sample::of_walk(&monitor),
            files => Sample {
                done: files,
                ..Sample::default()
            },
        })
    }

    /// Shows the number of files that are done.
    pub fn of_files(when: ProgressWhen, files: Arc<AtomicU64>) -> Self {
        Self::start(when, move || Sample {
            done: files.load(Ordering::Relaxed),
            ..Sample::default()
        })
    }

    /// Shows the progress of work on rows.
    pub fn of_rows(when: ProgressWhen, rows: RowCounter) -> Self {
        Self::start(when, move || Sample::of_rows(&rows))
    }

    /// Shows the progress of a walk, and then the progress of writing its rows.
    pub fn of_capture(when: ProgressWhen, monitor: Arc<Monitor>, rows: RowCounter) -> Self {
        monitor.current_path();
        Self::start(when, move || match rows.total() {
            None => Sample::of_walk(&monitor),
            Some(_) => Sample::of_rows(&rows),
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, drawer)) = self.drawer.take() {
            stop.demand();
            let _ = drawer.join();
        }
    }
}

fn redraw(stop: &Stop, mut sample: impl FnMut() -> Sample) {
    let mut rate = Rate::new(Instant::now());
    let mut pause = PATIENCE;
    while let Some(sample) = sample_after(stop, pause, &mut sample) {
        let speed = rate.update(sample.done, Instant::now());
        let columns = console::columns();
        // One column stays free: some terminals wrap the line when its last column is written.
        let columns = if columns == 0 { USUAL_COLUMNS } else { columns } - 1;
        console::draw(cut(&line(&sample, speed), columns));
        pause = REDRAW;
    }
    console::clear();
}

/// Returns a sample after `pause`, or `None` at the end. A worker answers with its directory when
/// it opens the next one, so this function asks a little earlier.
fn sample_after(
    stop: &Stop,
    pause: Duration,
    mut sample: impl FnMut() -> Sample,
) -> Option<Sample> {
    if stop.sleep(pause.saturating_sub(NOTICE)) {
        return None;
    }
    sample();
    (!stop.sleep(NOTICE)).then(sample)
}

fn print_lines(stop: &Stop, mut sample: impl FnMut() -> Sample) {
    let mut rate = Rate::new(Instant::now());
    let mut interval = FIRST_LINE_INTERVAL;
    let mut pause = PATIENCE;
    while let Some(sample) = sample_after(stop, pause, &mut sample) {
        let speed = rate.update(sample.done, Instant::now());
        console::note(format_args!(
            "{}: {}",
            console::program(),
            line(&sample, speed)
        ));
        pause = interval;
        interval = (interval * 2).min(LAST_LINE_INTERVAL);
    }
}

/// Entries or rows a second, smoothed so that the digits can be read.
#[derive(Debug)]
struct Rate {
    at: Instant,
    done: u64,
    smooth: Option<f64>,
}

impl Rate {
    fn new(at: Instant) -> Self {
        Self {
            at,
            done: 0,
            smooth: None,
        }
    }

    /// Updates the rate with the number that is done until `now`. Returns the number a second.
    fn update(&mut self, done: u64, now: Instant) -> f64 {
        let seconds = now.duration_since(self.at).as_secs_f64();
        if seconds > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate for the eye")]
            let speed = done.saturating_sub(self.done) as f64 / seconds;
            // The weight of the new speed grows with the time that it covers: about the last second
            // counts. exp() would be the only use of libm, which costs 60 us at each start.
            let weight = seconds / (seconds + 1.0);
            self.smooth = Some(
                self.smooth
                    .map_or(speed, |old| old + (speed - old) * weight),
            );
            (self.at, self.done) = (now, done);
        }
        self.smooth.unwrap_or(0.0)
    }
}

fn line(sample: &Sample, rate: f64) -> String {
    let mut line = match sample.total {
        Some(total) => format!("{} of {total} rows, {rate:.0}/s", sample.done),
        None => format!("{} entries, {rate:.0}/s", sample.done),
    };
    if let Some(path) = &sample.path {
        line.push_str(", ");
        push_shown(&mut line, path);
    }
    line
}

/// Returns the beginning of `line` that fits in `columns`.
fn cut(line: &str, columns: usize) -> &str {
    let mut used = 0;
    for (index, character) in line.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return &line[..index];
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_entries_rate_and_a_harmless_path() {
        let sample = Sample {
            done: 12,
            path: Some(b"a/\x1b[2J".to_vec()),
            ..Sample::default()
        };
        assert_eq!(line(&sample, 3.6), "12 entries, 4/s, a/?[2J");
        assert_eq!(line(&Sample::default(), 0.0), "0 entries, 0/s");
        let rows = Sample {
            done: 3,
            total: Some(12),
            path: None,
        };
        assert_eq!(line(&rows, 2.0), "3 of 12 rows, 2/s");
    }

    #[test]
    fn lines_are_cut_by_columns_not_by_bytes() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc");
        assert_eq!(cut("\u{e9}\u{e9}\u{e9}", 2), "\u{e9}\u{e9}");
        // Wide characters take two columns each, and half of one cannot be shown.
        assert_eq!(cut("\u{6f22}\u{5b57}", 3), "\u{6f22}");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn the_rate_follows_the_entries() {
        let begin = Instant::now();
        let mut rate = Rate::new(begin);
        assert!((rate.update(100, begin + Duration::from_secs(1)) - 100.0).abs() < 1e-6);
        let slower = rate.update(150, begin + Duration::from_secs(2));
        assert!(slower > 50.0 && slower < 100.0, "{slower}");
        assert!(
            (rate.update(150, begin + Duration::from_secs(2)) - slower).abs() < 1e-6,
            "no time, no change"
        );
    }

    #[test]
    fn the_end_does_not_wait_for_the_interval() {
        let begin = Instant::now();
        drop(Progress::start(ProgressWhen::Always, Sample::default));
        assert!(begin.elapsed() < Duration::from_millis(400));
    }
}
