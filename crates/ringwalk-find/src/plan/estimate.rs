//! What each test costs, and how often it is true.
//!
//! Costs are rounded from measurements on a file system in cache (ext4, 2.4 GHz); only their ratios matter. How often a
//! test is true is a guess, as the files are not known: what people look for is rare.

use crate::expression::{Action, Test};
use ringwalk::FileType;

/// A call for metadata, in nanoseconds.
const STAT: f64 = 1200.0;
/// Another call that looks up a name.
const LOOKUP: f64 = 1500.0;
/// Opening a directory and reading it.
const LISTING: f64 = 6000.0;

/// What evaluation is expected to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// Nanoseconds.
    pub(super) cost: f64,
    /// How often it is true, from 0 to 1.
    pub(super) success: f64,
    /// How often it asks for metadata, from 0 to 1.
    pub(super) asks_metadata: f64,
    /// It changes nothing: when it is evaluated cannot be seen.
    pub(super) pure: bool,
}

impl Estimate {
    pub(super) fn of_test(test: &Test, needs_metadata: bool) -> Self {
        let (cost, success) = cost_and_success(test);
        // A directory is looked into, and only other files are asked for their size.
        let asks = if needs_metadata { 1.0 } else { 0.0 };
        Self {
            cost: cost + asks * STAT,
            success,
            asks_metadata: asks,
            pure: true,
        }
    }

    pub(super) fn of_action(action: &Action, needs_metadata: bool) -> Self {
        let success = match action {
            Action::Quit => 0.0,
            Action::Execute(template) if !template.many => 0.5,
            _ => 1.0,
        };
        Self {
            cost: 100.0,
            success,
            asks_metadata: if needs_metadata { 1.0 } else { 0.0 },
            pure: false,
        }
    }

    pub(super) fn negated(self) -> Self {
        Self {
            success: 1.0 - self.success,
            ..self
        }
    }

    /// Of parts that are evaluated until one is false.
    pub(super) fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        let mut all = Self {
            cost: 0.0,
            success: 1.0,
            asks_metadata: 0.0,
            pure: true,
        };
        for part in parts {
            all.cost += all.success * part.cost;
            // Asked once, however many parts need it.
            all.asks_metadata = all.asks_metadata.max(all.success * part.asks_metadata);
            all.success *= part.success;
            all.pure &= part.pure;
        }
        all
    }

    /// Of parts that are all evaluated, the last of which counts.
    pub(super) fn of_list(parts: impl Iterator<Item = Self>) -> Self {
        let mut all = Self {
            cost: 0.0,
            success: 1.0,
            asks_metadata: 0.0,
            pure: true,
        };
        for part in parts {
            all.cost += part.cost;
            all.asks_metadata = all.asks_metadata.max(part.asks_metadata);
            all.success = part.success;
            all.pure &= part.pure;
        }
        all
    }
}

/// Nanoseconds without a call for metadata, and how often it is true.
fn cost_and_success(test: &Test) -> (f64, f64) {
    match test {
        Test::True => (1.0, 1.0),
        Test::False => (1.0, 0.0),
        Test::Type(types) if types.contains(FileType::Regular) => (2.0, 0.9),
        Test::Type(types) if types.contains(FileType::Directory) => (2.0, 0.1),
        Test::Type(_) => (2.0, 0.02),
        Test::Hidden => (2.0, 0.05),
        Test::Name(_) => (10.0, 0.1),
        Test::Path(_) => (20.0, 0.2),
        Test::Regex(_) => (60.0, 0.1),
        // Only links are looked up, and those are few.
        Test::LinkName(_) => (100.0, 0.01),
        Test::XType(types) if types.contains(FileType::Regular) => (100.0, 0.9),
        Test::XType(_) => (100.0, 0.1),
        Test::Size { .. } | Test::Age(..) | Test::Newer(..) | Test::Permission(_) => (5.0, 0.2),
        Test::Uid(_) | Test::Gid(_) | Test::Links(_) => (5.0, 0.5),
        Test::Inode(_) | Test::SameFile(_) => (5.0, 0.001),
        Test::Used(_) => (5.0, 0.3),
        Test::NoUser | Test::NoGroup => (50.0, 0.01),
        Test::FileSystem(_) => (50.0, 0.9),
        Test::Access(_) => (LOOKUP, 0.8),
        Test::Context(_) => (2.0 * LOOKUP, 0.3),
        Test::Empty => (LISTING / 10.0, 0.05),
    }
}
