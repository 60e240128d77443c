//! One worker of the search: it visits the entries that the walk gives it.

use super::act;
use super::covered::Covered;
use super::dir_state::{DirState, Later, WORKER_SHIFT};
use super::evaluate::Evaluator;
use super::file::{File, LeftIn};
use super::output::{Texts, Writer};
use super::path::PathBuffer;
use super::shared::{InOrder, Shared};
use crate::execute::Collector;
use crate::expression::{Debug, Sink, SinkIndex};
use ringwalk::ordered::{Line, Place};
use ringwalk::{Batch, Dir, Entry, Errno, Error, FileType, Flow, Follow, Left, Visitor};
use ringwalk_gnu::quote;
use std::ffi::CStr;
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;

/// One worker.
pub(crate) struct Searcher<'s> {
    pub(super) shared: &'s Shared<'s>,
    pub(super) evaluator: Evaluator<'s>,
    pub(super) path: PathBuffer,
    /// The number of directories that this worker has numbered.
    pub(super) numbered: u64,
    pub(super) stats: u64,
    /// Files that are no directories are settled: decided from what the walk has read.
    pub(super) settles: bool,
    /// Directories are settled too: the search goes below all of them after it has evaluated them.
    pub(super) settles_directories: bool,
    /// Entries of the current batch whose types must be asked for.
    pub(super) covered: Covered<'s>,
    /// The text to print to and the byte after each path, if files that pass are only printed,
    /// unchanged.
    pub(super) prints: Option<(usize, u8)>,
}

impl<'s> Searcher<'s> {
    pub(crate) fn new(shared: &'s Shared<'s>, worker: usize) -> Self {
        let plan = shared.plan;
        let options = &shared.command.options;
        let unadorned = |(sink, end): (SinkIndex, u8)| {
            let stdout = matches!(shared.command.sinks[sink.0], Sink::Stdout);
            let colored = stdout && shared.colors.is_some();
            let shown = end != 0 && (colored || shared.outputs.is_terminal(sink));
            (!shown).then(|| (shared.outputs.text_of(sink), end))
        };
        let counting = options.debug.contains(Debug::RATES);
        Self {
            shared,
            evaluator: Evaluator {
                shared,
                writer: Writer::new(shared.outputs, worker),
                batches: shared.collectors.iter().map(Collector::batch).collect(),
                waiting: None,
                directory: 0,
                pruned: false,
                quit: false,
                counts: vec![(0, 0); if counting { shared.plan.steps } else { 0 }],
            },
            path: PathBuffer::default(),
            numbered: 0,
            stats: 0,
            settles: plan.exclude.is_none() && !options.unique && !counting,
            settles_directories: !options.depth_first
                && shared.command.follow != Follow::Always
                && !plan.prunes
                && plan.reaches_everywhere(),
            covered: Covered::None,
            prints: plan.prints().and_then(unadorned),
        }
    }

    /// Visits one entry: leaves it out, or evaluates it now or later. Returns the state for a
    /// directory to descend into.
    fn visit(
        &mut self,
        batch: &Batch<'_, DirState>,
        entry: &Entry<'_, DirState>,
        c_name: &CStr,
    ) -> Option<DirState> {
        let shared = self.shared;
        // `error` has reported a file whose metadata could not be read. If a directory lists the
        // file, tests of its name can still be decided; tests that need more are false. A starting
        // point may not exist at all, and find(1) leaves out links that lead in circles too.
        if let Some(errno) = entry.stat_error()
            && (batch.dir().is_none() && !is_listable(entry) || errno == Errno::LOOP)
        {
            return None;
        }
        let options = &shared.command.options;
        if shared.command.follow == Follow::Always && entry.looped_to().is_some() {
            entry.prune();
            shared.report_loop(self.path.as_bytes());
            return None;
        }
        let path = self.path.as_bytes();
        let root_len = self.path.root_len();
        let mut file = File::found(shared, batch, *entry, c_name, path, root_len);
        if self.covered.includes(entry) {
            file.forget_listed_type();
        }
        if !self.evaluator.admits(&file) {
            entry.prune();
            return None;
        }
        if entry.will_descend() && !shared.plan.reaches_below(path) {
            entry.prune();
        }
        let mut later = None;
        if options.depth_first && entry.will_descend() {
            later = Some(Box::new(Later::new(shared, &file)));
        } else if self.evaluator.evaluate(&file) {
            entry.prune();
        }
        self.stats += file.stats.get();
        if !entry.will_descend() {
            return None;
        }
        let state = self.new_state();
        Some(DirState { later, ..state })
    }

    /// Returns the state of a directory whose line, if it has one, was just gathered.
    pub(super) fn new_state(&mut self) -> DirState {
        self.numbered += 1;
        DirState {
            number: (self.evaluator.writer.worker as u64) << WORKER_SHIFT | self.numbered,
            line: self.evaluator.writer.line_at(),
            ..DirState::default()
        }
    }

    /// Visits the entries of a batch, in any order.
    fn spread(&mut self, batch: &Batch<'_, DirState>) {
        self.path.enter(batch.dir());
        let min_depth = self.shared.command.options.min_depth;
        let settles = self.settles && batch.dir().is_some() && batch.depth() >= min_depth;
        if settles && self.settles_directories && self.list(batch) {
            return self.evaluator.writer.hand_over(self.shared.outputs);
        }
        for entry in batch.entries() {
            if self.evaluator.quit {
                break;
            }
            let kind = entry.file_type();
            let directory = kind == FileType::Directory;
            if settles
                && kind != FileType::Unknown
                && (!directory || self.settles_directories)
                && entry.stat_error().is_none()
                && !self.covered.includes(&entry)
            {
                self.settle(batch, &entry);
                if directory {
                    entry.descend_with(self.new_state());
                }
                continue;
            }
            let c_name = entry.c_name();
            self.path.set_name(c_name.to_bytes());
            if let Some(state) = self.visit(batch, &entry, c_name) {
                entry.descend_with(state);
            }
        }
        if self.shared.plan.writes {
            self.evaluator.writer.hand_over(self.shared.outputs);
        }
    }

    /// Visits the entries of a batch, and puts their results at their place in the order of the
    /// tree.
    fn arrange(&mut self, batch: &Batch<'_, DirState>, line: &dyn InOrder, place: &Place) {
        self.path.enter(batch.dir());
        let mut texts = Line::default();
        let mut directories = Vec::new();
        for entry in batch.entries() {
            let c_name = entry.c_name();
            self.path.set_name(c_name.to_bytes());
            if let Some(state) = self.visit(batch, &entry, c_name) {
                texts.push(self.take_texts());
                texts.subdirectory();
                directories.push((entry, state));
            }
        }
        texts.push(self.take_texts());
        let places = line.add_batch(place, batch.numbers(), texts);
        for ((entry, state), place) in directories.into_iter().zip(places) {
            entry.descend_with(DirState {
                place: Some(Box::new(place)),
                ..state
            });
        }
    }

    fn take_texts(&mut self) -> Texts {
        let texts = &mut self.evaluator.writer.texts;
        // Texts may be kept for some time, so they have no spare capacity.
        let taken = texts.iter().map(|text| text.as_slice().to_vec()).collect();
        texts.iter_mut().for_each(Vec::clear);
        taken
    }

    /// Evaluates a directory after everything below it.
    fn evaluate_left(&mut self, left: &Left<'_, DirState>, later: &Later) {
        let shared = self.shared;
        let parent;
        let directory = if left.is_saved() {
            LeftIn::Saved
        } else {
            parent = match left.parent_fd() {
                Ok(parent) => parent,
                Err(error) => return shared.report_error(&error),
            };
            LeftIn::Live((left.depth() > 0).then(|| parent.as_fd()))
        };
        self.evaluator.directory = left.parent().map_or(0, |parent| parent.state().number);
        self.path.enter(left.parent());
        self.path.set_name(left.name());
        let (path, root_len) = (self.path.as_bytes(), self.path.root_len());
        let file = File::left(shared, left, later, directory, path, root_len);
        self.evaluator.evaluate(&file);
        act::run_waiting(&mut self.evaluator);
    }

    fn flow(&self) -> Flow {
        if self.shared.is_over() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// Runs the commands that wait for more files, and adds the counts of this worker to the shared
    /// ones.
    pub(crate) fn finish(mut self) {
        act::run_waiting(&mut self.evaluator);
        let progress = self.shared.progress;
        progress.stats.fetch_add(self.stats, Ordering::Relaxed);
        progress.add_counts(&self.evaluator.counts);
    }
}

/// Returns true if the walk goes below an entry although its metadata is not known: a directory of
/// a saved tree.
fn is_listable(entry: &Entry<'_, DirState>) -> bool {
    entry.saved().is_some() && entry.will_descend()
}

impl Visitor for Searcher<'_> {
    type State = DirState;

    fn enter(&mut self, dir: &Dir<DirState>) -> Flow {
        if self.shared.command.options.debug.contains(Debug::SEARCH) {
            let path = dir.path();
            self.shared
                .host
                .report(&format!("reading {}", quote::value(&path)));
        }
        self.flow()
    }

    fn batch(&mut self, batch: &Batch<'_, DirState>) -> Flow {
        let shared = self.shared;
        let worker = self.evaluator.writer.worker;
        self.covered = Covered::of(shared, batch);
        self.evaluator.directory = batch.dir().map_or(0, |dir| dir.state().number);
        if let Some(line) = shared.line {
            let place = match batch.dir() {
                None => Some(line.roots()),
                Some(dir) => dir.state().place.as_deref(),
            };
            if let Some(place) = place {
                self.arrange(batch, line, place);
            }
        } else {
            if let Some(dir) = batch.dir()
                && shared.plan.writes
            {
                let state = dir.state();
                if let Some(line) = state.line.filter(|line| line.worker() != worker) {
                    shared.outputs.write_line_at(line);
                }
                if state.later.is_some() {
                    state.add_writers(1 << (worker % 64));
                }
            }
            self.spread(batch);
        }
        // A directory that is left later relies on the commands for its entries having run.
        if shared.command.options.depth_first {
            act::run_waiting(&mut self.evaluator);
        }
        self.flow()
    }

    fn leave(&mut self, left: &Left<'_, DirState>) {
        let shared = self.shared;
        let state = left.state();
        let worker = self.evaluator.writer.worker;
        let Some(later) = &state.later else {
            if let (Some(line), Some(place)) = (shared.line, &state.place) {
                line.close(place, None);
            }
            return;
        };
        if let (Some(line), Some(place)) = (shared.line, &state.place) {
            self.evaluate_left(left, later);
            return line.close(place, Some(self.take_texts()));
        }
        let writers = state.writers.load(Ordering::Relaxed);
        if shared.plan.writes {
            shared.outputs.write_those(writers, worker);
        }
        self.evaluate_left(left, later);
        if shared.plan.writes {
            self.evaluator.writer.hand_over(shared.outputs);
            if let Some(parent) = left.parent() {
                parent.state().add_writers(writers | 1 << (worker % 64));
            }
        }
    }

    fn error(&mut self, error: &Error) {
        self.shared.report_error(error);
    }
}
