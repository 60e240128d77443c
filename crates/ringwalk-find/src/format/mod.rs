//! What is written of a file: `-printf`, `-ls`, colours.
//!
//! | file | what is in it |
//! |---|---|
//! | `directive.rs` | what a format is made of |
//! | `compile.rs` | from the text of a format to that |
//! | `render.rs` | writing it of a file |
//! | `number.rs`, `time.rs`, `mode.rs`, `path.rs` | numbers as C writes them, times, modes, parts of paths |
//! | `ls.rs` | the lines of `-ls` |
//! | `color.rs`, `ls_colors.rs` | names in colours, and the variable that says in which |
//!
//! A format is compiled once. Writing it then allocates nothing for a file, but for the names of accounts and for times
//! by the calendar.

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
pub use ls::{LS_FIELDS, write_ls, write_ls_to_terminal};
pub(crate) use path::base;

use crate::facts::Facts;
use directive::Segment;
use ringwalk::Fields;

/// A format of `-printf`, made ready.
#[derive(Clone, Debug)]
pub struct Format {
    segments: Vec<Segment>,
    fields: Fields,
    asks_type: bool,
}

impl Format {
    /// Understands `format`; appends what is odd about it to `warnings`, without the program's name but with GNU's
    /// `warning: ` before it. A byte that is no UTF-8 stands there as U+FFFD.
    ///
    /// # Errors
    ///
    /// GNU's message, without the program's name. A width or precision of 2^31 - 1 or more, at which GNU find fails for
    /// each file, is refused here.
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

    /// The metadata that it needs; none if path, depth, type and what a link holds are enough.
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// Whether it says something that depends on the type of the file: `%y`, `%Y`, `%l`.
    pub fn asks_type(&self) -> bool {
        self.asks_type
    }

    /// Appends what it says of `file`. Nothing, if it needs metadata and there is none.
    pub fn write(&self, file: &impl Facts, out: &mut Vec<u8>) {
        render::write(self, file, false, out);
    }

    /// As [`write`](Self::write), for a terminal: names of files, accounts and file systems and
    /// security contexts are written as [`terminal_safe`](ringwalk_gnu::terminal_safe) has them.
    pub fn write_to_terminal(&self, file: &impl Facts, out: &mut Vec<u8>) {
        render::write(self, file, true, out);
    }
}
