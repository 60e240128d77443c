//! Errors of an import. Each one names the place in the file.

use std::fmt;
use std::io;

/// A place in a file that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A place in a text.
    Text {
        /// The line, from 1.
        line: u64,
        /// The byte within the line, from 1.
        column: u64,
        /// The byte within the file, from 0.
        offset: u64,
    },
    /// A byte of a binary file, from 0.
    Byte(u64),
    /// A byte of a block of ncdu's binary format, after its decompression.
    Item {
        /// The number of the block.
        block: u32,
        /// The byte within the decompressed block, from 0.
        offset: u32,
        /// The byte of the file at which the block begins, from 0.
        file_offset: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text {
                line,
                column,
                offset,
            } => write!(f, "line {line}, column {column} (byte {offset})"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
            Self::Item {
                block,
                offset,
                file_offset,
            } => write!(
                f,
                "byte {offset} of data block {block} (which begins at byte {file_offset})"
            ),
        }
    }
}

/// An import that failed. `W` is the error of the writer.
#[derive(Debug)]
pub enum ImportError<W> {
    /// The file could not be read at this place.
    Read {
        /// Where the read failed.
        place: Place,
        /// Why.
        error: io::Error,
    },
    /// The file has something at this place that the format forbids, or ends too early.
    Content {
        /// Where.
        place: Place,
        /// What is wrong there.
        message: String,
    },
    /// The entries could not be written.
    Write(W),
}

impl<W> ImportError<W> {
    /// Returns the error for something wrong at `place`.
    pub(crate) fn content(place: Place, message: impl Into<String>) -> Self {
        Self::Content {
            place,
            message: message.into(),
        }
    }

    /// Returns the error for an answer of the receiver to an entry at `place`.
    pub(crate) fn refused(place: Place, refused: Refused<W>) -> Self {
        match refused {
            Refused::Entry(message) => Self::Content { place, message },
            Refused::Write(error) => Self::Write(error),
        }
    }
}

impl<W: fmt::Display> fmt::Display for ImportError<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { place, error } => write!(f, "{place}: cannot read: {error}"),
            Self::Content { place, message } => write!(f, "{place}: {message}"),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl<W: fmt::Debug + fmt::Display> std::error::Error for ImportError<W> {}

/// The answer of a receiver that does not take an entry.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused<W> {
    /// The entry is wrong, for this reason.
    Entry(String),
    /// The entry could not be written.
    Write(W),
}
