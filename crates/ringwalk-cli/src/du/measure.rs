//! The work: walks over the operands, and the books of them all.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ringwalk::ordered::Ordered;
use ringwalk::{Follow, Order, Walk};
use ringwalk_sums::Met;

use super::account::{Account, Event};
use super::config::{Config, Links};
use super::exclusive::Devices;
use super::operands::{Group, Kind, look_at_all, single_files};
use super::scan;
use super::state::Shared;
use super::totals::lock;
use super::visitor::Measurer;
use crate::engine_options::EngineOptions;
use crate::explain::explain;
use crate::progress::Progress;

/// Measures all operands and writes what is wanted of them.
pub(crate) fn measure(config: Config, engine: &EngineOptions) -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    let config = Arc::new(config);
    let met = Arc::new(Mutex::default());
    let kinds = look_at_all(&config);
    let mut work = Work {
        config: &config,
        engine,
        account: Account::new(Arc::clone(&config), Arc::clone(&met), Arc::clone(&stop)),
        met,
        operand_files: single_files(&kinds),
        entered: Mutex::default(),
        devices: Devices::default(),
        stop,
        failed: AtomicBool::new(config.failed),
    };
    match scan::measure(&config, engine, &mut work.account) {
        Some(summary) if engine.explain => explain(&summary),
        Some(_) => {}
        None => work.all(&kinds),
    }
    work.account.close();
    match work.account.output.failure() {
        Some(status) => status,
        None if work.account.failed || work.failed.into_inner() => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    }
}

struct Work<'a> {
    config: &'a Config,
    engine: &'a EngineOptions,
    account: Account,
    met: Arc<Mutex<Met>>,
    operand_files: Met,
    entered: Mutex<Met>,
    devices: Devices,
    stop: Arc<AtomicBool>,
    failed: AtomicBool,
}

impl Work<'_> {
    fn all(&mut self, kinds: &[Option<Kind>]) {
        let config = self.config;
        let mut group = Group::default();
        for (operand, kind) in config.operands.iter().zip(kinds) {
            if config.meets_again() && !group.lies_apart(operand) {
                self.walk(std::mem::take(&mut group));
            }
            if kind.is_some_and(|kind| self.has_met(kind.identity)) {
                continue;
            }
            group.add(operand, kind.is_some_and(|kind| kind.directory));
        }
        self.walk(group);
    }

    fn has_met(&self, identity: ringwalk::Identity) -> bool {
        lock(&self.met).contains(identity) || lock(&self.entered).contains(identity)
    }

    fn walk(&mut self, group: Group) {
        if group.operands.is_empty() || self.stop.load(Ordering::Relaxed) {
            return;
        }
        let config = self.config;
        let walk = Walk::from_roots(group.operands)
            .fields(config.fields())
            .follow(match config.links {
                Links::Never => Follow::Never,
                Links::Operands => Follow::CommandLine,
                Links::Always => Follow::Always,
            });
        let Some(walk) = self.engine.ready(walk) else {
            self.failed.store(true, Ordering::Relaxed);
            return;
        };
        let walk = if config.enters_at_once() {
            // One worker enters directories in the order of the tree. Only then is it known in time that a link leads
            // to where the walk has been, and links between directories can be so many that following each is hopeless.
            walk.workers(std::num::NonZeroUsize::new(1))
        } else {
            walk
        };
        // Lines come in the order of the walk, and it decides which of several links is charged.
        let walk = if config.is_one_sum() {
            walk
        } else {
            walk.order(Order::Listed)
        };
        let progress = Progress::of_walk(self.engine.progress, walk.monitor());
        let account = &mut self.account;
        let take: Box<dyn FnMut(Event) + Send + '_> = Box::new(|event| account.take(event));
        let shared = Shared {
            config,
            events: Ordered::new(take),
            operand_files: &self.operand_files,
            entered: &self.entered,
            met: Arc::clone(&self.met),
            devices: &self.devices,
            stop: Arc::clone(&self.stop),
            failed: &self.failed,
        };
        let summary = walk.run(|_| Measurer::new(&shared)).summary;
        drop(shared.events.finish());
        drop(progress);
        if self.engine.explain {
            explain(&summary);
        }
    }
}
