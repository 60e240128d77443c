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
mod tests {
    use super::*;

    fn head(bytes: &[u8]) -> Result<Head> {
        Decoder::new(bytes, 0).head()
    }

    /// Skips a value and returns how many bytes are left.
    fn left(bytes: &[u8]) -> Result<usize> {
        let mut decoder = Decoder::new(bytes, 0);
        let head = decoder.head()?;
        decoder.skip(head)?;
        Ok(bytes.len() - decoder.at())
    }

    #[test]
    fn heads_have_arguments_of_every_size() {
        for (bytes, expected) in [
            (&b"\x00"[..], 0),
            (b"\x17", 23),
            (b"\x18\xff", 255),
            (b"\x19\x01\x00", 256),
            (b"\x1a\x00\x01\x00\x00", 65_536),
            (b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", u64::MAX),
            // Tags are left out.
            (b"\xc1\x05", 5),
        ] {
            let head = head(bytes).unwrap();
            assert_eq!(head.major, Major::Positive);
            assert_eq!(head.argument, Some(expected), "{bytes:x?}");
        }
        assert!(head(b"\xff").unwrap().is_break());
        for wrong in [
            &b""[..],
            b"\x18",
            b"\x1b\x00",
            b"\x1c",
            b"\x1f",
            b"\x3f",
            b"\xdf\x00",
        ] {
            assert!(head(wrong).is_err(), "{wrong:x?}");
        }
    }

    #[test]
    fn values_of_every_kind_are_skipped() {
        for value in [
            &b"\x00"[..],
            b"\x20",
            b"\x40",
            b"\x41a",
            b"\x62ab",
            b"\x80",
            b"\x82\x00\x41a",
            b"\xa0",
            b"\xa1\x00\x81\x01",
            b"\x5f\xff",
            b"\x5f\x41a\x41b\xff",
            b"\x9f\x9f\x81\x00\xff\xff",
            b"\xbf\xc0\x00\x9f\xff\xff",
            b"\xf5",
            b"\xf9\x3c\x00",
            b"\x81\x80",
            b"\x82\xa0\x9f\xff",
        ] {
            let followed = [value, b"rest"].concat();
            assert_eq!(left(&followed), Ok(4), "{value:x?}");
        }
        for wrong in [
            &b"\x41"[..],
            b"\x81",
            b"\x9f",
            b"\xff",
            b"\x81\xff",
            b"\xa1\x00",
            b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x00",
            b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(left(wrong).is_err(), "{wrong:x?}");
        }
    }

    #[test]
    fn deep_values_are_refused_without_recursion() {
        assert!(left(&vec![0x81; 1_000_000]).is_err());
        assert!(left(&vec![0x9f; 1_000_000]).is_err());
    }
}
