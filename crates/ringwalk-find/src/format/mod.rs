//! The output for a file: `-printf`, `-ls`, colours.
//!
//! | file | contents |
//! |---|---|
//! | `directive.rs` | the parts of a format |
//! | `compile.rs` | the parser of formats |
//! | `render.rs` | the output of a format for a file |
//! | `number.rs`, `time.rs`, `mode.rs`, `path.rs` | numbers as C writes them, times, modes, paths |
//! | `ls.rs` | the lines of `-ls` |
//! | `color.rs`, `ls_colors.rs` | names in colours, and the variable with the colours |
//!
//! A format is compiled once. Its output then allocates nothing for a file, except for the names of
//! accounts and for times by the calendar.

mod color;
mod compile;
mod directive;
#[cfg(test)]
mod fake;
mod ls;
mod ls_colors;
mod mode;
mod number;
mod path;
mod render;
mod time;

pub use color::Colors;
pub use directive::directives;
pub use ls::{LS_FIELDS, write_ls, write_ls_to_terminal};
pub(crate) use path::base;

use crate::facts::Facts;
use directive::{EntryDirective, Segment};
use ringwalk::Fields;

/// A compiled format of `-printf`.
#[derive(Clone, Debug)]
pub struct Format {
    segments: Vec<Segment>,
    fields: Fields,
    asks_type: bool,
}

impl Format {
    /// Compiles `format`. Appends warnings to `warnings`, without the program's name but with GNU's
    /// `warning: ` before them. Bytes that are not UTF-8 are shown as U+FFFD.
    ///
    /// # Errors
    ///
    /// GNU's message, without the program's name. GNU find fails for each file with a width or
    /// precision of 2^31 - 1 or more; such a format is refused here.
    pub fn parse(format: &[u8], warnings: &mut Vec<String>) -> Result<Self, String> {
        let segments = compile::compile(format, warnings)?;
        let needs = segments.iter().map(Segment::fields);
        let fields = needs.fold(Fields::empty(), Fields::union);
        let asks_type = segments.iter().any(Segment::asks_type);
        Ok(Self {
            segments,
            fields,
            asks_type,
        })
    }

    /// Returns the metadata that the format needs. None if path, depth, type and link target are
    /// enough.
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// Returns true if the output depends on the type of the file: `%y`, `%Y`, `%l`.
    pub fn asks_type(&self) -> bool {
        self.asks_type
    }

    /// Returns true if a part of the output needs the target of a link to be looked at: `%Y`.
    pub(crate) fn asks_target(&self) -> bool {
        let mut segments = self.segments.iter();
        segments.any(|segment| segment.is(EntryDirective::TargetType))
    }

    /// Returns true if a part of the output is the security context: `%Z`.
    pub(crate) fn asks_context(&self) -> bool {
        let mut segments = self.segments.iter();
        segments.any(|segment| segment.is(EntryDirective::Context))
    }

    /// Appends the output for `file`. Appends nothing if the format needs metadata that is missing.
    pub fn write(&self, file: &impl Facts, out: &mut Vec<u8>) {
        render::write(self, file, false, out);
    }

    /// As [`write`](Self::write), for a terminal. Names of files, accounts and file systems and
    /// security contexts are written in the form of [`terminal_safe`](ringwalk_gnu::terminal_safe).
    pub fn write_to_terminal(&self, file: &impl Facts, out: &mut Vec<u8>) {
        render::write(self, file, true, out);
    }
}
