//! What joins expressions, tightest first.

use super::{Entry, Kind, Origin, Word};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Kind::Operator,
        Word::Open,
        &["("],
        &["EXPRESSION", ")"],
        Origin::Posix,
        "Holds an expression together. Shells have a use of their own for parentheses, so they must be quoted: \\( and \\).",
    ),
    Entry::new(
        Kind::Operator,
        Word::Close,
        &[")"],
        &[],
        Origin::Posix,
        "Ends what ( began.",
    ),
    Entry::new(
        Kind::Operator,
        Word::Not,
        &["!", "-not"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expression, which is the next test, action or parenthesis, is false. -not is GNU's name for it.",
    ),
    Entry::new(
        Kind::Operator,
        Word::And,
        &["-a", "-and"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expressions on both sides are. If the first is false the second is not evaluated. Two expressions \
without an operator between them are joined so. -and is GNU's name for it.",
    ),
    Entry::new(
        Kind::Operator,
        Word::Or,
        &["-o", "-or"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expression on one of its sides is. If the first is true the second is not evaluated. Binds less \
tightly than -a: -name a -o -name b -print prints files named b only. -or is GNU's name for it.",
    ),
    Entry::new(
        Kind::Operator,
        Word::Comma,
        &[","],
        &["EXPRESSION"],
        Origin::Gnu,
        "Both expressions are evaluated; the value of the second counts. Binds least tightly.",
    ),
    Entry::new(
        Kind::Operator,
        Word::Exclude,
        &["-exclude"],
        &["EXPRESSION"],
        Origin::Bfs,
        "Files for which the expression, which is the next test or parenthesis, is true are as if they were not there: \
nothing is asked of them and directories are not entered, whatever the rest of the expression and -depth and -mindepth say. That \
goes for starting points too. The expression may hold no action. True as a test.",
    ),
];
