//! The plan: the expression in the cheapest order with the same effects, and what the walk must
//! therefore read.
//!
//! | file | contents |
//! |---|---|
//! | `estimate.rs` | the expected cost and value of each part |
//! | `order.rs` | the order of neighbouring tests: the cheapest and most selective first |
//! | `reach.rs` | the directories below which nothing can match |
//! | `sieve.rs` | the tests at the beginning of the expression that need no further call |
//! | `describe.rs` | the plan in words, for `-D tree` and `--explain` |
//!
//! Metadata costs a system call for each file, a hundred times as much as a test of the name. So
//! the plan decides whether metadata is asked for, and when. If tests without metadata rule out
//! most files, evaluation asks when it needs metadata ([`When::Needed`]). Otherwise the walk asks
//! for all files of a directory at once ([`When::Always`]): then idle workers take parts of large
//! directories, and a rotational disk is read in the order of inodes.

mod describe;
mod estimate;
mod order;
mod reach;
mod sieve;

use crate::expression::{Action, Command, Expression, Leaf, Sink, SinkIndex, Test};
use crate::format::Colors;
use estimate::Estimate;
use reach::Reach;
use ringwalk::{Fields, Follow};
pub(crate) use sieve::Listed;
use sieve::Sieve;

/// The time at which the metadata of a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Never.
    Never,
    /// When evaluation reaches a test or action that needs it.
    Needed,
    /// For every file, before anything is evaluated.
    Always,
}

/// If more than this part of all files needs metadata, the walk asks for it in advance.
const OFTEN: f64 = 0.5;

/// The plan of a search.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own"
)]
pub(crate) struct Plan<'c> {
    /// The expression that is evaluated for every file.
    pub(crate) expression: Step<'c>,
    /// Files for which this is true are treated as absent.
    pub(crate) exclude: Option<Step<'c>>,
    /// The metadata that some part of the search needs.
    pub(crate) fields: Fields,
    pub(crate) when: When,
    /// The reason why one worker does everything, one starting point after the other. None if all
    /// workers may.
    pub(crate) serial: Option<&'static str>,
    /// Starting points are searched one after the other: actions at one are visible at the next.
    pub(crate) one_by_one: bool,
    /// Results are put into order.
    pub(crate) ordered: bool,
    /// The expression has `-prune`.
    pub(crate) prunes: bool,
    /// Some action writes.
    pub(crate) writes: bool,
    /// Some action does more than write to standard output.
    pub(crate) acts: bool,
    /// Something depends on the types of files.
    pub(crate) asks_type: bool,
    reach: Reach,
    sieve: Sieve<'c>,
    /// The number of steps. Each step has a number below it.
    pub(crate) steps: usize,
    /// The actions that gather files for one command, by number.
    pub(crate) gathering: Vec<&'c crate::execute::CommandTemplate>,
}

/// A part of the expression, in the order of evaluation.
#[derive(Debug)]
pub(crate) struct Step<'c> {
    pub(crate) kind: StepKind<'c>,
    /// The number of the step, for counts.
    pub(crate) number: usize,
    estimate: Estimate,
}

#[derive(Debug)]
pub(crate) enum StepKind<'c> {
    Test(&'c Leaf<Test>),
    Action(&'c Leaf<Action>),
    /// A command for many files, with its number in [`Plan::gathering`].
    Gather(&'c Leaf<Action>, usize),
    Not(Box<Step<'c>>),
    And(Vec<Step<'c>>),
    Or(Vec<Step<'c>>),
    List(Vec<Step<'c>>),
}

impl<'c> Plan<'c> {
    /// Plans `command`. `colors` are the colours for a terminal, if the command prints to one.
    pub(crate) fn new(command: &'c Command, colors: Option<&Colors>) -> Self {
        // A colour is left out if a saved tree does not hold the data that it depends on.
        let saved = command.saved.as_ref();
        let known = saved.map_or(Fields::all(), |saved| saved.tree.fields());
        let mut builder = Planner {
            command,
            color_fields: colors.map_or(Fields::empty(), Colors::fields) & known,
            fields: Fields::empty(),
            steps: 0,
            prunes: false,
            writes: false,
            acts: false,
            asks_type: false,
            deletes: false,
            serial: None,
            gathering: Vec::new(),
        };
        let expression = builder.step(&command.expression);
        let exclude = command.exclude.as_ref().map(|e| builder.step(e));
        if command.options.unique {
            builder.fields |= Fields::INO;
            builder.serial = Some("-unique: which name is seen first must not depend on timing");
        }
        let when = when(command, builder.fields, &expression, exclude.as_ref());
        let reach = if command.options.optimization == 0 {
            Reach::Everywhere
        } else {
            reach::of(&expression)
        };
        Self {
            fields: builder.fields,
            when,
            ordered: command.options.sorted && builder.serial.is_none(),
            one_by_one: builder.deletes || builder.serial.is_some(),
            serial: builder.serial,
            prunes: builder.prunes,
            writes: builder.writes,
            acts: builder.acts,
            asks_type: builder.asks_type,
            reach,
            sieve: Sieve::of(&expression, when),
            steps: builder.steps,
            gathering: builder.gathering,
            expression,
            exclude,
        }
    }

    /// Returns true if every directory is searched, and nothing is done to files meanwhile.
    pub(crate) fn descends_everywhere(&self) -> bool {
        !self.prunes && !self.acts && self.exclude.is_none() && self.reaches_everywhere()
    }

    /// Returns true if something can match below every directory.
    pub(crate) fn reaches_everywhere(&self) -> bool {
        self.reach == Reach::Everywhere
    }

    /// Returns true if something can match below the directory at `path`.
    pub(crate) fn reaches_below(&self, path: &[u8]) -> bool {
        self.reach.includes_below(path)
    }
}

/// Returns when metadata is asked for, by how often it is needed.
fn when(command: &Command, fields: Fields, expression: &Step, exclude: Option<&Step>) -> When {
    if fields.is_empty() && command.follow != Follow::Always {
        return When::Never;
    }
    let before = exclude.map_or(0.0, |exclude| exclude.estimate.asks_metadata);
    let often = before.max(expression.estimate.asks_metadata) > OFTEN;
    // At the last level the walk itself does not check whether a link leads to a directory, but
    // tests may ask.
    let last_level = command.follow == Follow::Always && command.options.max_depth != usize::MAX;
    if often || command.options.unique || last_level {
        When::Always
    } else if fields.is_empty() {
        When::Never
    } else {
        When::Needed
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is something that is there or not"
)]
struct Planner<'c> {
    command: &'c Command,
    /// The metadata that colours on standard output need.
    color_fields: Fields,
    fields: Fields,
    steps: usize,
    prunes: bool,
    writes: bool,
    acts: bool,
    asks_type: bool,
    deletes: bool,
    serial: Option<&'static str>,
    gathering: Vec<&'c crate::execute::CommandTemplate>,
}

impl<'c> Planner<'c> {
    fn step(&mut self, expression: &'c Expression) -> Step<'c> {
        let number = self.steps;
        self.steps += 1;
        let (kind, estimate) = match expression {
            Expression::Test(leaf) => {
                let profile = leaf.is.profile();
                self.fields |= profile.fields;
                self.asks_type |= profile.asks_type;
                (StepKind::Test(leaf), Estimate::of_test(&profile))
            }
            Expression::Action(leaf) => self.action(leaf),
            Expression::Not(inner) => {
                let inner = self.step(inner);
                let estimate = inner.estimate.negated();
                (StepKind::Not(Box::new(inner)), estimate)
            }
            Expression::And(parts) => {
                let mut parts = self.steps(parts);
                if self.command.options.optimization > 0 {
                    order::arrange(&mut parts, order::Operator::And);
                }
                let estimate = Estimate::of_all(parts.iter().map(|part| part.estimate));
                (StepKind::And(parts), estimate)
            }
            Expression::Or(parts) => {
                let mut parts = self.steps(parts);
                if self.command.options.optimization > 0 {
                    order::arrange(&mut parts, order::Operator::Or);
                }
                let negated = parts.iter().map(|part| part.estimate.negated());
                let estimate = Estimate::of_all(negated).negated();
                (StepKind::Or(parts), estimate)
            }
            Expression::List(parts) => {
                let parts = self.steps(parts);
                let estimate = Estimate::of_list(parts.iter().map(|part| part.estimate));
                (StepKind::List(parts), estimate)
            }
        };
        Step {
            kind,
            number,
            estimate,
        }
    }

    fn steps(&mut self, parts: &'c [Expression]) -> Vec<Step<'c>> {
        parts.iter().map(|part| self.step(part)).collect()
    }

    fn action(&mut self, leaf: &'c Leaf<Action>) -> (StepKind<'c>, Estimate) {
        let profile = leaf.is.profile();
        let mut fields = profile.fields;
        let mut kind = StepKind::Action(leaf);
        self.asks_type |= profile.asks_type;
        match &leaf.is {
            Action::Print { sink, .. } => {
                if self.writes_to(*sink) {
                    fields |= self.color_fields;
                }
            }
            Action::Printf { sink, .. } | Action::Ls { sink } => {
                self.writes_to(*sink);
            }
            Action::Execute(template) if template.many => {
                kind = StepKind::Gather(leaf, self.gathering.len());
                self.gathering.push(template);
                self.acts = true;
            }
            Action::Execute(_) => {
                self.acts = true;
                self.serial = Some("commands for one file are run one after the other");
            }
            Action::Quit => self.serial = Some("-quit: nothing is done after it"),
            Action::Delete => {
                (self.acts, self.deletes) = (true, true);
                if self.command.follow == Follow::Always {
                    // Another worker could find it gone.
                    self.serial = Some("-delete with -L: a link may lead to a file a second time");
                }
            }
            Action::Prune => self.prunes = true,
            Action::Found => {}
        }
        self.fields |= fields;
        (kind, Estimate::of_action(&profile, fields))
    }

    /// Notes that an action writes to `sink`. Returns true if that is standard output.
    fn writes_to(&mut self, sink: SinkIndex) -> bool {
        self.writes = true;
        let stdout = self.command.sinks[sink.0] == Sink::Stdout;
        self.acts |= !stdout;
        stdout
    }
}

#[cfg(test)]
mod tests;
