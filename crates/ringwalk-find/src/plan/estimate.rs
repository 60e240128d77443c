//! The expected cost of parts of the expression, and how often they are true. The figures of single
//! tests are in `predicates/`.

use crate::predicates::Profile;
use ringwalk::Fields;

/// The cost of a call for metadata, in nanoseconds.
const STAT: f64 = 1200.0;

/// The expected cost of an evaluation, and its expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The cost in nanoseconds.
    pub(super) cost: f64,
    /// The part of all files for which it is true, from 0 to 1.
    pub(super) success: f64,
    /// The part of all files for which it asks for metadata, from 0 to 1.
    pub(super) asks_metadata: f64,
    /// The evaluation changes nothing, so nobody can see when it happens.
    pub(super) pure: bool,
}

impl Estimate {
    pub(super) fn of_test(profile: &Profile) -> Self {
        let asks_metadata = if profile.fields.is_empty() { 0.0 } else { 1.0 };
        Self {
            cost: profile.cost + asks_metadata * STAT,
            success: profile.success,
            asks_metadata,
            pure: true,
        }
    }

    /// Returns the estimate of an action. `fields` is the metadata that it needs, colours included.
    pub(super) fn of_action(profile: &Profile, fields: Fields) -> Self {
        Self {
            cost: profile.cost,
            success: profile.success,
            asks_metadata: if fields.is_empty() { 0.0 } else { 1.0 },
            pure: false,
        }
    }

    pub(super) fn negated(self) -> Self {
        Self {
            success: 1.0 - self.success,
            ..self
        }
    }

    /// Returns the estimate of parts that are evaluated until one is false.
    pub(super) fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        let mut all = Self {
            cost: 0.0,
            success: 1.0,
            asks_metadata: 0.0,
            pure: true,
        };
        for part in parts {
            all.cost += all.success * part.cost;
            // Metadata is asked for once, however many parts need it.
            all.asks_metadata = all.asks_metadata.max(all.success * part.asks_metadata);
            all.success *= part.success;
            all.pure &= part.pure;
        }
        all
    }

    /// Returns the estimate of parts that are all evaluated. The last one gives the value.
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
