//! The size of the blocks that du counts in, and how a count is written.
//!
//! A size given as a unit alone (`M`, `kB`) is written behind every count; `human-readable` and
//! `si` choose a unit for each count. Counts are always rounded up. A leading `'` asks for digit
//! grouping, of which the C locale, the only one Ringwalk has, knows none.

use super::number::{Fault, Scan, scan};

/// The units a block size may begin with; of the small letters GNU then refuses `e`, `p`, `y` and `z`.
const UNITS: &[u8] = b"eEgGkKmMpPtTyYzZ0";
/// The letters of the powers of a unit, from the first.
const LETTERS: &[u8; 8] = b"KMGTPEZY";

/// In what unit a number of bytes (or of inodes) is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockSize {
    /// Counts of blocks of so many bytes, followed by a text (often empty).
    Fixed {
        /// Bytes in a block, at least 1.
        bytes: u64,
        /// What is written behind the count.
        suffix: &'static str,
    },
    /// The largest unit, of powers of this base, of which there is at least one.
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

    /// Blocks of so many bytes, nothing behind the count.
    pub(crate) const fn bytes(bytes: u64) -> Self {
        Self::Fixed { bytes, suffix: "" }
    }

    /// The argument of `--block-size`.
    ///
    /// # Errors
    /// The fault that GNU's message names.
    pub(crate) fn parse(spec: &[u8]) -> Result<Self, Fault> {
        match Self::named(spec) {
            Some(size) => Ok(size),
            None => Self::from_scan(spec, true),
        }
    }

    /// The size that the environment asks for: the first of `DU_BLOCK_SIZE`, `BLOCK_SIZE` and
    /// `BLOCKSIZE` that is set. A text that is no size is not an error: its value is taken if it
    /// has one, else the default, which is 1024, or 512 if `POSIXLY_CORRECT` is set.
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
            .or_else(|| Self::from_scan(&spec, false).ok())
            .unwrap_or(default)
    }

    /// One of the names, or an abbreviation of one.
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

    fn from_scan(spec: &[u8], strict: bool) -> Result<Self, Fault> {
        let spec = ungrouped(spec);
        let Scan {
            value,
            fault,
            digits,
        } = scan(spec, UNITS, 0, u64::MAX.into());
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

    /// For counts of inodes: blocks have one, and of a unit given alone only its `B` is left.
    pub(crate) fn for_inodes(self) -> Self {
        match self {
            Self::Fixed { suffix, .. } => Self::Fixed {
                bytes: 1,
                suffix: if suffix.ends_with('B') { "B" } else { "" },
            },
            human @ Self::Human { .. } => human,
        }
    }

    /// Appends the count of `amount` in this unit; `u64::MAX`, at which totals stop growing, is
    /// written `Infinity`.
    pub(crate) fn write(self, amount: u64, out: &mut Vec<u8>) {
        if amount == u64::MAX {
            out.extend_from_slice(b"Infinity");
            return;
        }
        match self {
            Self::Fixed { bytes: 1, suffix } => {
                decimal(amount, out);
                out.extend_from_slice(suffix.as_bytes());
            }
            Self::Fixed { bytes, suffix } => {
                decimal(amount.div_ceil(bytes), out);
                out.extend_from_slice(suffix.as_bytes());
            }
            Self::Human { base } => human(amount, base, out),
        }
    }
}

/// Without the wish for digit grouping.
fn ungrouped(spec: &[u8]) -> &[u8] {
    spec.strip_prefix(b"'").unwrap_or(spec)
}

/// The text behind counts in a unit that was given alone: `1024` has `K`, `1000` has `kB`.
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

/// Appends `number` in decimal digits.
pub(crate) fn decimal(mut number: u64, out: &mut Vec<u8>) {
    const LONGEST: usize = 20; // the digits of u64::MAX
    let mut digits = [0; LONGEST];
    let mut at = LONGEST;
    loop {
        at -= 1;
        // A remainder of ten is below ten.
        #[allow(clippy::cast_possible_truncation)]
        let digit = (number % 10) as u8;
        digits[at] = b'0' + digit;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends `amount` in the largest unit of which there is at least one: below ten units with one
/// decimal, above with none, rounded up.
fn human(amount: u64, base: u64, out: &mut Vec<u8>) {
    if amount < base {
        return decimal(amount, out);
    }
    let mut unit = u128::from(base);
    let mut power = 0;
    while u128::from(amount) / unit >= u128::from(base) {
        unit *= u128::from(base);
        power += 1;
    }
    let tenths = (u128::from(amount) * 10).div_ceil(unit);
    if tenths < 100 {
        fraction(tenths, power, base, out);
        return;
    }
    let whole = u128::from(amount).div_ceil(unit);
    if whole == u128::from(base) {
        // Rounding up has reached the next unit: 1023.9K is 1.0M.
        fraction(10, power + 1, base, out);
        return;
    }
    decimal(u64::try_from(whole).unwrap_or(u64::MAX), out);
    out.push(letter(power, base));
}

fn fraction(tenths: u128, power: usize, base: u64, out: &mut Vec<u8>) {
    let tenths = u64::try_from(tenths).unwrap_or(u64::MAX);
    decimal(tenths / 10, out);
    out.push(b'.');
    decimal(tenths % 10, out);
    out.push(letter(power, base));
}

/// The letter of a unit; kilo, alone of the powers of 1000, is small.
fn letter(power: usize, base: u64) -> u8 {
    if power == 0 && base == 1000 {
        b'k'
    } else {
        LETTERS[power]
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
