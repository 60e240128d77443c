//! What can be decided by what the walk brings of an entry: name, path and type, and metadata if that is asked for of all.
//!
//! Most expressions begin, or are made to begin, with such tests, and most files fail them. They are asked first, before
//! anything is set up for a file: that is half of the time that evaluation takes.

use super::listed::{Listed, decide, is_decided_by_metadata, is_decided_by_name};
use super::{Kind, Node, Plan, When};
use crate::expression::{Action, SinkIndex, Test};

/// The beginning of the expression, as far as it can be decided so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sieve {
    /// How many of the parts that must all be true.
    parts: usize,
    /// Some of them ask for the name, or for the whole path.
    asks_name: bool,
    asks_path: bool,
    /// All that is left to do then is to print.
    prints: Option<(SinkIndex, u8)>,
}

impl Sieve {
    pub(super) fn of(expression: &Node<'_>, when: When) -> Self {
        let parts = parts_of(expression);
        let first = parts.iter().position(|part| !is_decidable(part, when));
        let (decidable, rest) = parts.split_at(first.unwrap_or(parts.len()));
        let print = match rest {
            [
                Node {
                    kind: Kind::Action(leaf),
                    ..
                },
            ] => match leaf.is {
                Action::Print { sink, end } => Some((sink, end)),
                _ => None,
            },
            _ => None,
        };
        Self {
            parts: decidable.len(),
            asks_name: decidable.iter().any(|part| asks(part, is_about_name)),
            asks_path: decidable.iter().any(|part| asks(part, is_about_path)),
            prints: print,
        }
    }
}

impl Plan<'_> {
    /// Whether the beginning of the expression is true of an entry; if not, the expression is false and nothing is done.
    #[inline]
    pub(crate) fn lets_through(&self, entry: &Listed<'_>) -> bool {
        let parts = &parts_of(&self.expression)[..self.sieve.parts];
        parts.iter().all(|part| match &part.kind {
            Kind::Test(leaf) => decide(&leaf.is, entry) == Some(true),
            _ => holds(part, entry),
        })
    }

    /// Whether [`lets_through`](Self::lets_through) has nothing to look at.
    pub(crate) fn lets_all_through(&self) -> bool {
        self.sieve.parts == 0
    }

    /// Whether [`lets_through`](Self::lets_through) looks at the name.
    #[inline]
    pub(crate) fn sieve_asks_name(&self) -> bool {
        self.sieve.asks_name
    }

    /// Whether [`lets_through`](Self::lets_through) looks at the path.
    #[inline]
    pub(crate) fn sieve_asks_path(&self) -> bool {
        self.sieve.asks_path
    }

    /// Where the path of what is let through is printed and what ends it, if that is all that is done.
    pub(crate) fn prints(&self) -> Option<(SinkIndex, u8)> {
        self.sieve.prints
    }
}

/// The parts that must all be true.
fn parts_of<'n, 'c>(node: &'n Node<'c>) -> &'n [Node<'c>] {
    match &node.kind {
        Kind::And(parts) => parts,
        _ => std::slice::from_ref(node),
    }
}

fn is_decidable(node: &Node<'_>, when: When) -> bool {
    match &node.kind {
        Kind::Test(leaf) => {
            is_decided_by_name(&leaf.is) || when == When::Always && is_decided_by_metadata(&leaf.is)
        }
        Kind::Action(_) | Kind::Gather(..) => false,
        Kind::Not(inner) => is_decidable(inner, when),
        Kind::And(parts) | Kind::Or(parts) | Kind::List(parts) => {
            parts.iter().all(|part| is_decidable(part, when))
        }
    }
}

/// Whether some test of `node` is about something.
fn asks(node: &Node<'_>, is_about: fn(&Test) -> bool) -> bool {
    match &node.kind {
        Kind::Test(leaf) => is_about(&leaf.is),
        Kind::Action(_) | Kind::Gather(..) => false,
        Kind::Not(inner) => asks(inner, is_about),
        Kind::And(parts) | Kind::Or(parts) | Kind::List(parts) => {
            parts.iter().any(|part| asks(part, is_about))
        }
    }
}

fn is_about_name(test: &Test) -> bool {
    matches!(test, Test::Name(_) | Test::Hidden)
}

fn is_about_path(test: &Test) -> bool {
    matches!(test, Test::Path(_) | Test::Regex(_))
}

fn holds(node: &Node<'_>, entry: &Listed<'_>) -> bool {
    match &node.kind {
        Kind::Test(leaf) => decide(&leaf.is, entry) == Some(true),
        Kind::Action(_) | Kind::Gather(..) => false,
        Kind::Not(inner) => !holds(inner, entry),
        Kind::And(parts) => parts.iter().all(|part| holds(part, entry)),
        Kind::Or(parts) => parts.iter().any(|part| holds(part, entry)),
        Kind::List(parts) => parts.last().is_some_and(|part| holds(part, entry)),
    }
}
