//! Every word of the language, with its arguments and its text in the manual.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the type of an entry; the search for a word, or for the nearest one |
//! | `leading.rs` | `-H -L -P -D -O --from`, which stand before the starting points |
//! | `operators.rs` | operators |
//! | `options.rs` | global and positional options |
//! | `predicates.rs` | tests |
//! | `actions.rs` | actions |
//! | `argument.rs` | arguments and forms of words, for the completions of shells |
//! | `help.rs` | the text of `-help` and of `-D help` |
//!
//! The parser, suggestions for misspelt words, `-help`, the manual and the shells' completions are
//! all made from this table.

mod actions;
mod argument;
mod help;
mod leading;
mod operators;
mod options;
mod predicates;

pub(crate) use actions::ActionWord;
pub use argument::Argument;
pub use help::{debug_help, help};
pub(crate) use leading::LeadingWord;
pub(crate) use operators::OperatorWord;
pub(crate) use options::{GlobalWord, PositionalWord};
pub(crate) use predicates::TestWord;

/// The place of a word in the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Before the starting points.
    Leading,
    /// An operator between expressions.
    Operator,
    /// An option for the whole search, wherever it stands. True as a test.
    Global,
    /// An option for the words after it. True as a test.
    Positional,
    /// Compares a file with something, and changes nothing.
    Test,
    /// An action.
    Action,
}

/// The origin of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In POSIX.1-2008, so in every find.
    Posix,
    /// In GNU find.
    Gnu,
    /// In bfs, but not in GNU find.
    Bfs,
    /// In this find only.
    Ringwalk,
}

/// The meaning of a word. The file with the entries of a kind has the enum of their words. For a
/// variant without an entry the compiler warns; for one that the parser does not handle it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Leading(LeadingWord),
    Operator(OperatorWord),
    Global(GlobalWord),
    Positional(PositionalWord),
    Test(TestWord),
    Action(ActionWord),
}

/// One word of the language, with all its names.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The meaning.
    pub(crate) meaning: Meaning,
    /// The names, the usual one first.
    pub names: &'static [&'static str],
    /// The arguments, as the manual names them.
    pub arguments: &'static [&'static str],
    /// The origin.
    pub origin: Origin,
    /// The text of the manual. Empty lines separate paragraphs; a line `* TERM: MEANING` is an
    /// item.
    pub text: &'static str,
}

impl Entry {
    const fn new(
        meaning: Meaning,
        names: &'static [&'static str],
        arguments: &'static [&'static str],
        origin: Origin,
        text: &'static str,
    ) -> Self {
        Self {
            meaning,
            names,
            arguments,
            origin,
            text,
        }
    }

    /// Returns where in the language the word belongs.
    pub fn kind(&self) -> Kind {
        match self.meaning {
            Meaning::Leading(_) => Kind::Leading,
            Meaning::Operator(_) => Kind::Operator,
            Meaning::Global(_) => Kind::Global,
            Meaning::Positional(_) => Kind::Positional,
            Meaning::Test(_) => Kind::Test,
            Meaning::Action(_) => Kind::Action,
        }
    }

    /// Returns a short description: the beginning of the text.
    pub fn summary(&self) -> &'static str {
        let ends = [". ", ": ", "; ", ":\n", ".\n"];
        let end = ends.iter().filter_map(|end| self.text.find(end)).min();
        self.text[..end.unwrap_or(self.text.len())].trim_end_matches('.')
    }
}

/// Returns all words, in the order of the manual.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        leading::ENTRIES,
        operators::ENTRIES,
        options::POSITIONAL,
        options::GLOBAL,
        predicates::ENTRIES,
        actions::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// Finds an option that stands before the starting points.
pub(crate) fn find_leading(written: &[u8]) -> Option<LeadingWord> {
    leading::ENTRIES
        .iter()
        .find(|entry| entry.names.iter().any(|name| name.as_bytes() == written))
        .and_then(|entry| match entry.meaning {
            Meaning::Leading(word) => Some(word),
            Meaning::Operator(_)
            | Meaning::Global(_)
            | Meaning::Positional(_)
            | Meaning::Test(_)
            | Meaning::Action(_) => None,
        })
}

/// Finds a word of the expression. As in GNU find, a hyphen may precede operators (`-!`).
pub fn find(written: &[u8]) -> Option<&'static Entry> {
    let named = |entry: &&Entry| entry.names.iter().any(|name| name.as_bytes() == written);
    match written {
        [operator @ (b'(' | b')' | b'!' | b',')]
        | [b'-', operator @ (b'(' | b')' | b'!' | b',')] => {
            let written = std::slice::from_ref(operator);
            operators::ENTRIES
                .iter()
                .find(|entry| entry.names[0].as_bytes() == written)
        }
        [b'-', b'n', b'e', b'w', b'e', b'r', _, _] => predicates::ENTRIES
            .iter()
            .find(|entry| entry.meaning == Meaning::Test(TestWord::NewerXY)),
        _ => entries()
            .filter(|entry| entry.kind() != Kind::Leading)
            .find(named),
    }
}

/// Returns the word nearest to an unknown one, if it is near enough to have been meant.
pub fn nearest(written: &[u8]) -> Option<&'static str> {
    let near = written.len().saturating_sub(1).div_ceil(3).min(3);
    let one_hyphen = written.strip_prefix(b"-").unwrap_or_default();
    if let Some(entry) = find(one_hyphen) {
        return entry
            .names
            .iter()
            .copied()
            .find(|name| name.as_bytes() == one_hyphen);
    }
    entries()
        .filter(|entry| entry.kind() != Kind::Leading)
        .flat_map(|entry| entry.names)
        .map(|name| (distance(written, name.as_bytes()), *name))
        .filter(|(distance, name)| *distance <= near && name.len() > 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the number of letters to insert, leave out, replace or exchange with their neighbour
/// until `a` is `b`.
fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > 3 {
        return a.len().abs_diff(b.len());
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut steps = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                steps = steps.min(before[j - 1] + 1);
            }
            row.push(steps);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests;
