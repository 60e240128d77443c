//! The interface between a measurement and the program around it.

use std::sync::Arc;

use ringwalk::{InodeSweep, Monitor, SavedTree, Summary, Walk};

use crate::totals::Totals;

/// The program around a measurement. All workers call it.
pub trait Host: Sync {
    /// Returns true if [`excludes`](Self::excludes) may return true for some path.
    fn has_exclusions(&self) -> bool;

    /// Returns true if the file at `path` is left out.
    fn excludes(&self, path: &[u8]) -> bool;

    /// Appends the line of a file to `out`. Appends nothing if the totals have no line. The path
    /// is the two parts of `path` one after the other.
    fn write_line(&self, totals: &Totals, path: [&[u8]; 2], out: &mut Vec<u8>);

    /// Reports a failure in GNU du's words, without the program's name.
    fn report(&self, message: &str);

    /// Returns the walk with the options of the user. Returns `None` if these options do not fit,
    /// after a report. The walk must not get a budget: a sum that leaves something out panics.
    fn set_up(&self, walk: Walk) -> Option<Walk>;

    /// Returns the saved tree that is measured in place of the live file system.
    fn saved_tree(&self) -> Option<Arc<dyn SavedTree>> {
        None
    }

    /// Returns the sweep with the options of the user.
    fn set_up_sweep(&self, sweep: InodeSweep) -> InodeSweep;

    /// Calls `run` and shows the progress that `monitor` has meanwhile. `run` returns the summary
    /// of a walk or sweep, if that succeeded.
    fn watch(&self, monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>);
}
