//! The adapter for ordered lines: walks over the operands, whose results are charged in the order
//! of a depth-first walk.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the walks over all operands, or one inode sweep |
//! | `visitor.rs` | the work of each worker |
//! | `admission.rs` | the entries that count |
//! | `directory.rs` | the state that a walk keeps with a directory |
//! | `event.rs` | the results that need the order |
//! | `totals.rs` | the totals in that order |

mod admission;
mod directory;
mod event;
mod totals;
mod visitor;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ringwalk::ordered::Ordered;
use ringwalk::{Fields, Follow, Identity, InodeSweep, Order, Walk};
use ringwalk_sys::sync::lock;

use crate::exclusive::Devices;
use crate::host::Host;
use crate::linked_files::LinkedFiles;
use crate::measurement::{Measurement, Size};
use crate::one_sum::Adding;
use crate::operands::{DisjointOperands, Operand, look_at_all, single_files};
use crate::seen_inodes::SeenInodes;
use crate::totals::Totals;
use event::{Event, Leave};
use totals::OrderedTotals;
use visitor::{LineVisitor, Shared};

/// The outcome of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The totals of all operands together.
    pub total: Totals,
    /// A file could not be read, and the host has reported it.
    pub failed: bool,
}

/// Measures `operands` and writes their lines to `output`. The work ends early when a write fails;
/// `output` keeps that error.
pub fn measure<H: Host>(
    mut measurement: Measurement,
    operands: &[OsString],
    host: &H,
    output: &mut (dyn Write + Send),
) -> Measured {
    let saved = host.saved_tree();
    let looked_at = look_at_all(&measurement.rule, operands, saved.as_deref());
    measurement.rule.operand_files = single_files(&looked_at);
    let common = Common::new(&measurement, host);
    let mut totals = OrderedTotals::new(&common, output);
    if !common.sweep(operands, &mut totals) {
        common.walk_all(operands, &looked_at, &mut totals);
    }
    Measured {
        total: totals.total,
        failed: totals.failed || common.failed.load(Ordering::Relaxed),
    }
}

/// What the walks over all operands share.
pub(crate) struct Common<'a, H> {
    measurement: &'a Measurement,
    host: &'a H,
    /// The inodes seen in the order of events. If there is one sum for everything, and so no order,
    /// workers add to it themselves.
    seen: Mutex<SeenInodes>,
    /// The directories entered, where all links are followed. One worker adds them as it goes.
    entered: Mutex<SeenInodes>,
    /// The devices seen, where only exclusive space counts.
    devices: Devices,
    /// Set when nothing can be written any more.
    stop: AtomicBool,
    failed: AtomicBool,
}

impl<'a, H: Host> Common<'a, H> {
    fn new(measurement: &'a Measurement, host: &'a H) -> Self {
        Self {
            measurement,
            host,
            seen: Mutex::default(),
            entered: Mutex::default(),
            devices: Devices::default(),
            stop: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        }
    }

    /// Measures the only operand by an inode sweep of its whole file system, which needs no names.
    /// Returns false if the operand must be walked.
    fn sweep(&self, operands: &[OsString], totals: &mut OrderedTotals<'_, H>) -> bool {
        let ([operand], measurement) = (operands, self.measurement) else {
            return false;
        };
        // An inode sweep does not follow links. Patterns need names. Exclusive space needs open
        // files.
        if !measurement.is_one_sum()
            || self.host.has_exclusions()
            || measurement.size == Size::Exclusive
            || self.host.saved_tree().is_some()
        {
            return false;
        }
        let rule = &measurement.rule;
        let sweep = InodeSweep::new(operand.as_os_str())
            // A file with several names appears once.
            .fields(measurement.fields() | Fields::NLINK)
            .follow(rule.follow() == Follow::CommandLine)
            .stay(rule.stay());
        let sweep = self.host.set_up_sweep(sweep);
        let monitor = sweep.monitor();
        let (mut sweep, mut is_measured) = (Some(sweep), false);
        self.host.watch(monitor, &mut || {
            let adding = Adding::new(rule, measurement, &|_| {}, &|| false);
            let (sum, summary) = adding.sweep(sweep.take()?)?;
            totals.take(Event::Leave(Box::new(Leave {
                depth: 0,
                totals: sum,
                links: LinkedFiles::default(),
                path: operand.as_bytes().to_vec(),
                complaint: None,
            })));
            is_measured = true;
            Some(summary)
        });
        is_measured
    }

    /// Walks all operands: together as far as they are disjoint, the others one after the other.
    fn walk_all(
        &self,
        operands: &[OsString],
        looked_at: &[Option<Operand>],
        totals: &mut OrderedTotals<'_, H>,
    ) {
        let mut together = DisjointOperands::default();
        for (operand, known) in operands.iter().zip(looked_at) {
            if self.measurement.rule.directories_count_once() && !together.is_disjoint_from(operand)
            {
                self.walk(std::mem::take(&mut together), totals);
            }
            let identity = known.and_then(|known| known.identity);
            if identity.is_some_and(|identity| self.has_seen(identity)) {
                continue;
            }
            together.add(operand, known.is_some_and(|known| known.is_directory));
        }
        self.walk(together, totals);
    }

    fn has_seen(&self, identity: Identity) -> bool {
        lock(&self.seen).contains(identity) || lock(&self.entered).contains(identity)
    }

    fn walk(&self, together: DisjointOperands, totals: &mut OrderedTotals<'_, H>) {
        if together.operands.is_empty() || self.stop.load(Ordering::Relaxed) {
            return;
        }
        let rule = &self.measurement.rule;
        let walk = Walk::from_roots(together.operands)
            .fields(self.measurement.fields())
            .follow(rule.follow())
            // Exclusive space needs each file open.
            .descends_everywhere(
                !self.host.has_exclusions() && self.measurement.size != Size::Exclusive,
            );
        let walk = match self.host.saved_tree() {
            Some(tree) => walk
                .saved_tree(tree)
                .optional_fields(Measurement::optional_fields()),
            None => walk,
        };
        let Some(walk) = self.host.set_up(walk) else {
            self.failed.store(true, Ordering::Relaxed);
            return;
        };
        let walk = if rule.compares_at_entry() {
            // One worker enters directories in the order of the tree. Only then does the visitor
            // know in time that a link leads to a directory where the walk has been. There can be
            // so many links between directories that following each of them would take for ever.
            walk.workers(std::num::NonZeroUsize::new(1))
        } else {
            walk
        };
        // Lines come in the order of the walk, which decides the link that is charged.
        let walk = if self.measurement.is_one_sum() {
            walk
        } else {
            walk.order(Order::Listed)
        };
        walk.expect_whole("a sum");
        let monitor = walk.monitor();
        let mut walk = Some(walk);
        self.host.watch(monitor, &mut || {
            let walk = walk.take()?;
            let take: Box<dyn FnMut(Event) + Send + '_> = Box::new(|event| totals.take(event));
            let events = Ordered::new(take);
            let shared = Shared {
                common: self,
                events,
            };
            let summary = walk.run(|_| LineVisitor::new(&shared)).summary;
            drop(shared.events.finish());
            Some(summary)
        });
    }
}

#[cfg(test)]
mod tests;
