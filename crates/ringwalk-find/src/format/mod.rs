//! What is written of a file: `-printf`, `-ls`, colours.

use crate::facts::Facts;
use ringwalk::Fields;

/// A format of `-printf`, made ready.
#[derive(Clone, Debug)]
pub struct Format;

impl Format {
    /// Understands `format`; appends what is odd about it to `warnings`, without the program's name.
    ///
    /// # Errors
    ///
    /// GNU's message, without the program's name.
    pub fn parse(format: &[u8], warnings: &mut Vec<String>) -> Result<Self, String> {
        let _ = (format, warnings);
        Ok(Self)
    }

    /// The metadata that it needs; none if path, depth and type are enough.
    pub fn fields(&self) -> Fields {
        Fields::empty()
    }

    /// Appends what it says of `file`.
    pub fn write(&self, file: &impl Facts, out: &mut Vec<u8>) {
        let _ = (file, out);
    }
}

/// The metadata that [`write_ls`] needs.
pub const LS_FIELDS: Fields = Fields::all();

/// Appends the line of `-ls`.
pub fn write_ls(file: &impl Facts, out: &mut Vec<u8>) {
    let _ = (file, out);
}
