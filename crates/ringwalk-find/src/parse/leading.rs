//! What stands before the expression: `-H -L -P -D -O`, and the starting points.

use super::Refusal;
use super::predicates::Parser;
use super::words::{plain, quoted};
use crate::expression::Debug;
use crate::table;
use ringwalk::Follow;
use ringwalk_gnu::quote;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// Reads up to the expression; which words are starting points.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<Range<usize>, Refusal> {
    while let Some(word) = parser.words.peek() {
        if let Some(follow) = follow(word) {
            parser.follow = follow;
            parser.words.next += 1;
            continue;
        }
        match word.as_bytes() {
            b"--" => {
                parser.words.next += 1;
                break;
            }
            b"-D" => {
                parser.words.next += 1;
                debug(parser)?;
            }
            [b'-', b'O', level @ ..] => optimize(parser, OsStr::from_bytes(level))?,
            _ => break,
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

/// Returns which links `-H`, `-L`, `-P`, or several of them in one word, say to follow. The last
/// one counts.
fn follow(word: &OsStr) -> Option<Follow> {
    let letters = word.as_bytes().strip_prefix(b"-")?;
    let follows = letters.iter().map(|letter| match letter {
        b'H' => Some(Follow::CommandLine),
        b'L' => Some(Follow::Always),
        b'P' => Some(Follow::Never),
        _ => None,
    });
    follows.reduce(Option::and).flatten()
}

/// Whether the starting points end before this word. A `)` or `,` is one.
fn begins_expression(word: &OsStr) -> bool {
    matches!(word.as_bytes(), b"(" | b"!" | [b'-', _, ..])
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
        match flag(name) {
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

fn flag(name: &[u8]) -> Option<Debug> {
    Some(match name {
        b"exec" => Debug::EXEC,
        b"opt" => Debug::OPT,
        b"rates" => Debug::RATES,
        b"search" => Debug::SEARCH,
        b"stat" => Debug::STAT,
        b"time" => Debug::TIME,
        b"tree" => Debug::TREE,
        b"all" => Debug::all(),
        _ => return None,
    })
}

/// `-O3`: levels above 3 are what 3 is.
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

/// What is wrong with a word that is no part of an expression.
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

/// What is wrong with a word that looks like one of the language and is none.
pub(super) fn unknown(word: &OsStr) -> Refusal {
    let mut messages = vec![format!("unknown predicate `{}'", plain(word))];
    let text = word.as_bytes();
    let leads = follow(word).is_some()
        || text == b"-D"
        || text
            .strip_prefix(b"-O")
            .is_some_and(|level| level.iter().all(u8::is_ascii_digit));
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
