//! The search: walks over the starting points, with the expression evaluated by all workers of a walk.
//!
//! | file | what is in it |
//! |---|---|
//! | `host.rs` | what a search needs of the program around it |
//! | `roots.rs` | where it begins |
//! | `shared.rs`, `state.rs` | what all workers share, and what is kept with a directory |
//! | `visitor.rs`, `settle.rs` | what each worker does with the entries that it is given, and the short ways for most of them |
//! | `path.rs`, `file.rs`, `evaluate.rs` | a path, one file, and the expression asked of it |
//! | `covered.rs` | entries whose directory tells the type of what lies under a mount |
//! | `act.rs`, `output.rs` | what is done with it, and lines on their way out |

mod act;
mod covered;
mod evaluate;
mod file;
mod host;
mod output;
mod path;
mod roots;
mod settle;
mod shared;
mod state;
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
use roots::Roots;
use shared::{Progress, Shared};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use visitor::Searcher;

/// Does what `command` says. True if all of it could be done: the exit status of find(1) is 0 then, else 1.
pub fn search(command: &Command, host: &dyn Host) -> bool {
    tell(host, &command.warnings);
    match prepare(command, host) {
        Ok((outputs, roots)) => search_in(command, host, &outputs, roots),
        Err(message) => {
            host.tell(&message);
            false
        }
    }
}

/// Opens what is written to, and finds out where to begin.
fn prepare<'h>(command: &Command, host: &'h dyn Host) -> Result<(Outputs<'h>, Roots), String> {
    let outputs = Outputs::open(&command.sinks, host)?;
    Ok((outputs, Roots::of(command)?))
}

fn search_in(command: &Command, host: &dyn Host, outputs: &Outputs<'_>, roots: Roots) -> bool {
    let progress = Progress::default();
    tell(host, &roots.complaints);
    if !roots.complaints.is_empty() {
        progress.fail();
    }
    let colors = wants_colors(command, host).then(Colors::from_environment);
    let plan = Plan::new(command, colors.as_ref());
    tell_plan(command, host, &plan);
    let collectors: Vec<_> = plan.gathering.iter().copied().map(Collector::new).collect();
    let shared = Shared {
        command,
        plan: &plan,
        host,
        outputs,
        line: None,
        colors: colors.as_ref(),
        accounts: &Accounts::default(),
        file_systems: &FileSystems::default(),
        mount_points: &OnceLock::new(),
        collectors: &collectors,
        progress: &progress,
    };
    shared.run(roots.paths);
    outputs.write_all();
    act::finish(&shared);
    shared.tell_counts();
    !progress.failed.load(Ordering::Relaxed) && !outputs.has_failed()
}

fn tell(host: &dyn Host, lines: &[String]) {
    for line in lines {
        host.tell(line);
    }
}

fn tell_plan(command: &Command, host: &dyn Host, plan: &Plan<'_>) {
    let debug = command.options.debug;
    if host.explains() || debug.intersects(Debug::TREE | Debug::OPT) {
        tell(host, &plan.describe(command));
    }
    if debug.contains(Debug::TIME) {
        tell(host, &plan.describe_times());
    }
}

fn wants_colors(command: &Command, host: &dyn Host) -> bool {
    command.options.color.unwrap_or_else(|| {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        host.is_terminal() && !refused
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
            .order(if options.sorted {
                Order::Name
            } else {
                Order::Any
            })
            .fields(match self.plan.when {
                When::Always => self.plan.fields | Fields::TYPE,
                When::Never | When::Needed => Fields::empty(),
            });
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
        let outcome = walk.run(|worker| Searcher::new(self, worker));
        outcome.visitors.into_iter().for_each(Searcher::finish);
        if self.plan.when == When::Always {
            let asked = outcome.summary.entries;
            self.progress.stats.fetch_add(asked, Ordering::Relaxed);
        }
        outcome.summary
    }

    /// Says what `-D rates` and `-D stat` ask for.
    fn tell_counts(&self) {
        let debug = self.command.options.debug;
        if debug.contains(Debug::RATES) {
            let counts = std::mem::take(&mut *shared::lock(&self.progress.counts));
            tell(self.host, &self.plan.describe_rates(&counts));
        }
        if debug.contains(Debug::STAT) {
            let asked = self.progress.stats.load(Ordering::Relaxed);
            self.host
                .tell(&format!("metadata was asked for {asked} times"));
        }
    }
}
