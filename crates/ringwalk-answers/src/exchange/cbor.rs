//! The values of CBOR (RFC 8949) that ncdu's binary format uses; others can be skipped.
//!
//! Nothing recurses.

/// Most levels of a value that is skipped.
const NESTING_MAX: usize = 1000;

/// The major types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Major {
    Positive,
    Negative,
    Bytes,
    Text,
    Array,
    Map,
    Tag,
    Simple,
}

/// The head of a value: its type and its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) major: Major,
    /// None: the value has no length and ends at a break.
    pub(crate) argument: Option<u64>,
}

impl Head {
    /// Returns true for the break that ends a value without a length.
    pub(crate) fn is_break(self) -> bool {
        self.major == Major::Simple && self.argument.is_none()
    }
}

/// Reads values from `data`.
#[derive(Clone, Debug)]
pub(crate) struct Decoder<'a> {
    data: &'a [u8],
    at: usize,
}

type Result<T> = std::result::Result<T, &'static str>;

const CUT_OFF: &str = "the CBOR value goes on beyond the end of its block";

impl<'a> Decoder<'a> {
    /// Creates a decoder at byte `at` of `data`.
    pub(crate) fn new(data: &'a [u8], at: usize) -> Self {
        Self { data, at }
    }

    /// Returns the index of the next byte.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let count = usize::try_from(count).ok().filter(|&n| n <= rest.len());
        let count = count.ok_or(CUT_OFF)?;
        self.at += count;
        Ok(&rest[..count])
    }

    /// Reads the next head, without its tags.
    pub(crate) fn head(&mut self) -> Result<Head> {
        loop {
            let head = self.tagged_head()?;
            if head.major != Major::Tag {
                return Ok(head);
            }
        }
    }

    fn tagged_head(&mut self) -> Result<Head> {
        let first = self.take(1)?[0];
        let major = match first >> 5 {
            0 => Major::Positive,
            1 => Major::Negative,
            2 => Major::Bytes,
            3 => Major::Text,
            4 => Major::Array,
            5 => Major::Map,
            6 => Major::Tag,
            _ => Major::Simple,
        };
        let argument = match first & 0x1f {
            small @ 0..=23 => Some(small.into()),
            size @ 24..=27 => {
                let bytes = self.take(1 << (size - 24))?;
                Some(
                    bytes
                        .iter()
                        .fold(0, |value, &byte| value << 8 | u64::from(byte)),
                )
            }
            31 if !matches!(major, Major::Positive | Major::Negative | Major::Tag) => None,
            _ => return Err("the head of a CBOR value is invalid"),
        };
        Ok(Head { major, argument })
    }

    /// Returns the bytes of a string with this head.
    pub(crate) fn string(&mut self, head: Head) -> Result<&'a [u8]> {
        match (head.major, head.argument) {
            (Major::Bytes | Major::Text, Some(length)) => self.take(length),
            (Major::Bytes | Major::Text, None) => Err("expected a string with a length"),
            _ => Err("expected a string"),
        }
    }

    /// Skips the rest of a value with this head.
    pub(crate) fn skip(&mut self, mut head: Head) -> Result<()> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            if head.is_break() {
                match open.pop() {
                    Some(Open::UntilBreak) => {}
                    _ => return Err("a break without a value that it ends"),
                }
            } else if let Some(values) = self.skip_head(head)? {
                if open.len() == NESTING_MAX {
                    return Err("a CBOR value has too many levels");
                }
                open.push(values);
            }
            while let Some(Open::Missing(0)) = open.last() {
                open.pop();
            }
            match open.last_mut() {
                None => return Ok(()),
                Some(Open::Missing(values)) => *values -= 1,
                Some(Open::UntilBreak) => {}
            }
            head = self.head()?;
        }
    }

    /// Skips what follows a head, except the values in it.
    fn skip_head(&mut self, head: Head) -> Result<Option<Open>> {
        Ok(match (head.major, head.argument) {
            (Major::Bytes | Major::Text, Some(length)) => {
                self.take(length)?;
                None
            }
            (Major::Map, Some(pairs)) => Some(Open::Missing(pairs.saturating_mul(2))),
            (Major::Array, Some(values)) => Some(Open::Missing(values)),
            (Major::Bytes | Major::Text | Major::Map | Major::Array, None) => {
                Some(Open::UntilBreak)
            }
            _ => None,
        })
    }
}

/// A value that has begun.
enum Open {
    /// So many values are still missing.
    Missing(u64),
    /// The value goes on up to a break.
    UntilBreak,
}

#[cfg(test)]
mod tests;
