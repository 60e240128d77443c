//! The size of the blocks in which du counts, and the format of a count.
//!
//! If the size is a unit alone (`M`, `kB`), that unit follows each count. `human-readable` and `si`
//! choose a unit for each count. Counts are always rounded up. A leading `'` asks for digit
//! grouping. It has no effect, since Ringwalk has the C locale only, which groups no digits.

use super::number::{Fault, ParsedNumber, parse_number};
use ringwalk_text::{push_decimal, push_human};

/// The units that a block size may begin with. GNU du then refuses the small letters `e`, `p`, `y`
/// and `z`.
const UNITS: &[u8] = b"eEgGkKmMpPtTyYzZ0";
/// The letters of the powers of a unit, from the first.
const LETTERS: &[u8; 8] = b"KMGTPEZY";

/// The unit in which a number of bytes (or of inodes) is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockSize {
    /// Blocks of one size.
    Fixed {
        /// Bytes in a block, at least 1.
        bytes: u64,
        /// The text behind each count, often empty.
        suffix: &'static str,
    },
    /// The largest power of this base that is not larger than the amount.
    Human {
        /// 1024 or 1000.
        base: u64,
    },
}

impl BlockSize {
    /// `--human-readable`.
    pub(crate) const HUMAN: Self = Self::Human { base: 1024 };
    /// `--si`.
    pub(crate) const SI: Self = Self::Human { base: 1000 };

    /// Returns blocks of this size, with no text behind counts.
    pub(crate) const fn bytes(bytes: u64) -> Self {
        Self::Fixed { bytes, suffix: "" }
    }

    /// Parses the argument of `--block-size`.
    ///
    /// # Errors
    /// The fault that GNU's message names.
    pub(crate) fn parse(spec: &[u8]) -> Result<Self, Fault> {
        match Self::named(spec) {
            Some(size) => Ok(size),
            None => Self::from_number(spec, true),
        }
    }

    /// Returns the size that the environment asks for: the first of `DU_BLOCK_SIZE`, `BLOCK_SIZE`
    /// and `BLOCKSIZE` that is set. A text that is no size is not an error. Then the number that
    /// the text begins with is used, or else the default: 1024, or 512 if `POSIXLY_CORRECT` is set.
    pub(crate) fn from_environment(get: impl Fn(&str) -> Option<Vec<u8>>) -> Self {
        let default = Self::bytes(if get("POSIXLY_CORRECT").is_some() {
            512
        } else {
            1024
        });
        let Some(spec) = ["DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"]
            .iter()
            .find_map(|name| get(name))
        else {
            return default;
        };
        Self::named(&spec)
            .or_else(|| Self::from_number(&spec, false).ok())
            .unwrap_or(default)
    }

    /// Returns the size that a name or its abbreviation stands for.
    fn named(spec: &[u8]) -> Option<Self> {
        let spec = ungrouped(spec);
        if spec.is_empty() {
            None
        } else if b"human-readable".starts_with(spec) {
            Some(Self::HUMAN)
        } else if b"si".starts_with(spec) {
            Some(Self::SI)
        } else {
            None
        }
    }

    fn from_number(spec: &[u8], strict: bool) -> Result<Self, Fault> {
        let spec = ungrouped(spec);
        let ParsedNumber {
            value,
            fault,
            digits,
        } = parse_number(spec, UNITS, 0, u64::MAX.into());
        let bytes = value.and_then(|value| u64::try_from(value).ok());
        let bytes = bytes.filter(|bytes| *bytes > 0).ok_or(Fault::Invalid)?;
        if let Some(fault) = fault.filter(|_| strict) {
            return Err(fault);
        }
        let suffix = if digits || fault.is_some() {
            ""
        } else {
            suffix(spec)
        };
        Ok(Self::Fixed { bytes, suffix })
    }

    /// Returns the size for counts of inodes: a block has one. If a unit was given alone, only its
    /// `B` follows each count.
    pub(crate) fn for_inodes(self) -> Self {
        match self {
            Self::Fixed { suffix, .. } => Self::Fixed {
                bytes: 1,
                suffix: if suffix.ends_with('B') { "B" } else { "" },
            },
            human @ Self::Human { .. } => human,
        }
    }

    /// Appends the count of `amount` in this unit. Totals stop growing at `u64::MAX`, which is
    /// written as `Infinity`.
    pub(crate) fn write(self, amount: u64, out: &mut Vec<u8>) {
        if amount == u64::MAX {
            out.extend_from_slice(b"Infinity");
            return;
        }
        match self {
            Self::Fixed { bytes: 1, suffix } => {
                push_decimal(amount, out);
                out.extend_from_slice(suffix.as_bytes());
            }
            Self::Fixed { bytes, suffix } => {
                push_decimal(amount.div_ceil(bytes), out);
                out.extend_from_slice(suffix.as_bytes());
            }
            Self::Human { base } => push_human(amount, base, out),
        }
    }
}

/// Returns the size without the wish for digit grouping.
fn ungrouped(spec: &[u8]) -> &[u8] {
    spec.strip_prefix(b"'").unwrap_or(spec)
}

/// Returns the text behind counts in a unit that was given alone: `K` for 1024, `kB` for 1000.
fn suffix(spec: &[u8]) -> &'static str {
    const BINARY: [&str; 8] = ["K", "M", "G", "T", "P", "E", "Z", "Y"];
    const BINARY_BYTES: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    const DECIMAL_BYTES: [&str; 8] = ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    let letter = spec.first().map_or(0, u8::to_ascii_uppercase);
    let Some(power) = LETTERS.iter().position(|known| *known == letter) else {
        return "";
    };
    match &spec[1..] {
        b"iB" => BINARY_BYTES[power],
        b"B" => DECIMAL_BYTES[power],
        _ => BINARY[power],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(size: BlockSize, amount: u64) -> String {
        let mut out = Vec::new();
        size.write(amount, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn with(spec: &str, amount: u64) -> String {
        written(BlockSize::parse(spec.as_bytes()).unwrap(), amount)
    }

    #[test]
    fn fixed_sizes_round_up() {
        assert_eq!(with("1", 0), "0");
        assert_eq!(with("1", u64::MAX - 1), "18446744073709551614");
        assert_eq!(with("1K", 1), "1");
        assert_eq!(with("1K", 1024), "1");
        assert_eq!(with("1K", 1025), "2");
        assert_eq!(with("010", 9), "2");
        assert_eq!(with("0x10", 17), "2");
        assert_eq!(with("'1024", 8192), "8");
        assert_eq!(with("1K", u64::MAX), "Infinity");
    }

    #[test]
    fn a_unit_alone_is_written_behind() {
        assert_eq!(with("k", 8192), "8K");
        assert_eq!(with("KB", 8192), "9kB");
        assert_eq!(with("kiB", 8192), "8KiB");
        assert_eq!(with("MB", 1), "1MB");
        assert_eq!(with("MiB", 1), "1MiB");
        assert_eq!(with("E", 1), "1E");
        assert_eq!(with("1M", 1), "1");
    }

    #[test]
    fn human_sizes() {
        let human = |amount| written(BlockSize::HUMAN, amount);
        assert_eq!(human(0), "0");
        assert_eq!(human(1023), "1023");
        assert_eq!(human(1024), "1.0K");
        assert_eq!(human(1025), "1.1K");
        assert_eq!(human(9999), "9.8K");
        assert_eq!(human(10239), "10K");
        assert_eq!(human(10241), "11K");
        assert_eq!(human(1_047_552), "1023K");
        assert_eq!(human(1_047_553), "1.0M");
        assert_eq!(human(10_137_600), "9.7M");
        assert_eq!(human(u64::MAX - 1), "16E");
        let si = |amount| written(BlockSize::SI, amount);
        assert_eq!(si(999), "999");
        assert_eq!(si(1000), "1.0k");
        assert_eq!(si(999_001), "1.0M");
        assert_eq!(si(9999), "10k");
        assert_eq!(si(102_400_000), "103M");
        assert_eq!(with("h", 8192), "8.0K");
        assert_eq!(with("si", 8192), "8.2k");
    }

    #[test]
    fn faults() {
        let fault = |spec: &str| BlockSize::parse(spec.as_bytes()).unwrap_err();
        for spec in ["x", "0", "0K", "", "-1", "'", "'x", "B", "08", "0x"] {
            assert_eq!(fault(spec), Fault::Invalid, "{spec}");
        }
        for spec in ["1x", "1i", "ki", "1Q", "1e", "kB1", "K0"] {
            assert_eq!(fault(spec), Fault::Suffix, "{spec}");
        }
        for spec in ["3Y", "Z", "99999999999999999999"] {
            assert_eq!(fault(spec), Fault::TooLarge, "{spec}");
        }
    }

    #[test]
    fn the_environment() {
        let size = |set: &[(&str, &str)]| {
            BlockSize::from_environment(|name| {
                set.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value.as_bytes().to_vec())
            })
        };
        assert_eq!(size(&[]), BlockSize::bytes(1024));
        assert_eq!(size(&[("POSIXLY_CORRECT", "")]), BlockSize::bytes(512));
        assert_eq!(size(&[("BLOCKSIZE", "7")]), BlockSize::bytes(7));
        let two = [("BLOCKSIZE", "7"), ("BLOCK_SIZE", "si")];
        assert_eq!(size(&two), BlockSize::SI);
        assert_eq!(size(&[("DU_BLOCK_SIZE", "x")]), BlockSize::bytes(1024));
        assert_eq!(size(&[("DU_BLOCK_SIZE", "3x")]), BlockSize::bytes(3));
        assert_eq!(size(&[("DU_BLOCK_SIZE", "")]), BlockSize::bytes(1024));
        assert_eq!(with("M", 1), "1M");
        assert_eq!(
            written(size(&[("DU_BLOCK_SIZE", "M")]), 1),
            "1M",
            "a unit alone keeps its letter"
        );
        assert_eq!(size(&[("DU_BLOCK_SIZE", "1Y")]), BlockSize::bytes(u64::MAX));
    }
}
