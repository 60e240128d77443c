//! `--format` and `--output`: the form of the answer, and the place that gets it.
//!
//! | file | contents |
//! |---|---|
//! | `format.rs` | the formats, and how a command names those that it can write |
//! | `file.rs` | files that appear whole or not at all |

mod file;
mod format;

pub use file::{OutputFile, say_not_kept};
pub(crate) use format::formats;
pub use format::{Format, OneOf, TextFormat};

use crate::console;
use crate::status::{Ended, failed, trouble};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The name that stands for standard output.
const STANDARD: &str = "-";

/// `--output`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct PlaceArgs {
    /// Write to FILE, which appears whole or not at all, instead of standard output. With - as
    /// FILE, write to standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<OsString>,
}

/// `--format` and `--output`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct OutputArgs<F: OneOf> {
    /// The format of the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: F,

    /// Where the answer goes.
    #[command(flatten)]
    pub place: PlaceArgs,
}

impl<F: OneOf> OutputArgs<F> {
    /// Opens the output, before the work: an output that cannot be written should not cost it.
    /// `inputs` are the files that the command reads.
    ///
    /// # Errors
    ///
    /// If the file cannot be written or is an input, or if the answer is no text and would go to a
    /// terminal.
    pub fn open(&self, inputs: &[&OsStr]) -> Result<Output<'_>, Ended> {
        self.place.open(self.format.format(), inputs)
    }
}

impl PlaceArgs {
    /// Opens the output for a format. [`OutputArgs::open`] has the rules.
    ///
    /// # Errors
    ///
    /// As [`OutputArgs::open`].
    pub fn open(&self, format: Format, inputs: &[&OsStr]) -> Result<Output<'_>, Ended> {
        let file = self.output.as_deref().filter(|name| *name != STANDARD);
        let Some(file) = file else {
            if format.is_for_programs_only() && console::stdout_is_terminal() {
                let name = format.name();
                return Err(trouble(format_args!(
                    "the format {name} is not for terminals; --output names a file"
                )));
            }
            return Ok(Output::Standard {
                is_safe: format == Format::Table,
            });
        };
        refuse_inputs("--output", file, inputs)?;
        OutputFile::create(file).map(Output::File).map_err(trouble)
    }
}

/// Refuses a file that is an input. `option` names the file.
///
/// # Errors
///
/// If the file is one of `inputs`.
pub fn refuse_inputs(
    option: &str,
    file: &OsStr,
    inputs: &[impl AsRef<OsStr>],
) -> Result<(), Ended> {
    if inputs
        .iter()
        .any(|input| is_same_file(input.as_ref(), file))
    {
        return Err(failed(
            file,
            format_args!("it is an input, and {option} would replace it"),
        ));
    }
    Ok(())
}

/// Returns true if two paths lead to one file. A path that does not exist cannot be an input.
fn is_same_file(a: &OsStr, b: &OsStr) -> bool {
    is_same(fs::metadata(a), fs::metadata(b))
}

/// Reads the name of a snapshot to write. A snapshot is written to its end before it appears, so
/// standard output cannot be one.
pub fn snapshot_name() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|name| {
        if name == STANDARD {
            Err("a snapshot must be a file; ./- is a file of this name")
        } else {
            Ok(name)
        }
    })
}

/// The place that gets the answer.
pub enum Output<'a> {
    /// Standard output.
    Standard {
        /// The writer makes text safe for terminals, and may set colours.
        is_safe: bool,
    },
    /// A file.
    File(OutputFile<'a>),
}

/// Why an answer was not written.
pub enum Unwritten {
    /// The output cannot be written.
    Output(io::Error),
    /// There is no answer.
    Ended(Ended),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Output<'_> {
    /// Returns true if the answer goes to a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Standard { .. }) && console::stdout_is_terminal()
    }

    /// Writes the answer by `write`. A file appears when it is whole.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, or `write` has no answer.
    pub fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Unwritten>,
    ) -> Result<(), Ended> {
        let written = match self {
            Self::File(file) => return file.write(write),
            Self::Standard { is_safe: true } => to(Standard, write),
            Self::Standard { .. } => to(console::Results::of_stdout(), write),
        };
        written.map_err(|failure| match failure {
            Unwritten::Output(error) => console::write_failed(&error),
            Unwritten::Ended(ended) => ended,
        })
    }

    /// Writes bytes that are the whole answer.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn write_all(self, answer: &[u8]) -> Result<(), Ended> {
        self.write(|out| Ok(out.write_all(answer)?))
    }
}

/// Writes to standard output through a buffer.
fn to(
    place: impl Write + Send,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Unwritten>,
) -> Result<(), Unwritten> {
    let mut out = BufWriter::with_capacity(64 << 10, place);
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    // After an error, dropping the writer would write the rest of its buffer.
    let _parts = out.into_parts();
    written
}

/// Standard output as it is.
struct Standard;

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        console::write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns true if an open file is the one at `path`.
pub fn is_open_file(file: &fs::File, path: &Path) -> bool {
    is_same(file.metadata(), fs::metadata(path))
}

fn is_same(a: io::Result<fs::Metadata>, b: io::Result<fs::Metadata>) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    matches!((a.map(identity), b.map(identity)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests;
