//! The parser of regular expressions.
//!
//! glibc has compiled the expression before, so it is known to be well formed. This parser leaves
//! rare constructs to glibc, if they are not worth code here.

use super::brackets;
use super::syntax::Bits;
use super::tree::{Assertion, Class, Node, Set};

/// The most repetitions. More make large automata.
const MOST_REPETITIONS: u32 = 255;

/// The most groups within groups. Each one is a call of functions.
const DEEPEST: usize = 100;

/// Returns the parsed expression. None if glibc must match it.
pub(super) fn parse(units: &[u32], bits: Bits) -> Option<Node> {
    let mut parser = RegexParser {
        units,
        at: 0,
        bits,
        opening: true,
        literal_brace: None,
    };
    let node = parser.alternation(0)?;
    (parser.at == units.len()).then_some(node)
}

struct RegexParser<'a> {
    units: &'a [u32],
    at: usize,
    bits: Bits,
    /// True if an expression begins here, so that `^` is an anchor.
    opening: bool,
    /// The position of a brace that begins no interval.
    literal_brace: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegexToken {
    End,
    Unit(u32),
    Any,
    Repeat(u32, Option<u32>),
    OpenInterval,
    OpenGroup,
    CloseGroup,
    OpenSet,
    Or,
    Assertion(Assertion),
    Class {
        word: bool,
        negated: bool,
    },
    /// Only glibc knows the meaning.
    Other,
}

impl RegexParser<'_> {
    fn has(&self, bits: Bits) -> bool {
        self.bits.intersects(bits)
    }

    fn alternation(&mut self, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let mut branches = vec![self.branch(depth)?];
        while self.token().0 == RegexToken::Or {
            self.advance();
            self.opening = true;
            branches.push(self.branch(depth)?);
        }
        Some(match branches.len() {
            1 => branches.remove(0),
            _ => Node::Alternation(branches),
        })
    }

    fn branch(&mut self, depth: usize) -> Option<Node> {
        let mut nodes = Vec::new();
        loop {
            match self.token().0 {
                RegexToken::End | RegexToken::Or => break,
                RegexToken::CloseGroup if depth > 0 => break,
                _ => nodes.push(self.expression(depth)?),
            }
        }
        Some(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        })
    }

    fn expression(&mut self, depth: usize) -> Option<Node> {
        let token = self.advance();
        let node = match token {
            RegexToken::Unit(unit) => Node::Unit(self.folded(unit)),
            RegexToken::Any => Node::Any,
            RegexToken::OpenSet => brackets::parse(self.units, &mut self.at, self.bits)?,
            RegexToken::Class { word, negated } => Node::Set(class(word, negated)),
            RegexToken::OpenGroup => self.group(depth)?,
            // There is no group to close.
            RegexToken::CloseGroup => Node::Unit(u32::from(b')')),
            // An anchor is not repeated: a repetition after it begins an expression.
            RegexToken::Assertion(assertion) => return Some(Node::Assertion(assertion)),
            RegexToken::Repeat(..) | RegexToken::OpenInterval => {
                if self.has(Bits::CONTEXT_INVALID_OPS) {
                    return None;
                }
                if self.has(Bits::CONTEXT_INDEP_OPS) {
                    return match self.token().0 {
                        RegexToken::End | RegexToken::Or => Some(Node::Empty),
                        RegexToken::CloseGroup if depth > 0 => None,
                        RegexToken::CloseGroup
                        | RegexToken::Unit(_)
                        | RegexToken::Any
                        | RegexToken::Repeat(..)
                        | RegexToken::OpenInterval
                        | RegexToken::OpenGroup
                        | RegexToken::OpenSet
                        | RegexToken::Assertion(_)
                        | RegexToken::Class { .. }
                        | RegexToken::Other => self.expression(depth),
                    };
                }
                Node::Unit(self.units[self.at - 1])
            }
            RegexToken::End | RegexToken::Or | RegexToken::Other => return None,
        };
        self.repeated(node)
    }

    fn group(&mut self, depth: usize) -> Option<Node> {
        self.opening = true;
        let node = self.alternation(depth + 1)?;
        (self.advance() == RegexToken::CloseGroup).then_some(node)
    }

    fn repeated(&mut self, mut node: Node) -> Option<Node> {
        loop {
            let (min, max) = match self.token().0 {
                RegexToken::Repeat(min, max) => {
                    self.advance();
                    (min, max)
                }
                RegexToken::OpenInterval => {
                    let brace = self.at;
                    self.advance();
                    match self.interval() {
                        Some(interval) => interval,
                        None if self.has(Bits::INVALID_INTERVAL_ORD) => {
                            self.at = brace;
                            self.literal_brace = Some(brace);
                            return Some(node);
                        }
                        None => return None,
                    }
                }
                RegexToken::End
                | RegexToken::Unit(_)
                | RegexToken::Any
                | RegexToken::OpenGroup
                | RegexToken::CloseGroup
                | RegexToken::OpenSet
                | RegexToken::Or
                | RegexToken::Assertion(_)
                | RegexToken::Class { .. }
                | RegexToken::Other => return Some(node),
            };
            if min.max(max.unwrap_or(0)) > MOST_REPETITIONS {
                return None;
            }
            node = if max == Some(0) {
                Node::Empty
            } else {
                Node::Repeat {
                    node: Box::new(node),
                    min,
                    max,
                }
            };
        }
    }

    /// `n}`, `n,}`, `n,m}`, `,m}`.
    fn interval(&mut self) -> Option<(u32, Option<u32>)> {
        let min = self.number();
        let comma = self.takes(b',');
        let max = if comma { self.number() } else { min };
        if !self.has(Bits::NO_BK_BRACES) && !self.takes(b'\\') {
            return None;
        }
        if !self.takes(b'}') || (min.is_none() && !comma) {
            return None;
        }
        let min = min.unwrap_or(0);
        (max.unwrap_or(min) >= min).then_some((min, max))
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit) = self
            .units
            .get(self.at)
            .and_then(|unit| char::from_u32(*unit).and_then(|character| character.to_digit(10)))
        {
            number = Some((number.unwrap_or(0) * 10 + digit).min(0x8000));
            self.at += 1;
        }
        number
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.units.get(self.at) == Some(&u32::from(byte));
        self.at += usize::from(found);
        found
    }

    fn folded(&self, unit: u32) -> u32 {
        if self.has(Bits::ICASE) {
            upper(unit)
        } else {
            unit
        }
    }

    fn advance(&mut self) -> RegexToken {
        let (token, length) = self.token();
        self.at += length;
        self.opening = false;
        token
    }

    fn token(&self) -> (RegexToken, usize) {
        let Some(&unit) = self.units.get(self.at) else {
            return (RegexToken::End, 0);
        };
        if self.literal_brace == Some(self.at) {
            return (RegexToken::Unit(unit), 1);
        }
        let token = match u8::try_from(unit) {
            Ok(b'\\') => {
                return match self.units.get(self.at + 1) {
                    Some(next) => (self.escaped(*next), 2),
                    None => (RegexToken::Other, 1),
                };
            }
            Ok(b'\n') if self.has(Bits::NEWLINE_ALT) => RegexToken::Or,
            Ok(b'|') if self.has(Bits::NO_BK_VBAR) && !self.has(Bits::LIMITED_OPS) => {
                RegexToken::Or
            }
            Ok(b'*') => RegexToken::Repeat(0, None),
            Ok(byte @ (b'+' | b'?')) if !self.has(Bits::LIMITED_OPS | Bits::BK_PLUS_QM) => {
                repeat(byte)
            }
            Ok(b'{') if self.has(Bits::INTERVALS) && self.has(Bits::NO_BK_BRACES) => {
                RegexToken::OpenInterval
            }
            Ok(b'(') if self.has(Bits::NO_BK_PARENS) => RegexToken::OpenGroup,
            Ok(b')') if self.has(Bits::NO_BK_PARENS) => RegexToken::CloseGroup,
            Ok(b'[') => RegexToken::OpenSet,
            Ok(b'.') => RegexToken::Any,
            Ok(b'^') if self.is_anchor_at_start() => RegexToken::Assertion(Assertion::LineStart),
            Ok(b'$') if self.is_anchor_at_end() => RegexToken::Assertion(Assertion::LineEnd),
            _ => RegexToken::Unit(unit),
        };
        (token, 1)
    }

    fn is_anchor_at_start(&self) -> bool {
        self.opening || self.has(Bits::CONTEXT_INDEP_ANCHORS)
    }

    fn is_anchor_at_end(&self) -> bool {
        let after = RegexParser {
            at: self.at + 1,
            ..*self
        };
        // No code below looks beyond the token after a dollar, except for another dollar, which
        // ends nothing.
        self.has(Bits::CONTEXT_INDEP_ANCHORS)
            || match after.units.get(after.at) {
                None => true,
                Some(next) if *next == u32::from(b'$') => false,
                Some(_) => matches!(after.token().0, RegexToken::Or | RegexToken::CloseGroup),
            }
    }

    fn escaped(&self, unit: u32) -> RegexToken {
        let gnu = !self.has(Bits::NO_GNU_OPS);
        match u8::try_from(unit) {
            Ok(b'|') if !self.has(Bits::NO_BK_VBAR | Bits::LIMITED_OPS) => RegexToken::Or,
            Ok(b'1'..=b'9') if !self.has(Bits::NO_BK_REFS) => RegexToken::Other,
            Ok(b'<') if gnu => RegexToken::Assertion(Assertion::WordStart),
            Ok(b'>') if gnu => RegexToken::Assertion(Assertion::WordEnd),
            Ok(b'b') if gnu => RegexToken::Assertion(Assertion::Boundary),
            Ok(b'B') if gnu => RegexToken::Assertion(Assertion::NoBoundary),
            Ok(b'`') if gnu => RegexToken::Assertion(Assertion::Start),
            Ok(b'\'') if gnu => RegexToken::Assertion(Assertion::End),
            Ok(byte @ (b'w' | b'W')) if gnu => RegexToken::Class {
                word: true,
                negated: byte == b'W',
            },
            Ok(byte @ (b's' | b'S')) if gnu => RegexToken::Class {
                word: false,
                negated: byte == b'S',
            },
            Ok(b'(') if !self.has(Bits::NO_BK_PARENS) => RegexToken::OpenGroup,
            Ok(b')') if !self.has(Bits::NO_BK_PARENS) => RegexToken::CloseGroup,
            Ok(byte @ (b'+' | b'?'))
                if self.has(Bits::BK_PLUS_QM) && !self.has(Bits::LIMITED_OPS) =>
            {
                repeat(byte)
            }
            Ok(b'{') if self.has(Bits::INTERVALS) && !self.has(Bits::NO_BK_BRACES) => {
                RegexToken::OpenInterval
            }
            // glibc compares with text in upper case, but does not convert these.
            Ok(b'a'..=b'z') if self.has(Bits::ICASE) => RegexToken::Other,
            _ => RegexToken::Unit(unit),
        }
    }
}

fn repeat(byte: u8) -> RegexToken {
    if byte == b'+' {
        RegexToken::Repeat(1, None)
    } else {
        RegexToken::Repeat(0, Some(1))
    }
}

fn class(word: bool, negated: bool) -> Set {
    let underscore = u32::from(b'_');
    Set {
        negated,
        ranges: if word {
            vec![(underscore, underscore)]
        } else {
            Vec::new()
        },
        classes: vec![if word { Class::Alnum } else { Class::Space }],
    }
}

/// Returns the upper-case form of a unit of ASCII.
pub(super) fn upper(unit: u32) -> u32 {
    u8::try_from(unit).map_or(unit, |byte| u32::from(byte.to_ascii_uppercase()))
}
