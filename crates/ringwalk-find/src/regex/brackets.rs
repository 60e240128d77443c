//! Bracket expressions.

use super::parse::upper;
use super::syntax::Bits;
use super::tree::{Class, Node, Set};
use ringwalk_sys::CharacterLocale;

/// Parses the bracket expression whose bracket is before `at`, and moves `at` behind it. None if
/// glibc must match the expression.
pub(super) fn parse(units: &[u32], at: &mut usize, bits: Bits) -> Option<Node> {
    let mut reader = BracketReader {
        rest: units.get(*at..)?,
        bits,
    };
    let mut set = Set {
        negated: reader.takes(b'^'),
        ..Set::default()
    };
    if set.negated && bits.contains(Bits::HAT_LISTS_NOT_NEWLINE) {
        set.ranges.push((10, 10));
    }
    let mut first = true;
    while first || !reader.takes(b']') {
        first = false;
        match reader.element()? {
            Element::Class(class) => set.classes.push(reader.folded_class(class)),
            Element::Unit(low) => {
                let high = if reader.is_range() {
                    reader.takes(b'-');
                    match reader.element()? {
                        Element::Unit(high) => high,
                        Element::Class(_) => return None,
                    }
                } else {
                    low
                };
                set.ranges.push(reader.range(low, high)?);
            }
        }
    }
    *at = units.len() - reader.rest.len();
    Some(match (&set.ranges[..], &set.classes[..]) {
        ([(low, high)], []) if low == high && !set.negated => Node::Unit(*low),
        _ => Node::Set(set),
    })
}

enum Element {
    Unit(u32),
    Class(Class),
}

struct BracketReader<'a> {
    rest: &'a [u32],
    bits: Bits,
}

impl BracketReader<'_> {
    fn takes(&mut self, byte: u8) -> bool {
        match self.rest {
            [unit, tail @ ..] if *unit == u32::from(byte) => {
                self.rest = tail;
                true
            }
            _ => false,
        }
    }

    /// Returns true if a dash and a possible end of a range follow.
    fn is_range(&self) -> bool {
        let dash = u32::from(b'-');
        matches!(self.rest, [first, next, ..] if *first == dash && *next != u32::from(b']'))
    }

    fn element(&mut self) -> Option<Element> {
        let (&unit, tail) = self.rest.split_first()?;
        let next = tail.first().and_then(|unit| u8::try_from(*unit).ok());
        self.rest = tail;
        match (u8::try_from(unit), next) {
            (Ok(b'\\'), _) if self.bits.contains(Bits::BACKSLASH_ESCAPE_IN_LISTS) => {
                let (&unit, tail) = tail.split_first()?;
                self.rest = tail;
                Some(Element::Unit(unit))
            }
            (Ok(b'['), Some(b':')) if self.bits.contains(Bits::CHAR_CLASSES) => {
                let name = self.name(b':')?;
                let name: Option<Vec<u8>> =
                    name.iter().map(|unit| u8::try_from(*unit).ok()).collect();
                Class::named(&name?).map(Element::Class)
            }
            (Ok(b'['), Some(mark @ (b'.' | b'='))) => match self.name(mark)? {
                // Only ASCII means the same in every locale.
                [only] if *only < 0x80 => Some(Element::Unit(*only)),
                _ => None,
            },
            _ => Some(Element::Unit(unit)),
        }
    }

    /// Returns the text between two marks. The first mark comes next.
    fn name(&mut self, mark: u8) -> Option<&[u32]> {
        let body = &self.rest[1..];
        let end = body
            .windows(2)
            .position(|pair| pair == [u32::from(mark), u32::from(b']')])?;
        self.rest = &body[end + 2..];
        Some(&body[..end])
    }

    fn folded_class(&self, class: Class) -> Class {
        match class {
            Class::Lower | Class::Upper if self.bits.contains(Bits::ICASE) => Class::Alpha,
            class => class,
        }
    }

    /// Returns a range as the numbers of its ends. None if the locale may have another order.
    fn range(&self, low: u32, high: u32) -> Option<(u32, u32)> {
        let ends = if self.bits.contains(Bits::ICASE) {
            [upper(low), upper(high)]
        } else {
            [low, high]
        };
        if low == high {
            return Some((ends[0], ends[1]));
        }
        let bytes = ends.map(|end| u8::try_from(end).ok().filter(u8::is_ascii));
        let [Some(low), Some(high)] = bytes else {
            return None;
        };
        let alike = [
            u8::is_ascii_digit,
            u8::is_ascii_lowercase,
            u8::is_ascii_uppercase,
        ]
        .iter()
        .any(|kind| kind(&low) && kind(&high));
        (alike || CharacterLocale::get(true).collates_by_number())
            .then_some((u32::from(low), u32::from(high)))
    }
}
