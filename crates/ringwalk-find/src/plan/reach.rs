//! The directories below which nothing can match: `-path './src/*'` has no match in `./doc`.
//!
//! For each part of the expression two sets of paths are computed: where the part can be true, and
//! where it can have an effect. A set is given by the prefixes of its paths. It is never too small.

use super::{Step, StepKind};
use crate::expression::Action;

/// Sets of more prefixes than this are not combined exactly.
const MOST: usize = 64;

/// A set of paths that holds at least the paths that are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Everywhere,
    /// The paths that begin with one of these.
    Beginning(Vec<Vec<u8>>),
}

impl Reach {
    const NOWHERE: Self = Self::Beginning(Vec::new());

    /// Returns true if a path below the directory at `path` can be in the set.
    pub(super) fn includes_below(&self, path: &[u8]) -> bool {
        let Self::Beginning(prefixes) = self else {
            return true;
        };
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        let begins_with = |prefix: &[u8]| {
            // One may be longer than the other: both are compared up to the end of the shorter one.
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
            (Self::Everywhere, _) | (_, Self::Everywhere) => Self::Everywhere,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Everywhere, set) | (set, Self::Everywhere) => set,
            // The set is larger than necessary, but planning must not take longer than the walk.
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

/// Returns where an expression can have an effect.
pub(super) fn of(step: &Step<'_>) -> Reach {
    effect(step)
}

/// Returns where a step can have an effect. `-prune` has none where nothing else is done below.
fn effect(step: &Step<'_>) -> Reach {
    match &step.kind {
        StepKind::Test(_) => Reach::NOWHERE,
        StepKind::Action(leaf) => match leaf.is {
            Action::Prune => Reach::NOWHERE,
            Action::Print { .. }
            | Action::Printf { .. }
            | Action::Ls { .. }
            | Action::Execute(_)
            | Action::Delete
            | Action::Found
            | Action::Quit => Reach::Everywhere,
        },
        StepKind::Gather(..) => Reach::Everywhere,
        StepKind::Not(inner) => effect(inner),
        StepKind::And(parts) => {
            let mut all = Reach::NOWHERE;
            let mut reached = Reach::Everywhere;
            for part in parts {
                all = all.or(effect(part).and(reached.clone()));
                reached = reached.and(truth(part));
            }
            all
        }
        StepKind::Or(parts) | StepKind::List(parts) => {
            parts.iter().map(effect).fold(Reach::NOWHERE, Reach::or)
        }
    }
}

/// Returns where a step can be true.
fn truth(step: &Step<'_>) -> Reach {
    match &step.kind {
        StepKind::Test(leaf) => Reach::beginning(leaf.is.path_prefix()),
        StepKind::Action(_) | StepKind::Gather(..) | StepKind::Not(_) => Reach::Everywhere,
        StepKind::And(parts) => parts.iter().map(truth).fold(Reach::Everywhere, Reach::and),
        StepKind::Or(parts) => parts.iter().map(truth).fold(Reach::NOWHERE, Reach::or),
        StepKind::List(parts) => parts.last().map_or(Reach::NOWHERE, truth),
    }
}
