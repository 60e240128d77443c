//! Which directories cannot lead to anything: `-path './src/*'` has nothing to find in `./doc`.
//!
//! For each part of the expression two sets of paths are reckoned, each by the prefixes that every path in it begins with:
//! where it can be true, and where it can have an effect. Both are never too small.

use super::{Kind, Node};
use crate::expression::{Action, Test};

/// Sets of more prefixes than this are not looked at closely.
const MOST: usize = 64;

/// A set of paths, at least as large as the one that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Everywhere,
    /// The paths that begin with one of these.
    Beginning(Vec<Vec<u8>>),
}

impl Reach {
    const NOWHERE: Self = Self::Beginning(Vec::new());

    /// Whether a path below the directory at `path` can be in the set.
    pub(super) fn includes_below(&self, path: &[u8]) -> bool {
        let Self::Beginning(prefixes) = self else {
            return true;
        };
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        let begins_with = |prefix: &[u8]| {
            // The one is known to the end of the other: compared as far as both go.
            let dir = path.iter().chain(slash);
            dir.zip(prefix).all(|(a, b)| a == b)
        };
        prefixes.iter().any(|prefix| begins_with(prefix))
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Beginning(mut some), Self::Beginning(more)) => {
                some.extend(more);
                Self::Beginning(some)
            }
            _ => Self::Everywhere,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Everywhere, set) | (set, Self::Everywhere) => set,
            // Larger than need be, but expressions are not to take longer than the walk.
            (some, Self::Beginning(others)) if others.len() > MOST => some,
            (Self::Beginning(some), others) if some.len() > MOST => others,
            (Self::Beginning(some), Self::Beginning(others)) => {
                let mut both = Vec::new();
                for one in &some {
                    for other in &others {
                        if one.starts_with(other) {
                            both.push(one.clone());
                        } else if other.starts_with(one) {
                            both.push(other.clone());
                        }
                    }
                }
                Self::Beginning(both)
            }
        }
    }

    fn beginning(prefix: &[u8]) -> Self {
        if prefix.is_empty() {
            Self::Everywhere
        } else {
            Self::Beginning(vec![prefix.to_vec()])
        }
    }
}

/// Where an expression can have an effect.
pub(super) fn of(node: &Node<'_>) -> Reach {
    effect(node)
}

/// Where it can do something. Not descending is no effect where nothing else is done below.
fn effect(node: &Node<'_>) -> Reach {
    match &node.kind {
        Kind::Test(_) => Reach::NOWHERE,
        Kind::Action(leaf) if matches!(leaf.is, Action::Prune) => Reach::NOWHERE,
        Kind::Action(_) | Kind::Gather(..) => Reach::Everywhere,
        Kind::Not(inner) => effect(inner),
        Kind::And(parts) => {
            let mut all = Reach::NOWHERE;
            let mut reached = Reach::Everywhere;
            for part in parts {
                all = all.or(effect(part).and(reached.clone()));
                reached = reached.and(truth(part));
            }
            all
        }
        Kind::Or(parts) | Kind::List(parts) => {
            parts.iter().map(effect).fold(Reach::NOWHERE, Reach::or)
        }
    }
}

/// Where it can be true.
fn truth(node: &Node<'_>) -> Reach {
    match &node.kind {
        Kind::Test(leaf) => match &leaf.is {
            Test::Path(pattern) => Reach::beginning(pattern.literal_prefix()),
            Test::Regex(regex) => Reach::beginning(regex.literal_prefix()),
            // `-false` too: who writes it wants everything to be read, and nothing to be done.
            _ => Reach::Everywhere,
        },
        Kind::Action(_) | Kind::Gather(..) | Kind::Not(_) => Reach::Everywhere,
        Kind::And(parts) => parts.iter().map(truth).fold(Reach::Everywhere, Reach::and),
        Kind::Or(parts) => parts.iter().map(truth).fold(Reach::NOWHERE, Reach::or),
        Kind::List(parts) => parts.last().map_or(Reach::NOWHERE, truth),
    }
}
