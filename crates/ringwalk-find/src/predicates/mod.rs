//! The tests of an expression: what each one compares, what it needs and costs, and how it is
//! decided.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | [`Test`], and what the plan asks about any test |
//! | `entry.rs` | tests that the directory entry decides: name, path, type |
//! | `metadata.rs` | tests that metadata decides |
//! | `call.rs` | tests that need further system calls; `search/call.rs` makes the calls |
//! | `values.rs` | the values that tests compare with: numbers, times, types, permissions |
//!
//! Each of the three kinds has one enum. Every question about a test is a `match` over all variants
//! of its enum, so a variant without an answer does not compile.

mod call;
mod entry;
mod metadata;
mod values;

pub use call::{AccessMode, CallTest};
pub(crate) use entry::Listing;
pub use entry::{EntryTest, Part};
pub use metadata::MetadataTest;
pub use values::{Compare, Permission, PermissionMatch, Span, TypeSet};

use ringwalk::Fields;

/// A test: an operand that changes nothing.
#[derive(Debug)]
pub enum Test {
    /// Decided by the name, the path and the type.
    Entry(EntryTest),
    /// Decided by metadata.
    Metadata(MetadataTest),
    /// Decided by further system calls.
    Call(CallTest),
}

/// What a test or an action needs, and what its evaluation is expected to cost.
///
/// Costs are rounded from measurements on a file system in cache (ext4, 2.4 GHz); only their ratios
/// matter. How often a test is true is a guess: the files are unknown, and people look for rare
/// files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Profile {
    /// Nanoseconds, without the call for metadata.
    pub(crate) cost: f64,
    /// The part of all files for which it is true, from 0 to 1.
    pub(crate) success: f64,
    /// The metadata that it needs.
    pub(crate) fields: Fields,
    /// It depends on the type of the file.
    pub(crate) asks_type: bool,
}

impl Profile {
    /// Creates a profile that needs no metadata and no type.
    fn new(cost: f64, success: f64) -> Self {
        Self {
            cost,
            success,
            fields: Fields::empty(),
            asks_type: false,
        }
    }

    /// Returns the profile with metadata that it needs.
    fn with_fields(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }

    /// Returns the profile of a test that depends on the type.
    fn with_type(self) -> Self {
        Self {
            asks_type: true,
            ..self
        }
    }
}

impl From<EntryTest> for Test {
    fn from(test: EntryTest) -> Self {
        Self::Entry(test)
    }
}

impl From<MetadataTest> for Test {
    fn from(test: MetadataTest) -> Self {
        Self::Metadata(test)
    }
}

impl From<CallTest> for Test {
    fn from(test: CallTest) -> Self {
        Self::Call(test)
    }
}

impl Test {
    /// Returns what the test needs and costs.
    pub(crate) fn profile(&self) -> Profile {
        match self {
            Self::Entry(test) => test.profile(),
            Self::Metadata(test) => test.profile(),
            Self::Call(test) => test.profile(),
        }
    }

    /// Returns how the pattern or regular expression of the test is matched, for `-D tree`.
    pub(crate) fn method(&self) -> Option<&'static str> {
        match self {
            Self::Entry(test) => test.method(),
            Self::Metadata(_) => None,
            Self::Call(test) => test.method(),
        }
    }

    /// Returns the moments that the test compares times with, for `-D time`.
    pub(crate) fn moments(&self) -> Option<String> {
        match self {
            Self::Entry(_) | Self::Call(_) => None,
            Self::Metadata(test) => test.moments(),
        }
    }

    /// Returns a prefix of every path for which the test is true.
    pub(crate) fn path_prefix(&self) -> &[u8] {
        match self {
            Self::Entry(test) => test.path_prefix(),
            Self::Metadata(_) | Self::Call(_) => b"",
        }
    }
}

#[cfg(test)]
mod tests;
