//! Evaluation of the expression for one file.

use super::act;
use super::file::File;
use super::output::Writer;
use super::shared::Shared;
use crate::execute::FileBatch;
use crate::expression::Test;
use crate::facts::Facts;
use crate::plan::{Step, StepKind};
use std::os::fd::OwnedFd;

/// The evaluation by one worker.
pub(crate) struct Evaluator<'s> {
    pub(crate) shared: &'s Shared<'s>,
    pub(crate) writer: Writer,
    /// Files of the current directory that wait for commands, by the number of the action.
    pub(crate) batches: Vec<FileBatch>,
    /// The directory of those files: its number, and its descriptor for the commands.
    pub(crate) waiting: Option<(u64, OwnedFd)>,
    /// The number of the current directory.
    pub(crate) directory: u64,
    /// `-prune` was evaluated for the current file.
    pub(crate) pruned: bool,
    /// `-quit` was evaluated, or a test cannot be decided: nothing is evaluated any more.
    pub(crate) quit: bool,
    /// How often each step was evaluated and was true. Empty if nothing asks for these counts.
    pub(crate) counts: Vec<(u64, u64)>,
}

impl Evaluator<'_> {
    /// Returns true if the search looks at a file, and below it.
    pub(crate) fn admits(&mut self, file: &File<'_>) -> bool {
        let shared = self.shared;
        if let Some(exclude) = &shared.plan.exclude
            && self.holds(exclude, file)
        {
            return false;
        }
        // A test of the exclusion could not be decided.
        if self.quit {
            return false;
        }
        if !shared.command.options.unique {
            return true;
        }
        file.metadata().is_ok_and(|metadata| {
            !file.has_own_inode(metadata)
                || metadata
                    .identity()
                    .is_none_or(|identity| shared.progress.is_new(identity))
        })
    }

    /// Ends the search, and the evaluation for the current file.
    pub(super) fn end(&mut self) {
        self.quit = true;
        self.shared.progress.stop();
    }

    /// Evaluates the whole expression, unless the file is above `-mindepth`. Returns true if the
    /// search must not descend.
    pub(crate) fn evaluate(&mut self, file: &File<'_>) -> bool {
        if file.depth() < self.shared.command.options.min_depth {
            return false;
        }
        self.pruned = false;
        self.holds(&self.shared.plan.expression, file);
        self.pruned
    }

    /// Returns true if `step` is true of `file`, and does its actions.
    pub(crate) fn holds(&mut self, step: &Step<'_>, file: &File<'_>) -> bool {
        let held = match &step.kind {
            StepKind::Test(leaf) => self.test(&leaf.is, file),
            StepKind::Action(leaf) => act::act(self, &leaf.is, file),
            StepKind::Gather(_, number) => act::gather(self, *number, file),
            StepKind::Not(inner) => !self.holds(inner, file),
            StepKind::And(parts) => parts
                .iter()
                .all(|part| self.holds(part, file) && !self.quit),
            StepKind::Or(parts) => parts.iter().any(|part| self.holds(part, file) || self.quit),
            StepKind::List(parts) => {
                let mut last = false;
                for part in parts {
                    last = self.holds(part, file);
                    if self.quit {
                        break;
                    }
                }
                last
            }
        };
        if let Some(count) = self.counts.get_mut(step.number) {
            count.0 += 1;
            count.1 += u64::from(held);
        }
        held
    }

    fn test(&mut self, test: &Test, file: &File<'_>) -> bool {
        match test {
            Test::Entry(test) => test.holds(file),
            // `metadata` has reported a failure.
            Test::Metadata(test) => file.metadata().is_ok_and(|metadata| test.holds(metadata)),
            Test::Call(test) => self.call(test, file),
        }
    }
}
