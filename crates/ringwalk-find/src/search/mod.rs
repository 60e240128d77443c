//! The search: walks over the starting points. All workers of a walk evaluate the expression.
//!
//! | file | contents |
//! |---|---|
//! | `host.rs` | the interface to the program around a search |
//! | `roots.rs` | the starting points |
//! | `shared.rs`, `dir_state.rs` | the state that all workers share, and the state of a directory |
//! | `visitor.rs`, `settle.rs` | one worker, and its short ways for most entries |
//! | `path.rs`, `file.rs` | the current path, and one file as tests and actions see it |
//! | `evaluate.rs`, `call.rs` | evaluation, and the tests that need further system calls |
//! | `covered.rs` | entries whose directory may list the type of a file under a mount |
//! | `act.rs`, `output.rs` | actions, and the output of all workers |

mod act;
mod call;
mod covered;
mod dir_state;
mod evaluate;
mod file;
mod host;
mod output;
mod path;
mod roots;
mod settle;
mod shared;
mod visitor;

pub use host::Host;

use crate::accounts::Accounts;
use crate::execute::Collector;
use crate::expression::{Command, Debug};
use crate::format::Colors;
use crate::mounts::FileSystems;
use crate::plan::{Plan, When};
use output::{Outputs, Texts};
use ringwalk::ordered::Ordered;
use ringwalk::{Fields, Order, Summary, Walk};
use ringwalk_gnu::is_dumb_terminal;
use ringwalk_sys::refuses_statx;
use ringwalk_sys::sync::lock;
use roots::Roots;
use shared::{Progress, Shared};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use visitor::Searcher;

/// Does what `command` says. Returns true if all of it succeeded: then the exit status of find(1)
/// is 0, else 1.
pub fn search(command: &Command, host: &dyn Host) -> bool {
    report(host, &command.warnings);
    match prepare(command, host) {
        Ok((outputs, roots)) => search_in(command, host, &outputs, roots),
        Err(message) => {
            host.report(&message);
            false
        }
    }
}

/// Opens the files to write to, and reads the list of starting points.
fn prepare<'h>(command: &Command, host: &'h dyn Host) -> Result<(Outputs<'h>, Roots), String> {
    let outputs = Outputs::open(&command.sinks, host)?;
    Ok((outputs, Roots::of(command)?))
}

fn search_in(command: &Command, host: &dyn Host, outputs: &Outputs<'_>, roots: Roots) -> bool {
    let progress = Progress::default();
    report(host, &roots.complaints);
    if !roots.complaints.is_empty() {
        progress.fail();
    }
    let colors = wants_colors(command, host).then(Colors::from_environment);
    let plan = Plan::new(command, colors.as_ref());
    report_plan(command, host, &plan);
    let saved = command.saved.as_deref();
    if saved.is_none() && plan.fields.contains(Fields::BTIME) && refuses_statx() {
        // They would be missing, as on a file system that keeps none.
        host.report(
            "times of birth cannot be read: statx(2) is refused here, as some containers do",
        );
        return false;
    }
    let collectors: Vec<_> = plan.gathering.iter().copied().map(Collector::new).collect();
    let shared = Shared {
        command,
        plan: &plan,
        host,
        outputs,
        line: None,
        colors: colors.as_ref(),
        accounts: &saved.map_or_else(Accounts::default, Accounts::saved),
        file_systems: &saved.map_or_else(FileSystems::default, FileSystems::saved),
        mount_points: &OnceLock::new(),
        collectors: &collectors,
        progress: &progress,
    };
    shared.run(roots.paths);
    outputs.write_all();
    act::finish(&shared);
    shared.report_counts();
    if let Some(why) = saved.and_then(|saved| saved.tree.failure()) {
        shared.fail(&format!("cannot read {why}"));
    }
    !progress.failed.load(Ordering::Relaxed) && !outputs.has_failed()
}

fn report(host: &dyn Host, lines: &[String]) {
    for line in lines {
        host.report(line);
    }
}

fn report_plan(command: &Command, host: &dyn Host, plan: &Plan<'_>) {
    let debug = command.options.debug;
    if host.explains() || debug.intersects(Debug::TREE | Debug::OPT) {
        report(host, &plan.describe(command));
    }
    if debug.contains(Debug::TIME) {
        report(host, &plan.describe_times());
    }
}

fn wants_colors(command: &Command, host: &dyn Host) -> bool {
    command.options.color.unwrap_or_else(|| {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        host.is_terminal() && !refused && !is_dumb_terminal()
    })
}

impl Shared<'_> {
    /// Walks over all starting points.
    fn run(&self, paths: Vec<OsString>) {
        if self.plan.ordered {
            let line = Ordered::new(|mut texts: Texts| self.outputs.write(&mut texts));
            let shared = Shared {
                line: Some(&line),
                ..*self
            };
            shared.walk_all(paths);
            let _ = line.finish();
        } else {
            self.walk_all(paths);
        }
    }

    fn walk_all(&self, paths: Vec<OsString>) {
        if !self.plan.one_by_one {
            return self.walk(paths);
        }
        for path in paths {
            if self.is_over() {
                return;
            }
            self.walk(vec![path]);
        }
    }

    /// Walks over some starting points.
    fn walk(&self, paths: Vec<OsString>) {
        let options = &self.command.options;
        let walk = Walk::from_roots(paths)
            .follow(self.command.follow)
            .stay(options.stay)
            .max_depth(options.max_depth)
            .parents_open(options.depth_first)
            .descends_everywhere(self.plan.descends_everywhere())
            .order(if options.sorted {
                Order::Name
            } else {
                Order::Any
            })
            .fields(match self.plan.when {
                When::Always => self.plan.fields | Fields::TYPE,
                When::Never | When::Needed => Fields::empty(),
            });
        let walk = match &self.command.saved {
            Some(saved) => walk.saved_tree(Arc::clone(&saved.tree)),
            None => walk,
        };
        let Some(mut walk) = self.host.set_up(walk) else {
            self.progress.fail();
            return;
        };
        if self.plan.serial.is_some() {
            walk = walk.workers(NonZeroUsize::new(1)).preorder(true);
        }
        let monitor = walk.monitor();
        let mut walk = Some(walk);
        self.host
            .watch(monitor, &mut || walk.take().map(|walk| self.run_walk(walk)));
    }

    fn run_walk(&self, walk: Walk) -> Summary {
        walk.expect_whole("a search");
        let outcome = walk.run(|worker| Searcher::new(self, worker));
        outcome.visitors.into_iter().for_each(Searcher::finish);
        if self.plan.when == When::Always {
            let asked = outcome.summary.entries;
            self.progress.stats.fetch_add(asked, Ordering::Relaxed);
        }
        outcome.summary
    }

    /// Reports the counts of `-D rates` and `-D stat`.
    fn report_counts(&self) {
        let debug = self.command.options.debug;
        if debug.contains(Debug::RATES) {
            let counts = std::mem::take(&mut *lock(&self.progress.counts));
            report(self.host, &self.plan.describe_rates(&counts));
        }
        if debug.contains(Debug::STAT) {
            let asked = self.progress.stats.load(Ordering::Relaxed);
            self.host
                .report(&format!("metadata was asked for {asked} times"));
        }
    }
}
