//! The line of progress: entries, rate and where the walk is.
//!
//! A few lines of our own rather than a library: there is no bar, since nobody knows how large a tree is, and every
//! name must be made harmless first. The thread that draws is only started when progress may be shown, and sleeps until
//! half a second has passed, so work that is quicker than that never shows anything.
//!
//! On a terminal there is one line, redrawn ten times a second and taken away at the end. Elsewhere (`always`) there are
//! plain lines, a second apart at first, later ten.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ringwalk::Monitor;
use unicode_width::UnicodeWidthChar;

use crate::console;
use crate::engine_options::ProgressWhen;
use crate::quote::push_shown;

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(100);
/// How long before a line is shown the walk is asked where it is.
const NOTICE: Duration = Duration::from_millis(50);
const FIRST_LINE_INTERVAL: Duration = Duration::from_secs(1);
const LAST_LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Columns when the terminal does not tell: what terminals have had since there are terminals.
const USUAL_COLUMNS: usize = 80;

/// What is shown, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Entries seen until now.
    pub entries: u64,
    /// The directory some worker is in, if known.
    pub path: Option<Vec<u8>>,
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
    /// Sleeps for `time`; true when the end was wanted meanwhile.
    fn sleep(&self, time: Duration) -> bool {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self
            .changed
            .wait_timeout_while(wanted, time, |wanted| !*wanted);
        *answer.unwrap_or_else(PoisonError::into_inner).0
    }

    fn demand(&self) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

impl Progress {
    /// Starts to show what `sample` tells, if `when` and standard error are such that it can be seen.
    pub fn start(when: ProgressWhen, sample: impl FnMut() -> Sample + Send + 'static) -> Self {
        let terminal = match when {
            ProgressWhen::Never => return Self::default(),
            _ => {
                console::stderr_is_terminal()
                    && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
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
        // Without a thread to spare there is no progress to see; the work does not depend on it.
        Self {
            drawer: drawer.ok().map(|drawer| (stop, drawer)),
        }
    }
}

impl Progress {
    /// Shows the progress of a walk by its live counters.
    pub fn of_walk(when: ProgressWhen, monitor: Arc<Monitor>) -> Self {
        // Asks before the walk begins, so that there is an answer even if no directory is opened for a while.
        monitor.current_path();
        Self::start(when, move || Sample {
            entries: monitor.entries(),
            path: Some(monitor.current_path()).filter(|path| !path.is_empty()),
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
        let speed = rate.update(sample.entries, Instant::now());
        let columns = console::columns();
        // One column stays free: some terminals wrap when the last one is written.
        let columns = if columns == 0 { USUAL_COLUMNS } else { columns } - 1;
        console::draw(cut(&line(&sample, speed), columns));
        pause = REDRAW;
    }
    console::clear();
}

/// A sample after `pause`, or none at the end. A worker says where it is when it next opens a directory after having
/// been asked, so the question is put a little earlier.
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
        let speed = rate.update(sample.entries, Instant::now());
        console::note(format_args!(
            "{}: {}",
            console::program(),
            line(&sample, speed)
        ));
        pause = interval;
        interval = (interval * 2).min(LAST_LINE_INTERVAL);
    }
}

/// Entries a second, smoothed so that the digits can be read.
#[derive(Debug)]
struct Rate {
    at: Instant,
    entries: u64,
    smooth: Option<f64>,
}

impl Rate {
    fn new(at: Instant) -> Self {
        Self {
            at,
            entries: 0,
            smooth: None,
        }
    }

    /// Takes the number of entries seen until `now` into account; the rate in entries a second.
    fn update(&mut self, entries: u64, now: Instant) -> f64 {
        let seconds = now.duration_since(self.at).as_secs_f64();
        if seconds > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate for the eye")]
            let speed = entries.saturating_sub(self.entries) as f64 / seconds;
            // The weight of what is new grows with the time it covers: about a second counts. (Not by exp(): the only use
            // of libm would have every start of the program load it, for 60 us.)
            let weight = seconds / (seconds + 1.0);
            self.smooth = Some(
                self.smooth
                    .map_or(speed, |old| old + (speed - old) * weight),
            );
            (self.at, self.entries) = (now, entries);
        }
        self.smooth.unwrap_or(0.0)
    }
}

fn line(sample: &Sample, rate: f64) -> String {
    let mut line = format!("{} entries, {rate:.0}/s", sample.entries);
    if let Some(path) = &sample.path {
        line.push_str(", ");
        push_shown(&mut line, path);
    }
    line
}

/// As much of the beginning of `line` as fits in `columns`.
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
            entries: 12,
            path: Some(b"a/\x1b[2J".to_vec()),
        };
        assert_eq!(line(&sample, 3.6), "12 entries, 4/s, a/?[2J");
        assert_eq!(line(&Sample::default(), 0.0), "0 entries, 0/s");
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
