//! Colours, numbers and names.
//!
//! Names have the colours of `find`, from `LS_COLORS`. Growth is red, the opposite green.
//! `NO_COLOR` and `TERM=dumb` turn both off.

use crate::console;
use ringwalk::{Errno, FileType, Metadata};
use ringwalk_find::facts::{Facts, LinkTarget};
use ringwalk_find::format::Colors;
use ringwalk_gnu::terminal_safe;
use ringwalk_text::SizeFormat;
use std::borrow::Cow;

const RED: &[u8] = b"\x1b[31m";
const GREEN: &[u8] = b"\x1b[32m";
const BOLD: &[u8] = b"\x1b[1m";
const RESET: &[u8] = b"\x1b[0m";

/// What the output allows.
#[derive(Debug)]
pub(super) struct Paint {
    /// The output is a terminal.
    pub(super) is_terminal: bool,
    /// How sizes are shown on a terminal.
    pub(super) sizes: SizeFormat,
    colors: Option<Colors>,
}

impl Paint {
    /// Returns what the output allows. A terminal is the one on standard output.
    pub(super) fn of_output(is_terminal: bool, sizes: SizeFormat) -> Self {
        let has_colors = is_terminal && console::stdout_has_colors();
        Self {
            is_terminal,
            sizes,
            colors: has_colors.then(Colors::from_environment),
        }
    }

    #[cfg(test)]
    pub(super) fn plain(is_terminal: bool) -> Self {
        Self {
            is_terminal,
            sizes: SizeFormat::Human,
            colors: None,
        }
    }

    /// Returns a growth for lines that programs read: a number of bytes, unless `--si` asks for
    /// something else.
    pub(super) fn exact(&self, growth: i64) -> String {
        if self.sizes == SizeFormat::Si {
            self.sizes.growth(growth)
        } else {
            growth.to_string()
        }
    }

    /// Appends text that the program made.
    pub(super) fn strong(&self, text: &str, out: &mut Vec<u8>) {
        self.within(BOLD, text, out);
    }

    /// Appends a growth that `text` shows.
    pub(super) fn growth(&self, growth: i64, text: &str, out: &mut Vec<u8>) {
        match growth {
            0 => out.extend_from_slice(text.as_bytes()),
            1.. => self.within(RED, text, out),
            _ => self.within(GREEN, text, out),
        }
    }

    fn within(&self, color: &[u8], text: &str, out: &mut Vec<u8>) {
        if self.colors.is_some() {
            out.extend_from_slice(color);
        }
        out.extend_from_slice(text.as_bytes());
        if self.colors.is_some() {
            out.extend_from_slice(RESET);
        }
    }

    /// Appends a name that is not a path, such as the name of an owner.
    pub(super) fn name(&self, name: &[u8], out: &mut Vec<u8>) {
        if self.is_terminal {
            terminal_safe(name, out);
        } else {
            out.extend_from_slice(name);
        }
    }

    /// Appends a path.
    pub(super) fn path(&self, path: &Path<'_>, out: &mut Vec<u8>) {
        match &self.colors {
            Some(colors) => colors.write_path_to_terminal(path, out),
            None => self.name(path.bytes, out),
        }
    }
}

/// A path and what its colour depends on. Nothing is read from the file system.
#[derive(Debug)]
pub(super) struct Path<'a> {
    bytes: &'a [u8],
    file_type: FileType,
    metadata: Metadata,
}

impl<'a> Path<'a> {
    pub(super) fn new(path: &'a [u8], file_type: FileType, mode: u32, links: u32) -> Self {
        let mut metadata = Metadata::default();
        metadata.set_permissions(mode);
        metadata.set_nlink(links);
        Self {
            bytes: path,
            file_type,
            metadata,
        }
    }
}

impl Facts for Path<'_> {
    fn path(&self) -> &[u8] {
        self.bytes
    }

    fn root_len(&self) -> usize {
        0
    }

    fn depth(&self) -> usize {
        0
    }

    fn file_type(&self) -> FileType {
        self.file_type
    }

    fn metadata(&self) -> Result<&Metadata, Errno> {
        Ok(&self.metadata)
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        None
    }

    fn target(&self) -> LinkTarget {
        LinkTarget::Unknown
    }

    fn is_orphan(&self) -> bool {
        false
    }

    fn file_system(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(b"unknown")
    }

    fn context(&self) -> Option<Vec<u8>> {
        None
    }

    fn user_name(&self, _uid: u32) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn group_name(&self, _gid: u32) -> Option<Cow<'_, [u8]>> {
        None
    }
}
