//! A parsed regular expression.

use ringwalk_sys::CharacterLocale;

/// An expression. A unit is a character in UTF-8, or else a byte. If case does not count, units of
/// ASCII are in upper case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    /// This unit.
    Unit(u32),
    /// `.`, which leaves out the units that the syntax says.
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

/// A condition between units.
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

    /// Returns true if a byte of ASCII is in the class. No other byte is in a class.
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
    /// Returns true if the set matches a byte that is a unit (in UTF-8, one of ASCII).
    pub(super) fn takes(&self, byte: u8) -> bool {
        let unit = u32::from(byte);
        let found = self
            .ranges
            .iter()
            .any(|(low, high)| (*low..=*high).contains(&unit))
            || self.classes.iter().any(|class| class.takes(byte));
        found != self.negated
    }

    /// Returns true if the set matches nothing but units of ASCII, whatever the locale.
    pub(super) fn is_ascii(&self) -> bool {
        !self.negated
            && self.classes.is_empty()
            && self.ranges.iter().all(|(_, high)| *high < 0x80)
            && (self.ranges.iter().all(|(low, high)| low == high)
                || CharacterLocale::get(true).collates_by_number())
    }
}

impl Node {
    /// Returns true if text that is not ASCII is matched by the numbers of its characters alone,
    /// whatever the locale.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Empty | Self::Unit(_) | Self::Any => true,
            Self::Set(set) => {
                let single = set.ranges.iter().all(|(low, high)| low == high);
                set.classes.is_empty()
                    && (single || CharacterLocale::get(true).collates_by_number())
            }
            Self::Assertion(assertion) => match assertion {
                Assertion::LineStart | Assertion::LineEnd | Assertion::Start | Assertion::End => {
                    true
                }
                Assertion::WordStart
                | Assertion::WordEnd
                | Assertion::Boundary
                | Assertion::NoBoundary => false,
            },
            Self::Concat(nodes) | Self::Alternation(nodes) => nodes.iter().all(Self::is_plain),
            Self::Repeat { node, .. } => node.is_plain(),
        }
    }

    /// Returns true for any number of any units.
    pub(super) fn is_anything(&self) -> bool {
        matches!(self, Self::Repeat { node, min: 0, max: None } if **node == Self::Any)
    }

    /// Returns the units between two [`is_anything`](Self::is_anything). None if there is anything
    /// else.
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

    /// Appends to `prefix` the units that all matches begin with. Returns true if the expression is
    /// no more than that.
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
