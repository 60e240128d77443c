//! The plan: the expression put in the cheapest order that cannot be seen from outside, and what follows from it for the
//! walk.
//!
//! | file | what is in it |
//! |---|---|
//! | `needs.rs` | which metadata each test and action asks for |
//! | `estimate.rs` | what each test costs, and how often it is true |
//! | `order.rs` | tests that stand together, the cheapest and most selective first |
//! | `reach.rs` | which directories cannot lead to anything |
//! | `listed.rs` | tests that are decided by what is at hand, without a call |
//! | `sieve.rs` | those of them that stand at the beginning of the expression |
//! | `describe.rs` | all that in words, for `-D tree` and `--explain` |
//!
//! Metadata costs a system call a file, a hundred times what a test of the name does, so the question that matters is
//! whether it is asked for. If tests that need none rule out most files, it is asked when evaluation comes to it
//! ([`When::Needed`]), else for all files of a directory at once ([`When::Always`]): then idle workers take parts of
//! large directories, and a rotational disk is read in the order of inodes.

mod describe;
mod estimate;
mod listed;
mod needs;
mod order;
mod reach;
mod sieve;

use crate::expression::{Action, Command, Expression, Leaf, Sink, Test};
use crate::format::Colors;
use estimate::Estimate;
pub(crate) use listed::{Listed, decide, is_decided_by_metadata};
use reach::Reach;
use ringwalk::{Fields, Follow};
use sieve::Sieve;

/// When the metadata of a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Not at all.
    Never,
    /// When evaluation comes to a test or action that needs it.
    Needed,
    /// For every file, before anything is evaluated.
    Always,
}

/// Metadata is asked for in advance if it is needed for more than this part of all files.
const OFTEN: f64 = 0.5;

/// What is to be done.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own"
)]
pub(crate) struct Plan<'c> {
    /// What is asked of every file.
    pub(crate) expression: Node<'c>,
    /// Files for which this is true are as if they were not there.
    pub(crate) exclude: Option<Node<'c>>,
    /// The metadata that anything asks for.
    pub(crate) fields: Fields,
    pub(crate) when: When,
    /// Everything is done by one worker, a starting point after the other; why.
    pub(crate) serial: Option<&'static str>,
    /// Starting points are searched one after the other: what is done at one can be seen at the next.
    pub(crate) one_by_one: bool,
    /// Results are put into order.
    pub(crate) ordered: bool,
    /// `-prune` may be met.
    pub(crate) prunes: bool,
    /// Something is written.
    pub(crate) writes: bool,
    /// Something is done besides writing to standard output.
    pub(crate) acts: bool,
    /// The types of files matter.
    pub(crate) asks_type: bool,
    reach: Reach,
    sieve: Sieve,
    /// How many nodes there are; each has a number below that.
    pub(crate) nodes: usize,
    /// The actions that gather files for one command, by number.
    pub(crate) gathering: Vec<&'c crate::execute::CommandTemplate>,
}

/// A part of the expression, in the order of evaluation.
#[derive(Debug)]
pub(crate) struct Node<'c> {
    pub(crate) kind: Kind<'c>,
    /// Its number, for counting.
    pub(crate) number: usize,
    estimate: Estimate,
}

#[derive(Debug)]
pub(crate) enum Kind<'c> {
    Test(&'c Leaf<Test>),
    Action(&'c Leaf<Action>),
    /// A command for many files; its number in [`Plan::gathering`].
    Gather(&'c Leaf<Action>, usize),
    Not(Box<Node<'c>>),
    And(Vec<Node<'c>>),
    Or(Vec<Node<'c>>),
    List(Vec<Node<'c>>),
}

impl<'c> Plan<'c> {
    /// Plans `command`; `colors` are those of the terminal that it prints to, if it does.
    pub(crate) fn new(command: &'c Command, colors: Option<&Colors>) -> Self {
        let mut builder = Builder {
            command,
            color_fields: colors.map_or(Fields::empty(), Colors::fields),
            fields: Fields::empty(),
            nodes: 0,
            prunes: false,
            writes: false,
            acts: false,
            asks_type: false,
            deletes: false,
            serial: None,
            gathering: Vec::new(),
        };
        let expression = builder.node(&command.expression);
        let exclude = command.exclude.as_ref().map(|e| builder.node(e));
        if command.options.unique {
            builder.fields |= Fields::INO;
            builder.serial = Some("-unique: which name is met first must not depend on timing");
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
            nodes: builder.nodes,
            gathering: builder.gathering,
            expression,
            exclude,
        }
    }

    /// Whether every directory may lead to something.
    pub(crate) fn reaches_everywhere(&self) -> bool {
        self.reach == Reach::Everywhere
    }

    /// Whether anything below the directory at `path` can matter.
    pub(crate) fn reaches_below(&self, path: &[u8]) -> bool {
        self.reach.includes_below(path)
    }
}

/// When metadata is asked for, by how often it is needed.
fn when(command: &Command, fields: Fields, expression: &Node, exclude: Option<&Node>) -> When {
    if fields.is_empty() && command.follow != Follow::Always {
        return When::Never;
    }
    let before = exclude.map_or(0.0, |exclude| exclude.estimate.asks_metadata);
    let often = before.max(expression.estimate.asks_metadata) > OFTEN;
    // At the last level the walk itself does not look whether a link leads to a directory; tests may want to know.
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
    reason = "each is something that is met or not"
)]
struct Builder<'c> {
    command: &'c Command,
    /// What colours on standard output need.
    color_fields: Fields,
    fields: Fields,
    nodes: usize,
    prunes: bool,
    writes: bool,
    acts: bool,
    asks_type: bool,
    deletes: bool,
    serial: Option<&'static str>,
    gathering: Vec<&'c crate::execute::CommandTemplate>,
}

impl<'c> Builder<'c> {
    fn node(&mut self, expression: &'c Expression) -> Node<'c> {
        let number = self.nodes;
        self.nodes += 1;
        let (kind, estimate) = match expression {
            Expression::Test(leaf) => {
                let fields = needs::of_test(&leaf.is);
                self.fields |= fields;
                self.asks_type |= needs::asks_type(&leaf.is);
                (
                    Kind::Test(leaf),
                    Estimate::of_test(&leaf.is, !fields.is_empty()),
                )
            }
            Expression::Action(leaf) => self.action(leaf),
            Expression::Not(inner) => {
                let inner = self.node(inner);
                let estimate = inner.estimate.negated();
                (Kind::Not(Box::new(inner)), estimate)
            }
            Expression::And(parts) => {
                let mut parts = self.nodes(parts);
                if self.command.options.optimization > 0 {
                    order::arrange(&mut parts, order::Operator::And);
                }
                let estimate = Estimate::of_all(parts.iter().map(|part| part.estimate));
                (Kind::And(parts), estimate)
            }
            Expression::Or(parts) => {
                let mut parts = self.nodes(parts);
                if self.command.options.optimization > 0 {
                    order::arrange(&mut parts, order::Operator::Or);
                }
                let negated = parts.iter().map(|part| part.estimate.negated());
                let estimate = Estimate::of_all(negated).negated();
                (Kind::Or(parts), estimate)
            }
            Expression::List(parts) => {
                let parts = self.nodes(parts);
                let estimate = Estimate::of_list(parts.iter().map(|part| part.estimate));
                (Kind::List(parts), estimate)
            }
        };
        Node {
            kind,
            number,
            estimate,
        }
    }

    fn nodes(&mut self, parts: &'c [Expression]) -> Vec<Node<'c>> {
        parts.iter().map(|part| self.node(part)).collect()
    }

    fn action(&mut self, leaf: &'c Leaf<Action>) -> (Kind<'c>, Estimate) {
        let mut fields = needs::of_action(&leaf.is);
        let mut kind = Kind::Action(leaf);
        self.asks_type |= matches!(&leaf.is, Action::Printf { format, .. } if format.asks_type());
        match &leaf.is {
            Action::Print { sink, .. } | Action::Printf { sink, .. } | Action::Ls { sink } => {
                self.writes = true;
                let stdout = matches!(self.command.sinks[sink.0], Sink::Stdout);
                self.acts |= !stdout;
                if stdout && matches!(leaf.is, Action::Print { .. }) {
                    fields |= self.color_fields;
                }
            }
            Action::Execute(template) if template.many => {
                kind = Kind::Gather(leaf, self.gathering.len());
                self.gathering.push(template);
                self.acts = true;
            }
            Action::Execute(_) => {
                self.acts = true;
                self.serial = Some("commands for one file are run one after the other");
            }
            Action::Quit => self.serial = Some("-quit: nothing is done after it"),
            Action::Delete => (self.acts, self.deletes) = (true, true),
            Action::Prune => self.prunes = true,
        }
        self.fields |= fields;
        (kind, Estimate::of_action(&leaf.is, !fields.is_empty()))
    }
}

#[cfg(test)]
mod tests;
