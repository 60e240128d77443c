//! How sizes are shown: `--si` and `--bytes` of `report`, `diff` and `dupes`.

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

    /// Refuses an option that would have no effect. `places` have no sizes for people if they are
    /// true, and say where that is, such as `with --json`.
    ///
    /// # Errors
    ///
    /// The message for the user.
    pub fn refuse(self, places: &[(&str, bool)]) -> Result<(), String> {
        let given = match self {
            Self { si: true, .. } => "--si",
            Self { bytes: true, .. } => "--bytes",
            Self { .. } => return Ok(()),
        };
        match places.iter().find(|(_, without_sizes)| *without_sizes) {
            Some((place, _)) => Err(format!("{given} has no effect {place}")),
            None => Ok(()),
        }
    }
}
