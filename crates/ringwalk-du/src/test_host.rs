//! A program around a measurement, for unit tests: it writes sizes and paths.

use std::sync::Arc;

use ringwalk::{InodeSweep, Monitor, Summary, Walk};

use crate::host::Host;
use crate::totals::Totals;

#[derive(Debug)]
pub(crate) struct TestHost;

impl Host for TestHost {
    fn has_exclusions(&self) -> bool {
        false
    }

    fn excludes(&self, _path: &[u8]) -> bool {
        false
    }

    fn write_line(&self, totals: &Totals, path: [&[u8]; 2], out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{}\t", totals.size).as_bytes());
        out.extend_from_slice(&path.concat());
        out.push(b'\n');
    }

    fn report(&self, message: &str) {
        panic!("{message}");
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        Some(walk)
    }

    fn set_up_sweep(&self, sweep: InodeSweep) -> InodeSweep {
        sweep
    }

    fn watch(&self, _monitor: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        run();
    }
}
