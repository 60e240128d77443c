//! Numbers of bytes for people, as `du -h` of GNU coreutils writes them.

/// The letters of the powers of a unit, from the first.
const LETTERS: &[u8; 8] = b"KMGTPEZY";

/// How sizes are shown to people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeFormat {
    /// In units of powers of 1024: `1.5K`, `12M`.
    #[default]
    Human,
    /// In units of powers of 1000: `1.6k`, `13M`.
    Si,
    /// As a number of bytes.
    Bytes,
}

impl SizeFormat {
    /// Returns a number of bytes as text.
    pub fn size(self, bytes: u64) -> String {
        let mut out = Vec::new();
        match self {
            Self::Human => push_human(bytes, 1024, &mut out),
            Self::Si => push_human(bytes, 1000, &mut out),
            Self::Bytes => push_decimal(bytes, &mut out),
        }
        // Digits and letters of units are ASCII.
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Returns a growth in bytes as text, with its sign.
    pub fn growth(self, growth: i64) -> String {
        let sign = match growth {
            0 => "",
            1.. => "+",
            _ => "-",
        };
        format!("{sign}{}", self.size(growth.unsigned_abs()))
    }
}

/// Appends `number` in decimal digits.
pub fn push_decimal(mut number: u64, out: &mut Vec<u8>) {
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

/// Appends `amount`, rounded up, in the largest power of `base` (1024 or 1000) that is not larger
/// than `amount`. Less than ten units have one decimal. The text has at most five columns.
pub fn push_human(amount: u64, base: u64, out: &mut Vec<u8>) {
    if amount < base {
        return push_decimal(amount, out);
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
    push_decimal(u64::try_from(whole).unwrap_or(u64::MAX), out);
    out.push(letter(power, base));
}

fn fraction(tenths: u128, power: usize, base: u64, out: &mut Vec<u8>) {
    let tenths = u64::try_from(tenths).unwrap_or(u64::MAX);
    push_decimal(tenths / 10, out);
    out.push(b'.');
    push_decimal(tenths % 10, out);
    out.push(letter(power, base));
}

/// Returns the letter of a unit. Among the powers of 1000, only kilo has a small letter.
fn letter(power: usize, base: u64) -> u8 {
    if power == 0 && base == 1000 {
        b'k'
    } else {
        LETTERS[power]
    }
}
