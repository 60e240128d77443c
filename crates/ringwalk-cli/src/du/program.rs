//! The program around a measurement: lines, messages, and the options of the engine.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use ringwalk::{InodeSweep, Monitor, SavedTree, Summary, Walk};
use ringwalk_du::{Host, Totals};
use ringwalk_gnu::terminal_safe;
use ringwalk_snapshot::SnapshotTree;

use super::config::Config;
use super::output::Output;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::from;
use crate::status::{Ended, answered};

/// Measures all operands and writes their lines. Returns the exit status.
pub(super) fn measure(config: &Config, engine: &EngineOptions) -> Result<ExitCode, Ended> {
    let host = DuHost { config, engine };
    let mut output = Output::new();
    let measurement = config.measurement.clone();
    let measured = ringwalk_du::measure(measurement, &config.operands, &host, &mut output);
    let mut last = Vec::new();
    if config.total {
        config.write_line(&measured.total, [b"total", b""], &mut last);
    }
    // The output keeps a failed write.
    let _ = output.write_all(&last).and_then(|()| output.flush());
    let unread = config
        .from
        .as_ref()
        .is_some_and(|tree| from::report_failure(&**tree));
    output.end()?;
    Ok(answered(!(measured.failed || config.failed || unread)))
}

impl Config {
    /// Returns the amount that a line shows.
    fn amount(&self, totals: &Totals) -> u64 {
        self.measurement.size.amount(totals)
    }

    /// Appends a line: the amount, the time if it is shown, and the path in two parts.
    fn write_line(&self, totals: &Totals, path: [&[u8]; 2], out: &mut Vec<u8>) {
        let lines = &self.lines;
        lines.block_size.write(self.amount(totals), out);
        out.push(b'\t');
        if let Some(style) = &lines.time_style {
            if let Some(message) = style.write(totals.time.unwrap_or_default(), out) {
                console::error(message);
            }
            out.push(b'\t');
        }
        if lines.terminal {
            terminal_safe(&path.concat(), out);
        } else {
            for part in path {
                out.extend_from_slice(part);
            }
        }
        out.push(lines.terminator);
    }
}

struct DuHost<'a> {
    config: &'a Config,
    engine: &'a EngineOptions,
}

impl Host for DuHost<'_> {
    fn has_exclusions(&self) -> bool {
        !self.config.exclude.is_empty()
    }

    fn excludes(&self, path: &[u8]) -> bool {
        self.config.exclude.matches(path)
    }

    fn write_line(&self, totals: &Totals, path: [&[u8]; 2], out: &mut Vec<u8>) {
        let config = self.config;
        if config.lines.threshold.admits(config.amount(totals)) {
            config.write_line(totals, path, out);
        }
    }

    fn report(&self, message: &str) {
        console::error(message);
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        self.engine.ready(walk).ok()
    }

    fn saved_tree(&self) -> Option<Arc<dyn SavedTree>> {
        let tree = self.config.from.as_ref()?;
        let tree: Arc<dyn SavedTree> = Arc::<SnapshotTree>::clone(tree);
        Some(tree)
    }

    fn set_up_sweep(&self, sweep: InodeSweep) -> InodeSweep {
        self.engine.apply_to_sweep(sweep)
    }

    fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        self.engine.watch(monitor, run);
    }
}
