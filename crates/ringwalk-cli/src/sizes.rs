//! How sizes are shown: `--si` and `--bytes` of `report`, `diff` and `dupes`.

use crate::output::{Format, OneOf};
use clap::Args;
use ringwalk_text::SizeFormat;

/// The options about sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct SizeArgs {
    /// Show sizes in powers of 1000 [default: powers of 1024]
    #[arg(long, conflicts_with = "bytes")]
    pub si: bool,

    /// Show sizes in bytes
    #[arg(long)]
    pub bytes: bool,
}

impl SizeArgs {
    /// Returns how sizes are shown.
    pub fn format(self) -> SizeFormat {
        match self {
            Self { bytes: true, .. } => SizeFormat::Bytes,
            Self { si: true, .. } => SizeFormat::Si,
            Self { .. } => SizeFormat::Human,
        }
    }

    /// Refuses an option that would have no effect: only text and pages are for people.
    ///
    /// # Errors
    ///
    /// The message for the user.
    pub fn refuse(self, format: impl OneOf) -> Result<(), String> {
        let given = match self {
            Self { si: true, .. } => "--si",
            Self { bytes: true, .. } => "--bytes",
            Self { .. } => return Ok(()),
        };
        match format.format() {
            Format::Table | Format::Html => Ok(()),
            other => Err(format!(
                "{given} has no effect with --format {}",
                other.name()
            )),
        }
    }
}
