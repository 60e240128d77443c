//! The actions of an expression, and the files that they write to. `search/act.rs` does them.

use crate::execute::CommandTemplate;
use crate::format::{Format, LS_FIELDS};
use crate::predicates::Profile;
use ringwalk::Fields;
use std::ffi::OsString;

/// The metadata of a match that a host adds up.
const FOUND_FIELDS: Fields = Fields::TYPE
    .union(Fields::INO)
    .union(Fields::NLINK)
    .union(Fields::SIZE)
    .union(Fields::BLOCKS);

/// An index into [`Command::sinks`](crate::Command::sinks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SinkIndex(pub usize);

/// A file that actions write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Standard output, also under the name `/dev/stdout`.
    Stdout,
    /// Standard error, under the name `/dev/stderr`.
    Stderr,
    /// A file. It is truncated before the search begins.
    File(OsString),
}

/// An action: an operand with an effect that can be seen from outside.
#[derive(Debug)]
pub enum Action {
    /// `-print`, `-print0`, `-fprint`, `-fprint0`: the path and a newline or a zero byte.
    Print {
        /// The file to write to.
        sink: SinkIndex,
        /// The byte after the path.
        end: u8,
    },
    /// `-printf`, `-fprintf`.
    Printf {
        /// The file to write to.
        sink: SinkIndex,
        /// The format to write.
        format: Format,
    },
    /// `-ls`, `-fls`.
    Ls {
        /// The file to write to.
        sink: SinkIndex,
    },
    /// `-exec`, `-execdir`, `-ok`, `-okdir`.
    Execute(CommandTemplate),
    /// `-delete`.
    Delete,
    /// Passes the file to the host ([`Host::found`](crate::Host::found)). No word stands for it.
    Found,
    /// `-prune`: do not descend.
    Prune,
    /// `-quit`: end everything.
    Quit,
}

impl Action {
    /// Returns the metadata that the action needs, and how often it is true.
    pub(crate) fn profile(&self) -> Profile {
        let (success, fields, asks_type) = match self {
            Self::Printf { format, .. } => (1.0, format.fields(), format.asks_type()),
            Self::Ls { .. } => (1.0, LS_FIELDS, false),
            Self::Execute(template) if !template.many => (0.5, Fields::empty(), false),
            // The host adds up sizes, of each inode once.
            Self::Found => (1.0, FOUND_FIELDS, false),
            Self::Print { .. } | Self::Execute(_) | Self::Delete | Self::Prune => {
                (1.0, Fields::empty(), false)
            }
            Self::Quit => (0.0, Fields::empty(), false),
        };
        Profile {
            cost: 100.0,
            success,
            fields,
            asks_type,
        }
    }

    /// Returns the file that the action writes to, if it writes.
    pub fn sink(&self) -> Option<SinkIndex> {
        match self {
            Self::Print { sink, .. } | Self::Printf { sink, .. } | Self::Ls { sink } => Some(*sink),
            Self::Execute(_) | Self::Delete | Self::Found | Self::Prune | Self::Quit => None,
        }
    }

    /// Returns true if no `-print` is added to an expression with the action.
    pub(crate) fn replaces_print(&self) -> bool {
        match self {
            Self::Prune | Self::Quit => false,
            Self::Print { .. }
            | Self::Printf { .. }
            | Self::Ls { .. }
            | Self::Execute(_)
            | Self::Delete
            | Self::Found => true,
        }
    }

    /// Returns true if the action runs a command, which may write to the terminal or read from it.
    pub(crate) fn runs_command(&self) -> bool {
        match self {
            Self::Execute(_) => true,
            Self::Print { .. }
            | Self::Printf { .. }
            | Self::Ls { .. }
            | Self::Delete
            | Self::Found
            | Self::Prune
            | Self::Quit => false,
        }
    }
}
