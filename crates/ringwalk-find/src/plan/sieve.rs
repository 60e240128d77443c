//! What can be decided by what a directory says of its entries: name, path and type.
//!
//! Most expressions begin, or are made to begin, with such tests, and most files fail them. They are asked first, before
//! anything is set up for a file: that is half of the time that evaluation takes.

use super::{Kind, Node, Plan};
use crate::expression::{Action, SinkIndex, Test};
use ringwalk::FileType;

/// An entry as its directory has it, of a known type, and no starting point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'e> {
    pub(crate) name: &'e [u8],
    pub(crate) path: &'e [u8],
    pub(crate) kind: FileType,
}

/// The beginning of the expression, as far as it can be decided so.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sieve {
    /// How many of the parts that must all be true.
    parts: usize,
    /// Some of them ask for the path.
    asks_path: bool,
    /// All that is left to do then is to print.
    prints: Option<(SinkIndex, u8)>,
}

impl Sieve {
    pub(super) fn of(expression: &Node<'_>) -> Self {
        let parts = parts_of(expression);
        let first = parts.iter().position(|part| !is_decidable(part));
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
            asks_path: decidable.iter().any(asks_path),
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

    /// Whether [`lets_through`](Self::lets_through) looks at the path.
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

fn is_decidable(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Test(leaf) => matches!(
            leaf.is,
            Test::True
                | Test::False
                | Test::Name(_)
                | Test::Path(_)
                | Test::Regex(_)
                | Test::Type(_)
                | Test::Hidden
        ),
        Kind::Action(_) | Kind::Gather(..) => false,
        Kind::Not(inner) => is_decidable(inner),
        Kind::And(parts) | Kind::Or(parts) | Kind::List(parts) => parts.iter().all(is_decidable),
    }
}

fn asks_path(node: &Node<'_>) -> bool {
    match &node.kind {
        Kind::Test(leaf) => matches!(leaf.is, Test::Path(_) | Test::Regex(_)),
        Kind::Action(_) | Kind::Gather(..) => false,
        Kind::Not(inner) => asks_path(inner),
        Kind::And(parts) | Kind::Or(parts) | Kind::List(parts) => parts.iter().any(asks_path),
    }
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

/// Decides a test by what is listed; none if more must be known.
#[inline]
pub(crate) fn decide(test: &Test, entry: &Listed<'_>) -> Option<bool> {
    Some(match test {
        Test::True => true,
        Test::False => false,
        Test::Name(pattern) => pattern.matches(entry.name),
        Test::Path(pattern) => pattern.matches(entry.path),
        Test::Regex(regex) => regex.matches(entry.path),
        Test::Type(types) => types.contains(entry.kind),
        Test::Hidden => is_hidden(entry.name),
        _ => return None,
    })
}

/// Whether a name begins with a dot and is not `.` or `..`.
fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.') && name != b"." && name != b".."
}
