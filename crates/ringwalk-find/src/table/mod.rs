//! Every word of the language: with its arguments, and what the manual says of it.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | what an entry is; finding a word, or the nearest one |
//! | `leading.rs` | `-H -L -P -D -O`, which stand before the starting points |
//! | `operators.rs` | what joins expressions |
//! | `options.rs` | global and positional options |
//! | `tests.rs` | tests |
//! | `actions.rs` | actions |
//! | `help.rs` | the text of `-help` and of `-D help` |
//!
//! The parser, suggestions for misspelt words, `-help`, the manual and the shells' completions are all made from this.

mod actions;
mod help;
mod leading;
mod operators;
mod options;
mod tests;

pub use help::{debug_help, help};

/// Where in the language a word belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Before the starting points.
    Leading,
    /// Joins expressions.
    Operator,
    /// Holds for the whole search, wherever it stands; true as a test.
    Global,
    /// Holds for what comes after it; true as a test.
    Positional,
    /// Tells something of a file, and changes nothing.
    Test,
    /// Does something.
    Action,
}

/// Whose word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In POSIX.1-2008, so in every find.
    Posix,
    /// GNU find's.
    Gnu,
    /// bfs's, which GNU find does not have.
    Bfs,
}

/// What a word means; words that mean the same share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as the words are; see the entries")]
pub enum Word {
    FollowCommandLine,
    FollowAlways,
    FollowNever,
    Debug,
    Optimize,
    Open,
    Close,
    Not,
    And,
    Or,
    Comma,
    Exclude,
    Color,
    Depth,
    DepthShort,
    Files0From,
    Help,
    IgnoreReaddirRace,
    MaxDepth,
    MinDepth,
    NoColor,
    NoHidden,
    NoIgnoreReaddirRace,
    NoLeaf,
    OneFileSystem,
    Sorted,
    Unique,
    Version,
    DayStart,
    Follow,
    NoWarn,
    RegexType,
    Warn,
    AccessMinutes,
    AccessNewer,
    AccessDays,
    ChangeMinutes,
    ChangeNewer,
    ChangeDays,
    Context,
    Empty,
    Executable,
    False,
    FileSystem,
    Gid,
    Group,
    Hidden,
    Inode,
    LinkName,
    LinkNameFold,
    Links,
    ModificationMinutes,
    ModificationDays,
    Name,
    NameFold,
    Newer,
    NewerXY,
    NoGroup,
    NoUser,
    Path,
    PathFold,
    Permission,
    Readable,
    Regex,
    RegexFold,
    SameFile,
    Size,
    True,
    Type,
    Uid,
    Used,
    User,
    Writable,
    XType,
    Delete,
    Exec,
    ExecDir,
    Fls,
    Fprint,
    Fprint0,
    Fprintf,
    Ls,
    Ok,
    OkDir,
    Print,
    Print0,
    Printf,
    Prune,
    Quit,
}

/// One word of the language, by all its names.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it means.
    pub word: Word,
    /// Its names, the usual one first.
    pub names: &'static [&'static str],
    /// Where it belongs.
    pub kind: Kind,
    /// What comes after it, as the manual names it.
    pub arguments: &'static [&'static str],
    /// Whose it is.
    pub origin: Origin,
    /// What the manual says. Paragraphs are separated by empty lines; a line `* TERM: MEANING` is an item.
    pub text: &'static str,
}

impl Entry {
    const fn new(
        kind: Kind,
        word: Word,
        names: &'static [&'static str],
        arguments: &'static [&'static str],
        origin: Origin,
        text: &'static str,
    ) -> Self {
        Self {
            word,
            names,
            kind,
            arguments,
            origin,
            text,
        }
    }

    /// What it does in a few words: the beginning of the text.
    pub fn summary(&self) -> &'static str {
        let ends = [". ", ": ", "; ", ":\n", ".\n"];
        let end = ends.iter().filter_map(|end| self.text.find(end)).min();
        self.text[..end.unwrap_or(self.text.len())].trim_end_matches('.')
    }
}

/// The syntaxes of `-regextype`, in the order in which GNU find lists them.
pub const SYNTAXES: &[&str] = &[
    "findutils-default",
    "ed",
    "emacs",
    "gnu-awk",
    "grep",
    "posix-awk",
    "awk",
    "posix-basic",
    "posix-egrep",
    "egrep",
    "posix-extended",
    "posix-minimal-basic",
    "sed",
];

/// All words, in the order of the manual.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        leading::ENTRIES,
        operators::ENTRIES,
        options::POSITIONAL,
        options::GLOBAL,
        tests::ENTRIES,
        actions::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The word of the expression that is written so. As in GNU find, a hyphen may stand before operators (`-!`).
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
        [b'-', b'n', b'e', b'w', b'e', b'r', _, _] => tests::ENTRIES
            .iter()
            .find(|entry| entry.word == Word::NewerXY),
        _ => entries()
            .filter(|entry| entry.kind != Kind::Leading)
            .find(named),
    }
}

/// The known word nearest to one that is not known, if it is near enough to have been meant.
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
        .filter(|entry| entry.kind != Kind::Leading)
        .flat_map(|entry| entry.names)
        .map(|name| (distance(written, name.as_bytes()), *name))
        .filter(|(distance, name)| *distance <= near && name.len() > 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Letters to insert, leave out, replace or exchange with their neighbour until `a` is `b`.
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
mod test;
