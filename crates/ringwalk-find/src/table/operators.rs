//! Operators, those that bind most tightly first.

use super::{Entry, Meaning, Origin};

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperatorWord {
    Open,
    Close,
    Not,
    And,
    Or,
    Comma,
    Exclude,
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Meaning::Operator(OperatorWord::Open),
        &["("],
        &["EXPRESSION", ")"],
        Origin::Posix,
        "Groups an expression. Shells interpret parentheses, so they must be quoted: \\( and \\).",
    ),
    Entry::new(
        Meaning::Operator(OperatorWord::Close),
        &[")"],
        &[],
        Origin::Posix,
        "Ends the group that ( began.",
    ),
    Entry::new(
        Meaning::Operator(OperatorWord::Not),
        &["!", "-not"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expression is false. The expression is the next test, action or \
group in parentheses. -not is GNU's name for it.",
    ),
    Entry::new(
        Meaning::Operator(OperatorWord::And),
        &["-a", "-and"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expressions on both sides are true. If the first is false, the \
second is not evaluated. -a may be left out: two expressions without an operator between \
them are joined by it. -and is GNU's name for it.",
    ),
    Entry::new(
        Meaning::Operator(OperatorWord::Or),
        &["-o", "-or"],
        &["EXPRESSION"],
        Origin::Posix,
        "True if the expression on one of its sides is true. If the first is true, the \
second is not evaluated. Binds less tightly than -a: -name a -o -name b -print prints \
only files named b. -or is GNU's name for it.",
    ),
    Entry::new(
        Meaning::Operator(OperatorWord::Comma),
        &[","],
        &["EXPRESSION"],
        Origin::Gnu,
        "Evaluates both expressions; its value is that of the second. Binds least \
tightly.",
    ),
    Entry::new(
        Meaning::Operator(OperatorWord::Exclude),
        &["-exclude"],
        &["EXPRESSION"],
        Origin::Bfs,
        "Treat files for which the expression is true as absent: they are not evaluated, \
and directories are not entered. This holds for starting points too, and whatever the \
rest of the expression, -depth and -mindepth say. The expression is the next test or \
group in parentheses, and must contain no action. As a test, -exclude is true.",
    ),
];
