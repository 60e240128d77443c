//! Automata that read each byte of a path at most once, and mostly few bytes.
//!
//! An automaton is built completely when the expression is compiled, which takes some tens of
//! microseconds. It is built only while it stays small. It runs **backwards** from the end of the
//! path, where paths differ: the last letter decides `.*/k[a-z]*\.h` for most paths. `.*` at the
//! start is not run at all: it suffices that `.*` accepts the rest of the path. If an expression
//! ends with `.*`, the automaton runs forwards in the same manner.

use super::syntax::Bits;
use super::tree::{Assertion, Node, Set};
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition,
};

/// The largest size of an automaton in bytes. One of this size takes some milliseconds to build.
const LARGEST: usize = 256 << 10;

/// The texts that an automaton reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Any bytes. Each byte is a unit.
    Bytes,
    /// ASCII. The automaton gives up at other bytes.
    Ascii,
    /// Text that is UTF-8.
    Utf8,
}

#[derive(Clone, Debug)]
pub(super) struct Automaton {
    dfa: dense::DFA<Vec<u32>>,
    start: StateID,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the end of the path. After a match `.*` takes the rest.
    Backwards,
    /// From the start of the path. After a match `.*` takes the rest.
    Forwards,
    /// Any text may precede and follow the match.
    Search,
}

/// The answer of an automaton for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    No,
    /// The path matches if `.*` matches this rest.
    If(&'a [u8]),
    /// The path is not a text that the automaton reads.
    Unknown,
}

impl Automaton {
    /// Creates the automaton. None if it would be large.
    pub(super) fn new(node: &Node, bits: Bits, texts: Encoding) -> Option<Self> {
        let nodes = match node {
            Node::Concat(nodes) => nodes.as_slice(),
            node => std::slice::from_ref(node),
        };
        let (before, nodes) = match nodes {
            [first, rest @ ..] if first.is_anything() => (true, rest),
            _ => (false, nodes),
        };
        let (nodes, after) = match nodes {
            [rest @ .., last] if last.is_anything() => (rest, true),
            _ => (nodes, false),
        };
        let way = match (before, after) {
            (_, false) => Way::Backwards,
            (false, true) => Way::Forwards,
            (true, true) => Way::Search,
        };
        let builder = Translator { bits, texts };
        let mut parts: Vec<Hir> = nodes.iter().map(|node| builder.hir(node)).collect();
        if way == Way::Backwards && !before {
            parts.insert(0, Hir::look(Look::Start));
        }
        Self::build(&Hir::concat(parts), way, texts)
    }

    fn build(hir: &Hir, way: Way, texts: Encoding) -> Option<Self> {
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .reverse(way == Way::Backwards)
                    .which_captures(WhichCaptures::None)
                    .nfa_size_limit(Some(LARGEST)),
            )
            .build_from_hir(hir)
            .ok()?;
        let (kind, anchored) = match way {
            Way::Search => (StartKind::Unanchored, Anchored::No),
            Way::Backwards | Way::Forwards => (StartKind::Anchored, Anchored::Yes),
        };
        let mut config = dense::Config::new()
            .start_kind(kind)
            .match_kind(MatchKind::All)
            .accelerate(false)
            .dfa_size_limit(Some(LARGEST))
            .determinize_size_limit(Some(LARGEST));
        if texts == Encoding::Ascii {
            config = (0x80..=0xff).fold(config, |config, byte| config.quit(byte, true));
        }
        let dfa = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .ok()?;
        let start = dfa
            .start_state(&start::Config::new().anchored(anchored))
            .ok()?;
        Some(Self { dfa, start, way })
    }

    /// Runs over `path`.
    pub(super) fn run<'a>(&self, path: &'a [u8]) -> Answer<'a> {
        match self.way {
            Way::Backwards => self.decide(path.iter().rev(), |read| &path[..path.len() - read]),
            Way::Forwards => self.decide(path.iter(), |read| &path[read..]),
            Way::Search => self.decide(path.iter(), |_| path),
        }
    }

    /// Returns the answer for a match. `rest` returns the part of the path after so many bytes.
    fn decide<'a, 'b>(
        &self,
        bytes: impl Iterator<Item = &'b u8>,
        rest: impl Fn(usize) -> &'a [u8],
    ) -> Answer<'a> {
        let mut state = self.start;
        for (read, byte) in bytes.enumerate() {
            state = self.dfa.next_state(state, *byte);
            if self.dfa.is_special_state(state) {
                // A match is known one byte late.
                if self.dfa.is_match_state(state) {
                    return Answer::If(rest(read));
                }
                if self.dfa.is_dead_state(state) {
                    return Answer::No;
                }
                if self.dfa.is_quit_state(state) {
                    return Answer::Unknown;
                }
            }
        }
        if self.dfa.is_match_state(self.dfa.next_eoi_state(state)) {
            Answer::If(if self.way == Way::Search {
                rest(0)
            } else {
                &[]
            })
        } else {
            Answer::No
        }
    }
}

/// Translates an expression into the library's form.
struct Translator {
    bits: Bits,
    texts: Encoding,
}

impl Translator {
    fn hir(&self, node: &Node) -> Hir {
        match node {
            Node::Empty => Hir::empty(),
            Node::Unit(unit) => self.unit(*unit),
            Node::Any => self.any(),
            Node::Set(set) => self.set(set),
            Node::Assertion(assertion) => Hir::look(match assertion {
                Assertion::LineStart => Look::StartLF,
                Assertion::LineEnd => Look::EndLF,
                Assertion::Start => Look::Start,
                Assertion::End => Look::End,
                Assertion::WordStart => Look::WordStartAscii,
                Assertion::WordEnd => Look::WordEndAscii,
                Assertion::Boundary => Look::WordAscii,
                Assertion::NoBoundary => Look::WordAsciiNegate,
            }),
            Node::Concat(nodes) => Hir::concat(nodes.iter().map(|node| self.hir(node)).collect()),
            Node::Alternation(nodes) => {
                Hir::alternation(nodes.iter().map(|node| self.hir(node)).collect())
            }
            Node::Repeat { node, min, max } => Hir::repetition(Repetition {
                min: *min,
                max: *max,
                greedy: true,
                sub: Box::new(self.hir(node)),
            }),
        }
    }

    fn unit(&self, unit: u32) -> Hir {
        match (u8::try_from(unit), self.texts) {
            (Ok(byte), _) if byte.is_ascii() => {
                if self.bits.contains(Bits::ICASE) && byte.is_ascii_alphabetic() {
                    let other = byte.to_ascii_lowercase();
                    return self.bytes(|taken| taken == byte || taken == other, true);
                }
                Hir::literal([byte])
            }
            (Ok(byte), Encoding::Bytes) => Hir::literal([byte]),
            (_, Encoding::Utf8) => {
                let character = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                Hir::literal(character.encode_utf8(&mut [0; 4]).as_bytes())
            }
            (_, Encoding::Ascii) | (Err(_), Encoding::Bytes) => self.bytes(|_| false, true),
        }
    }

    fn any(&self) -> Hir {
        let taken = |byte| !left_out(self.bits).contains(&Some(byte));
        match self.texts {
            Encoding::Bytes => Self::class((0..=255).filter(|byte| taken(*byte))),
            Encoding::Ascii => self.bytes(taken, true),
            Encoding::Utf8 => {
                let ranges = left_out(self.bits)
                    .into_iter()
                    .flatten()
                    .map(|byte| ClassUnicodeRange::new(char::from(byte), char::from(byte)));
                let mut class = ClassUnicode::new(ranges);
                class.negate();
                Hir::class(Class::Unicode(class))
            }
        }
    }

    fn set(&self, set: &Set) -> Hir {
        let folds = self.bits.contains(Bits::ICASE);
        let taken = |byte: u8| {
            set.takes(if folds {
                byte.to_ascii_uppercase()
            } else {
                byte
            })
        };
        match self.texts {
            Encoding::Bytes => Self::class((0..=255).filter(|byte| taken(*byte))),
            Encoding::Ascii => self.bytes(taken, folds || !set.is_ascii()),
            Encoding::Utf8 => {
                let ranges = set.ranges.iter().filter_map(|(low, high)| {
                    Some((char::from_u32(*low)?, char::from_u32(*high)?))
                });
                let ranges = ranges.filter(|(low, high)| low <= high);
                let ranges = ranges.map(|(low, high)| ClassUnicodeRange::new(low, high));
                let mut class = ClassUnicode::new(ranges);
                if set.negated {
                    class.negate();
                }
                Hir::class(Class::Unicode(class))
            }
        }
    }

    /// Returns a class of those bytes of ASCII that are taken, and with `others` of all bytes that
    /// are not ASCII. In texts of ASCII the automaton gives up at those bytes, and it must not fail
    /// before.
    fn bytes(&self, taken: impl Fn(u8) -> bool, others: bool) -> Hir {
        let others = others && self.texts == Encoding::Ascii;
        Self::class((0..=255u8).filter(|byte| {
            if byte.is_ascii() {
                taken(*byte)
            } else {
                others
            }
        }))
    }

    fn class(bytes: impl Iterator<Item = u8>) -> Hir {
        let ranges = bytes.map(|byte| ClassBytesRange::new(byte, byte));
        Hir::class(Class::Bytes(ClassBytes::new(ranges)))
    }
}

/// Returns the bytes that `.` does not match.
pub(super) fn left_out(bits: Bits) -> [Option<u8>; 2] {
    [
        (!bits.contains(Bits::DOT_NEWLINE)).then_some(b'\n'),
        bits.contains(Bits::DOT_NOT_NULL).then_some(0),
    ]
}
