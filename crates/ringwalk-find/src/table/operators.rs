//! What joins expressions, tightest first.

use super::{Entry, Kind, Origin, Word};

const fn operator(
    word: Word,
    names: &'static [&'static str],
    arguments: &'static [&'static str],
    origin: Origin,
    text: &'static str,
) -> Entry {
    Entry {
        word,
        names,
        kind: Kind::Operator,
        arguments,
        origin,
        text,
    }
}

pub(super) const ENTRIES: &[Entry] = &[
    operator(
        Word::Open,
        &["("],
        &["EXPRESSION", ")"],
        Origin::Posix,
        "Holds an expression together. Shells have a use of their own for parentheses, so they must be quoted: \\( and \\).",
    ),
    operator(
        Word::Close,
        &[")"],
        &[],
        Origin::Posix,
        "Ends what ( began.",
    ),
    operator(
        Word::Not,
        &["!", "-not"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expression, which is the next test, action or parenthesis, is false. -not is GNU's name for it.",
    ),
    operator(
        Word::And,
        &["-a", "-and"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expressions on both sides are. If the first is false the second is not evaluated. Two expressions \
without an operator between them are joined so. -and is GNU's name for it.",
    ),
    operator(
        Word::Or,
        &["-o", "-or"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expression on one of its sides is. If the first is true the second is not evaluated. Binds less \
tightly than -a: -name a -o -name b -print prints files named b only. -or is GNU's name for it.",
    ),
    operator(
        Word::Comma,
        &[","],
        &["EXPRESSION"],
        Origin::Gnu,
        "Both expressions are evaluated; the value of the second counts. Binds least tightly.",
    ),
    operator(
        Word::Exclude,
        &["-exclude"],
        &["EXPRESSION"],
        Origin::Bfs,
        "Files for which the expression, which is the next test or parenthesis, is true are as if they were not there: \
nothing is asked of them and directories are not entered, whatever the rest of the expression and -depth and -mindepth say. That \
goes for starting points too. The expression may hold no action. True as a test.",
    ),
];
