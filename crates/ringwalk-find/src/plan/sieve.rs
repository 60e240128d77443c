//! The tests at the beginning of the expression that need no call: the walk has already read the
//! data that they need. That is the directory entry, and the metadata if the walk reads it for
//! every file.
//!
//! Most expressions begin, or are reordered to begin, with such tests, and most files fail them. So
//! they are evaluated first, before anything is set up for a file. That saves half of the time of
//! evaluation.

use super::{Plan, Step, StepKind, When};
use crate::expression::{Action, EntryTest, MetadataTest, SinkIndex, Test};
use crate::predicates::{Listing, Part};
use ringwalk::{FileType, Metadata};

/// What the walk has read of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'e> {
    /// The last component of the path.
    pub(crate) name: &'e [u8],
    pub(crate) path: &'e [u8],
    pub(crate) kind: FileType,
    pub(crate) metadata: Option<&'e Metadata>,
}

impl Listing for Listed<'_> {
    fn name(&self) -> &[u8] {
        self.name
    }

    fn path(&self) -> &[u8] {
        self.path
    }

    fn file_type(&self) -> FileType {
        self.kind
    }
}

/// The tests that the expression begins with and that need no call. All must be true.
#[derive(Debug)]
pub(super) struct Sieve<'c> {
    tests: Vec<Decidable<'c>>,
    /// A test reads the name.
    asks_name: bool,
    /// A test reads the path.
    asks_path: bool,
    /// The rest of the expression is one `-print` or `-print0`.
    prints: Option<(SinkIndex, u8)>,
}

/// A part of the expression that needs no call.
#[derive(Debug)]
enum Decidable<'c> {
    Entry(&'c EntryTest),
    Metadata(&'c MetadataTest),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
}

impl<'c> Sieve<'c> {
    pub(super) fn of(expression: &Step<'c>, when: When) -> Self {
        let parts = match &expression.kind {
            StepKind::And(parts) => parts,
            StepKind::Test(_)
            | StepKind::Action(_)
            | StepKind::Gather(..)
            | StepKind::Not(_)
            | StepKind::Or(_)
            | StepKind::List(_) => std::slice::from_ref(expression),
        };
        let tests: Vec<_> = parts
            .iter()
            .map_while(|part| Decidable::of(part, when))
            .collect();
        Self {
            asks_name: tests.iter().any(|test| test.reads(Part::Name)),
            asks_path: tests.iter().any(|test| test.reads(Part::Path)),
            prints: printed(&parts[tests.len()..]),
            tests,
        }
    }
}

/// Returns the file that the only action of `rest` prints paths to, and the byte after each path.
/// None if there is something else to do.
fn printed(rest: &[Step<'_>]) -> Option<(SinkIndex, u8)> {
    let [
        Step {
            kind: StepKind::Action(leaf),
            ..
        },
    ] = rest
    else {
        return None;
    };
    let Action::Print { sink, end } = leaf.is else {
        return None;
    };
    Some((sink, end))
}

impl<'c> Decidable<'c> {
    /// Returns a part of the expression, if all of it can be decided without a call.
    fn of(step: &Step<'c>, when: When) -> Option<Self> {
        let all = |parts: &[Step<'c>]| -> Option<Vec<Self>> {
            parts.iter().map(|part| Self::of(part, when)).collect()
        };
        match &step.kind {
            StepKind::Test(leaf) => match &leaf.is {
                Test::Entry(test) => Some(Self::Entry(test)),
                Test::Metadata(test) => (when == When::Always).then_some(Self::Metadata(test)),
                Test::Call(_) => None,
            },
            StepKind::Action(_) | StepKind::Gather(..) => None,
            StepKind::Not(inner) => Self::of(inner, when).map(|inner| Self::Not(Box::new(inner))),
            StepKind::And(parts) => all(parts).map(Self::And),
            StepKind::Or(parts) => all(parts).map(Self::Or),
            // Tests change nothing, so only the last one counts.
            StepKind::List(parts) => all(parts).and_then(|mut parts| parts.pop()),
        }
    }

    /// Returns true if some test reads `part` of the entry.
    fn reads(&self, part: Part) -> bool {
        match self {
            Self::Entry(test) => test.reads() == part,
            Self::Metadata(_) => false,
            Self::Not(inner) => inner.reads(part),
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|inner| inner.reads(part)),
        }
    }

    fn holds(&self, entry: &Listed<'_>) -> bool {
        match self {
            Self::Entry(test) => test.holds(entry),
            Self::Metadata(test) => entry.metadata.is_some_and(|metadata| test.holds(metadata)),
            Self::Not(inner) => !inner.holds(entry),
            Self::And(parts) => parts.iter().all(|part| part.holds(entry)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(entry)),
        }
    }
}

impl Plan<'_> {
    /// Returns true if the tests at the beginning of the expression are true of an entry. If not,
    /// the expression is false, and there is nothing to do.
    #[inline]
    pub(crate) fn lets_through(&self, entry: &Listed<'_>) -> bool {
        self.sieve.tests.iter().all(|test| test.holds(entry))
    }

    /// Returns true if [`lets_through`](Self::lets_through) is true of every entry.
    pub(crate) fn lets_all_through(&self) -> bool {
        self.sieve.tests.is_empty()
    }

    /// Returns true if [`lets_through`](Self::lets_through) reads the name.
    #[inline]
    pub(crate) fn sieve_asks_name(&self) -> bool {
        self.sieve.asks_name
    }

    /// Returns true if [`lets_through`](Self::lets_through) reads the path.
    #[inline]
    pub(crate) fn sieve_asks_path(&self) -> bool {
        self.sieve.asks_path
    }

    /// Returns the file that paths are printed to and the byte after each path, if a file that is
    /// let through is only printed.
    pub(crate) fn prints(&self) -> Option<(SinkIndex, u8)> {
        self.sieve.prints
    }
}
