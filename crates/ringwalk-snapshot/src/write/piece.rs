//! Pieces of sorted listings: how they are packed, and how they are read again.
//!
//! A piece is a header, the packed list of subdirectories, and the packed entries. The header holds
//! the address of the piece before (8 bytes), the length of the piece (4), and the length of the
//! list of subdirectories (4). The highest bit of the last number is set if all names come after
//! the names of the piece before.

use super::pack::{Packer, bytes, number};
use super::stage::Address;
use crate::entry::Entry;
use std::borrow::Cow;
use std::io;

/// Bytes of the header.
pub(super) const HEADER: usize = 16;

/// Bytes after which a piece ends. An entry is never cut.
pub(super) const PIECE: usize = 64 << 10;

const FOLLOWS: u32 = 1 << 31;

/// Packs sorted entries of one directory.
#[derive(Debug, Default)]
pub(crate) struct PieceBuilder {
    children: Vec<u8>,
    entries: Vec<u8>,
    packer: Packer,
    /// Names of files with several links.
    pub(super) links: u64,
}

impl PieceBuilder {
    /// Adds an entry, whose name comes after those before. `child` is the number under which the
    /// contents of a directory are staged.
    pub(crate) fn push(&mut self, entry: &Entry<'_>, child: Option<u64>) {
        if let Some(child) = child {
            number(child, &mut self.children);
            bytes(entry.name, &mut self.children);
        }
        let a = &entry.attributes;
        self.links += u64::from(a.charged_once && a.ino.is_some() && entry.skipped.is_none());
        self.packer.push(entry, child, &mut self.entries);
    }

    pub(super) fn len(&self) -> usize {
        HEADER + self.children.len() + self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns true if the piece is to be ended.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= PIECE
    }

    /// Appends the piece, and begins the next one.
    ///
    /// # Errors
    ///
    /// If it has 2 GiB. Many extended attributes of one file take some megabytes.
    pub(super) fn end(
        &mut self,
        before: Address,
        follows: bool,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let too_large = || io::Error::other("a part of a listing has 2 GiB");
        let size = |size: usize| u32::try_from(size).ok().filter(|size| size & FOLLOWS == 0);
        let length = size(self.len()).ok_or_else(too_large)?;
        let children = size(self.children.len()).ok_or_else(too_large)?;
        out.extend_from_slice(&before.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        let flag = if follows { FOLLOWS } else { 0 };
        out.extend_from_slice(&(children | flag).to_le_bytes());
        out.extend_from_slice(&self.children);
        out.extend_from_slice(&self.entries);
        self.clear();
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.children.clear();
        self.entries.clear();
        self.packer = Packer::default();
        self.links = 0;
    }
}

/// The header of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// The address of the piece before, 0 for none.
    pub(super) before: Address,
    pub(super) length: usize,
    pub(super) children: usize,
    /// True if all names come after the names of the piece before.
    pub(super) follows: bool,
}

impl Header {
    pub(super) fn parse(data: &[u8]) -> Self {
        let word =
            |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        Self {
            before: u64::from(word(0)) | u64::from(word(4)) << 32,
            length: word(8) as usize,
            children: (word(12) & !FOLLOWS) as usize,
            follows: word(12) & FOLLOWS != 0,
        }
    }
}

/// A piece, to be read.
#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    /// The header and the piece; more may follow.
    data: Cow<'a, [u8]>,
    /// Where the entries begin.
    entries: usize,
    end: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn new(data: Cow<'a, [u8]>) -> Self {
        let header = Header::parse(&data);
        Self {
            data,
            entries: HEADER + header.children,
            end: header.length,
        }
    }

    /// Returns the packed subdirectories, each as number and name.
    pub(super) fn children(&self) -> &[u8] {
        &self.data[HEADER.min(self.end)..self.entries]
    }

    /// Returns the packed entries, sorted by name.
    pub(super) fn entries(&self) -> &[u8] {
        &self.data[self.entries..self.end]
    }

    /// Returns the bytes that the piece takes of its own.
    pub(super) fn owned(&self) -> usize {
        match &self.data {
            Cow::Borrowed(_) => 0,
            Cow::Owned(data) => data.len(),
        }
    }
}
