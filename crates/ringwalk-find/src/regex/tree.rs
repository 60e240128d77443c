//! A regular expression, understood.

use ringwalk_sys::CharacterLocale;

/// An expression. Units are characters in UTF-8, else bytes; where case does not count, upper-case ones of ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    /// This unit.
    Unit(u32),
    /// `.`, which leaves out what the syntax says.
    Any,
    Set(Set),
    Assertion(Assertion),
    Concat(Vec<Node>),
    Alternation(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
}

/// What matches between units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    LineStart,
    LineEnd,
    Start,
    End,
    WordStart,
    WordEnd,
    Boundary,
    NoBoundary,
}

/// A bracket expression, `\w` or `\s`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) negated: bool,
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) classes: Vec<Class>,
}

/// A class of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
}

impl Class {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Self::Alnum,
            b"alpha" => Self::Alpha,
            b"blank" => Self::Blank,
            b"cntrl" => Self::Cntrl,
            b"digit" => Self::Digit,
            b"graph" => Self::Graph,
            b"lower" => Self::Lower,
            b"print" => Self::Print,
            b"punct" => Self::Punct,
            b"space" => Self::Space,
            b"upper" => Self::Upper,
            b"xdigit" => Self::Xdigit,
            _ => return None,
        })
    }

    /// Whether a byte of ASCII is in the class; others are in none.
    fn takes(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Alpha => byte.is_ascii_alphabetic(),
            Self::Blank => byte == b' ' || byte == b'\t',
            Self::Cntrl => byte.is_ascii_control(),
            Self::Digit => byte.is_ascii_digit(),
            Self::Graph => byte.is_ascii_graphic(),
            Self::Lower => byte.is_ascii_lowercase(),
            Self::Print => byte == b' ' || byte.is_ascii_graphic(),
            Self::Punct => byte.is_ascii_punctuation(),
            Self::Space => byte.is_ascii_whitespace() || byte == 0x0b,
            Self::Upper => byte.is_ascii_uppercase(),
            Self::Xdigit => byte.is_ascii_hexdigit(),
        }
    }
}

impl Set {
    /// Whether a byte that is a unit (in UTF-8, one of ASCII) is taken.
    pub(super) fn takes(&self, byte: u8) -> bool {
        let unit = u32::from(byte);
        let found = self
            .ranges
            .iter()
            .any(|(low, high)| (*low..=*high).contains(&unit))
            || self.classes.iter().any(|class| class.takes(byte));
        found != self.negated
    }

    /// Whether nothing but units of ASCII is taken, whatever the locale.
    pub(super) fn is_ascii(&self) -> bool {
        !self.negated
            && self.classes.is_empty()
            && self.ranges.iter().all(|(_, high)| *high < 0x80)
            && (self.ranges.iter().all(|(low, high)| low == high)
                || CharacterLocale::get(true).collates_by_number())
    }
}

impl Node {
    /// Whether text that is not ASCII is matched by the numbers of its characters alone, without knowing the locale.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Empty | Self::Unit(_) | Self::Any => true,
            Self::Set(set) => {
                let single = set.ranges.iter().all(|(low, high)| low == high);
                set.classes.is_empty()
                    && (single || CharacterLocale::get(true).collates_by_number())
            }
            Self::Assertion(assertion) => matches!(
                assertion,
                Assertion::LineStart | Assertion::LineEnd | Assertion::Start | Assertion::End
            ),
            Self::Concat(nodes) | Self::Alternation(nodes) => nodes.iter().all(Self::is_plain),
            Self::Repeat { node, .. } => node.is_plain(),
        }
    }

    /// Whether this is any number of any units.
    pub(super) fn is_anything(&self) -> bool {
        matches!(self, Self::Repeat { node, min: 0, max: None } if **node == Self::Any)
    }

    /// The units between two [`is_anything`](Self::is_anything), if that is all.
    pub(super) fn within(&self) -> Option<Vec<u32>> {
        let Self::Concat(nodes) = self else {
            return None;
        };
        let [first, units @ .., last] = nodes.as_slice() else {
            return None;
        };
        if !first.is_anything() || !last.is_anything() {
            return None;
        }
        let unit = |node: &Self| match node {
            Self::Unit(unit) => Some(*unit),
            _ => None,
        };
        units.iter().map(unit).collect()
    }

    /// Adds to `prefix` the units that all matches begin with. Whether they are no more than that.
    pub(super) fn prefix(&self, prefix: &mut Vec<u32>) -> bool {
        match self {
            Self::Empty | Self::Assertion(_) => true,
            Self::Unit(unit) => {
                prefix.push(*unit);
                true
            }
            Self::Concat(nodes) => nodes.iter().all(|node| node.prefix(prefix)),
            Self::Repeat { node, min, max } if *min > 0 => {
                node.prefix(prefix) && *min == 1 && *max == Some(1)
            }
            Self::Any | Self::Set(_) | Self::Alternation(_) | Self::Repeat { .. } => false,
        }
    }
}
