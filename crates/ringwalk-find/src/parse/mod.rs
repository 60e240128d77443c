//! From words to an expression.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | the steps, and how they end |
//! | `context.rs` | what the meaning of words depends on beside them: the clock, the zone, the environment |
//! | `leading.rs` | what stands before the starting points |
//! | `words.rs` | the words one after another, and messages about them |
//! | `predicates.rs` | which words are what: options, and the way to the other files |
//! | `tests.rs`, `number.rs`, `mode.rs`, `time.rs`, `owner.rs`, `reference.rs`, `types.rs` | tests and their arguments |
//! | `actions.rs` | actions and their arguments |
//! | `tree.rs` | operators and parentheses |
//! | `check.rs` | what cannot go together |
//!
//! Words are understood from left to right, with their arguments, before operators are looked at; so the message for a command
//! line with several faults is the one that GNU find has. Nothing is written or run, and no file is opened, before all is understood; files
//! that tests compare with are asked for their metadata.

mod actions;
mod check;
mod context;
mod leading;
mod mode;
mod number;
mod owner;
mod predicates;
mod reference;
mod tests;
mod time;
mod tree;
mod types;
mod words;

pub use context::Context;

use crate::expression::{Action, Command, Expression, Leaf, Sink, SinkIndex};
use predicates::Parser;
use std::ffi::OsString;
use tree::{Piece, Token};

/// Why there is no expression to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The command line is wrong: messages for standard error, warnings that came before included, each to be written after the
    /// program's name; status 1. A message may have several lines. Bytes that are not UTF-8 are shown as U+FFFD.
    Wrong(Vec<String>),
    /// `-help`, `--help`, `-D help`: the text for standard output; status 0.
    Help(String),
    /// `-version`, `--version`; status 0.
    Version,
}

impl Refusal {
    fn wrong(message: impl Into<String>) -> Self {
        Self::Wrong(vec![message.into()])
    }
}

/// Understands the arguments of find(1), without the program's name, in the environment of this process.
///
/// # Errors
///
/// When there is nothing to evaluate: see [`Refusal`]. Nothing has been done then.
pub fn parse(arguments: Vec<OsString>) -> Result<Command, Refusal> {
    parse_in(&Context::from_environment(), arguments)
}

/// Understands the arguments of find(1), without the program's name.
///
/// # Errors
///
/// As those of [`parse`].
pub fn parse_in(context: &Context, arguments: Vec<OsString>) -> Result<Command, Refusal> {
    let mut command = parse_words(context, arguments)?;
    if command.paths.is_empty() && command.options.files0_from.is_none() {
        command.paths.push(OsString::from("."));
    }
    Ok(command)
}

/// Understands an expression for starting points that are known, whatever they look like. Options that stand before starting points
/// (`-L`) may come first.
///
/// # Errors
///
/// As those of [`parse`], and if there are starting points among the words.
pub fn parse_expression(
    context: &Context,
    words: Vec<OsString>,
    paths: Vec<OsString>,
) -> Result<Command, Refusal> {
    let mut command = parse_words(context, words)?;
    if let Some(word) = command.paths.first() {
        let word = words::plain(word);
        return Err(Refusal::wrong(format!(
            "no part of an expression: `{word}'"
        )));
    }
    command.paths = paths;
    Ok(command)
}

/// Understands the arguments of find(1); [`Command::paths`] are those that are there.
fn parse_words(context: &Context, mut arguments: Vec<OsString>) -> Result<Command, Refusal> {
    let mut parser = Parser::new(context, &arguments);
    let parsed = understand(&mut parser);
    let Parser {
        follow,
        options,
        mut sinks,
        mut warnings,
        ..
    } = parser;
    let (paths, pieces) = match parsed {
        Ok(parsed) => parsed,
        Err(Refusal::Wrong(messages)) => {
            warnings.extend(messages);
            return Err(Refusal::Wrong(warnings));
        }
        Err(other) => return Err(other),
    };
    let expression = match (pieces.expression, pieces.prints) {
        (Some(expression), false) => expression,
        (Some(Expression::And(mut operands)), true) => {
            operands.push(print(&mut sinks));
            Expression::And(operands)
        }
        (Some(expression), true) => Expression::And(vec![expression, print(&mut sinks)]),
        (None, _) => print(&mut sinks),
    };
    let exclude = match pieces.exclusions.len() {
        0 | 1 => pieces.exclusions.into_iter().next(),
        _ => Some(Expression::Or(pieces.exclusions)),
    };
    let paths = arguments[paths].iter_mut().map(std::mem::take).collect();
    Ok(Command {
        paths,
        follow,
        options,
        expression,
        exclude,
        sinks,
        warnings,
    })
}

/// What the words after the starting points come to.
struct Understood {
    expression: Option<Expression>,
    exclusions: Vec<Expression>,
    /// `-print` is to be added.
    prints: bool,
}

fn understand(parser: &mut Parser<'_>) -> Result<(std::ops::Range<usize>, Understood), Refusal> {
    let paths = leading::read(parser)?;
    parser.paths = paths.clone();
    let tokens = parser.tokens()?;
    check::predicates(parser)?;
    let prints = !parser.acts;
    let (expression, mut exclusions) = tree::build(tokens, parser.words, prints)?;
    exclusions.append(&mut parser.exclusions);
    check::starting_points(parser, paths.clone())?;
    let understood = Understood {
        expression,
        exclusions,
        prints,
    };
    Ok((paths, understood))
}

/// The `-print` that nobody wrote.
fn print(sinks: &mut Vec<Sink>) -> Expression {
    Expression::Action(Leaf {
        is: Action::Print {
            sink: sink(Sink::Stdout, sinks),
            end: b'\n',
        },
        words: vec![OsString::from("-print")],
    })
}

/// The place of a sink, which is added if it is not there yet.
fn sink(wanted: Sink, sinks: &mut Vec<Sink>) -> SinkIndex {
    let place = sinks.iter().position(|sink| *sink == wanted);
    SinkIndex(place.unwrap_or_else(|| {
        sinks.push(wanted);
        sinks.len() - 1
    }))
}

#[cfg(test)]
mod test;
