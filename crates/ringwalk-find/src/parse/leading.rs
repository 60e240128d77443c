//! Parses the words before the expression: `-H -L -P -D -O --from`, and the starting points.

use super::Refusal;
use super::parser::Parser;
use super::words::{plain, quoted};
use crate::expression::Debug;
use crate::table::{self, LeadingWord};
use ringwalk::Follow;
use ringwalk_gnu::quote;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// Reads up to the expression. Returns the range of the starting points.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<Range<usize>, Refusal> {
    while let Some(word) = parser.words.peek() {
        if word == "--" {
            parser.words.next += 1;
            break;
        }
        match Leading::read(word) {
            Some(Leading::Follow(follow)) => parser.follow = follow,
            Some(Leading::Debug) => {
                parser.words.next += 1;
                debug(parser)?;
            }
            Some(Leading::Optimize(level)) => optimize(parser, level)?,
            Some(Leading::From(name)) => from(parser, name)?,
            None => break,
        }
        parser.words.next += 1;
    }
    let first = parser.words.next;
    while parser
        .words
        .peek()
        .is_some_and(|word| !begins_expression(word))
    {
        parser.words.next += 1;
    }
    Ok(first..parser.words.next)
}

/// The option that names a saved tree.
const FROM: &[u8] = b"--from";

/// An option before the starting points.
enum Leading<'w> {
    /// `-P`, `-H`, `-L`, or several of them in one word: then the last one counts.
    Follow(Follow),
    /// `-D`; its argument is the next word.
    Debug,
    /// `-O`, with the level.
    Optimize(&'w OsStr),
    /// `--from`, with the name behind `=`; without one it is the next word.
    From(Option<&'w OsStr>),
}

impl<'w> Leading<'w> {
    /// Understands a word.
    fn read(word: &'w OsStr) -> Option<Self> {
        if let Some(rest) = word.as_bytes().strip_prefix(FROM) {
            return match rest {
                [] => Some(Self::From(None)),
                [b'=', name @ ..] => Some(Self::From(Some(OsStr::from_bytes(name)))),
                _ => None,
            };
        }
        let [b'-', first, rest @ ..] = word.as_bytes() else {
            return None;
        };
        match table::find_leading(&[b'-', *first])? {
            LeadingWord::FollowNever
            | LeadingWord::FollowCommandLine
            | LeadingWord::FollowAlways => {
                let mut letters = std::iter::once(first).chain(rest);
                let last = letters.try_fold(Follow::Never, |_, letter| followed(*letter));
                last.map(Self::Follow)
            }
            LeadingWord::Debug => rest.is_empty().then_some(Self::Debug),
            LeadingWord::Optimize => Some(Self::Optimize(OsStr::from_bytes(rest))),
            LeadingWord::From => None,
        }
    }
}

/// Returns which links the letter of an option says to follow. None for other options.
fn followed(letter: u8) -> Option<Follow> {
    match table::find_leading(&[b'-', letter])? {
        LeadingWord::FollowNever => Some(Follow::Never),
        LeadingWord::FollowCommandLine => Some(Follow::CommandLine),
        LeadingWord::FollowAlways => Some(Follow::Always),
        LeadingWord::Debug | LeadingWord::Optimize | LeadingWord::From => None,
    }
}

/// Returns true if the starting points end before this word. `)` and `,` are starting points here.
fn begins_expression(word: &OsStr) -> bool {
    matches!(word.as_bytes(), b"(" | b"!" | [b'-', _, ..])
}

/// Opens the saved tree of `--from`.
fn from(parser: &mut Parser<'_>, name: Option<&OsStr>) -> Result<(), Refusal> {
    let name = if let Some(name) = name {
        name
    } else {
        parser.words.next += 1;
        let missing = || Refusal::wrong("missing argument to `--from'");
        parser.words.peek().ok_or_else(missing)?
    };
    if parser.saved.is_some() {
        return Err(Refusal::wrong("--from can be given once only"));
    }
    parser.saved = Some(parser.context.saved(name).map_err(Refusal::wrong)?);
    Ok(())
}

fn debug(parser: &mut Parser<'_>) -> Result<(), Refusal> {
    let try_help = format!(
        "\nTry '{} --help' for more information.",
        parser.context.program_name()
    );
    let Some(list) = parser.words.peek() else {
        return Err(Refusal::wrong(format!(
            "Missing argument after the -D option.{try_help}"
        )));
    };
    let mut empty = true;
    let mut help = false;
    for name in list.as_bytes().split(|byte| *byte == b',') {
        if name.is_empty() {
            continue;
        }
        empty = false;
        match Debug::from_word(name) {
            Some(flag) => parser.options.debug |= flag,
            None if name == b"help" => help = true,
            None => parser.warnings.push(format!(
                "Ignoring unrecognised debug flag {}",
                quote::value(name)
            )),
        }
    }
    if empty {
        return Err(Refusal::wrong(format!(
            "Empty argument to the -D option.{try_help}"
        )));
    }
    if help {
        return Err(Refusal::Help(table::debug_help()));
    }
    Ok(())
}

/// Reads the level of `-O`. Levels above 3 mean the same as 3.
fn optimize(parser: &mut Parser<'_>, level: &OsStr) -> Result<(), Refusal> {
    let text = level.as_bytes();
    let shown = plain(level);
    if text.is_empty() {
        return Err(Refusal::wrong(
            "The -O option must be immediately followed by a decimal integer",
        ));
    }
    if !text[0].is_ascii_digit() {
        return Err(Refusal::wrong(
            "Please specify a decimal number immediately after -O",
        ));
    }
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::wrong(format!(
            "Invalid optimisation level {shown}"
        )));
    }
    let Ok(number) = shown.parse::<u64>() else {
        return Err(Refusal::wrong(format!(
            "Invalid optimisation level {shown}: Numerical result out of range"
        )));
    };
    if number > u64::from(u16::MAX) {
        return Err(Refusal::wrong(format!(
            "Optimisation level {number} is too high.  If you want to find files very quickly, consider using GNU locate."
        )));
    }
    parser.options.optimization = number.min(3) as u8;
    Ok(())
}

/// Returns the messages about a word that cannot stand in an expression.
pub(super) fn misplaced(parser: &Parser<'_>, word: &OsStr) -> Refusal {
    let mut messages = vec![format!("paths must precede expression: `{}'", plain(word))];
    if let (Some(name), true) = (parser.previous, std::path::Path::new(word).exists()) {
        messages.push(format!(
            "possible unquoted pattern after predicate `{}'?",
            plain(&parser.words.all[name])
        ));
    }
    Refusal::Wrong(messages)
}

/// Options of the program `ringwalk`. They are not words of find.
pub const PROGRAM_OPTIONS: [&str; 7] = [
    "--source",
    "--workers",
    "--in-flight",
    "--prefetch",
    "--sync",
    "--explain",
    "--progress",
];

/// Returns the messages about an unknown word that looks like one of the language.
pub(super) fn unknown(word: &OsStr) -> Refusal {
    let mut messages = vec![format!("unknown predicate `{}'", plain(word))];
    let text = word.as_bytes();
    let option = text.split(|byte| *byte == b'=').next().unwrap_or_default();
    if PROGRAM_OPTIONS.iter().any(|name| name.as_bytes() == option) {
        let option = String::from_utf8_lossy(option);
        messages.push(format!(
            "{option} must stand before find: ringwalk {option} ... find"
        ));
        return Refusal::Wrong(messages);
    }
    let leads = match Leading::read(word) {
        Some(Leading::Follow(_) | Leading::Debug | Leading::From(_)) => true,
        Some(Leading::Optimize(level)) => level.as_bytes().iter().all(u8::is_ascii_digit),
        None => false,
    };
    if leads {
        messages.push(format!(
            "{} must stand before the starting points",
            quoted(word)
        ));
    } else if let Some(name) = table::nearest(text) {
        messages.push(format!("did you mean `{name}'?"));
    }
    Refusal::Wrong(messages)
}
