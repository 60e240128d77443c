//! The parser: from words to an expression.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the steps of the parser, and its results |
//! | `context.rs` | the environment in which words are understood: clock, zone, variables |
//! | `leading.rs` | options and starting points before the expression |
//! | `words.rs` | the reader of words, and messages about words |
//! | `parser.rs` | the loop over the words, and the options |
//! | `predicates.rs` | tests |
//! | `number.rs`, `mode.rs`, `time.rs`, `owner.rs`, `reference.rs`, `types.rs` | arguments of tests |
//! | `actions.rs` | actions and their arguments |
//! | `tree.rs` | operators and parentheses |
//! | `check.rs` | checks of words that exclude each other |
//! | `saved.rs` | words that a saved tree cannot answer |
//! | `filter.rs` | expressions that only say which files match |
//!
//! The parser reads words from left to right, with their arguments, before it looks at operators.
//! So for a command line with several faults it has the same message as GNU find. It writes and
//! runs nothing and opens no file before all words are understood. It only reads the metadata of
//! files that tests compare with.

mod actions;
mod check;
mod context;
mod filter;
mod leading;
mod mode;
mod number;
mod owner;
mod parser;
mod predicates;
mod reference;
mod saved;
mod time;
mod tree;
mod types;
mod words;

pub use context::Context;
pub use filter::parse_filter;
pub use leading::PROGRAM_OPTIONS;

use crate::expression::{Action, Command, Expression, Leaf, Sink, SinkIndex};
use parser::Parser;
use std::ffi::OsString;
use tree::{Piece, PlacedPiece};

/// The reason why there is no expression to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The command line is wrong: messages for standard error, earlier warnings included. Each is
    /// written after the program's name, and the status is 1. A message may have several lines.
    /// Bytes that are not UTF-8 are shown as U+FFFD.
    Wrong(Vec<String>),
    /// `-help`, `--help`, `-D help`: the text for standard output. The status is 0.
    Help(String),
    /// `-version`, `--version`. The status is 0.
    Version,
}

impl Refusal {
    fn wrong(message: impl Into<String>) -> Self {
        Self::Wrong(vec![message.into()])
    }
}

/// Parses the arguments of find(1), without the program's name, in the environment of this process.
///
/// # Errors
///
/// The [`Refusal`] if there is nothing to evaluate. Nothing has been done then.
pub fn parse(arguments: Vec<OsString>) -> Result<Command, Refusal> {
    parse_in(&Context::from_environment(), arguments)
}

/// Parses the arguments of find(1), without the program's name.
///
/// # Errors
///
/// The same as for [`parse`].
pub fn parse_in(context: &Context, arguments: Vec<OsString>) -> Result<Command, Refusal> {
    let mut command = parse_words(context, arguments, print)?;
    if command.paths.is_empty() && command.options.files0_from.is_none() {
        match &command.saved {
            Some(saved) => command.paths.clone_from(&saved.roots),
            None => command.paths.push(OsString::from(".")),
        }
    }
    Ok(command)
}

/// Parses an expression for starting points that are given otherwise, whatever they look like.
/// Options that stand before starting points (`-L`) may come first.
///
/// # Errors
///
/// The same as for [`parse`]. Also fails if there are starting points among the words.
pub fn parse_expression(
    context: &Context,
    words: Vec<OsString>,
    paths: Vec<OsString>,
) -> Result<Command, Refusal> {
    let mut command = parse_words(context, words, print)?;
    if let Some(word) = command.paths.first() {
        let word = words::plain(word);
        return Err(Refusal::wrong(format!(
            "no part of an expression: `{word}'"
        )));
    }
    command.paths = paths;
    Ok(command)
}

/// Parses the arguments of find(1). [`Command::paths`] holds the starting points among them.
/// `added` returns the action that is added to an expression without actions.
fn parse_words(
    context: &Context,
    mut arguments: Vec<OsString>,
    added: fn(&mut Vec<Sink>) -> Expression,
) -> Result<Command, Refusal> {
    let mut parser = Parser::new(context, &arguments);
    let parsed = understand(&mut parser);
    let Parser {
        follow,
        options,
        mut sinks,
        mut warnings,
        saved: saved_tree,
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
            operands.push(added(&mut sinks));
            Expression::And(operands)
        }
        (Some(expression), true) => Expression::And(vec![expression, added(&mut sinks)]),
        (None, _) => added(&mut sinks),
    };
    let exclude = match pieces.exclusions.len() {
        0 | 1 => pieces.exclusions.into_iter().next(),
        _ => Some(Expression::Or(pieces.exclusions)),
    };
    let paths = arguments[paths].iter_mut().map(std::mem::take).collect();
    let command = Command {
        paths,
        follow,
        options,
        expression,
        exclude,
        sinks,
        saved: saved_tree,
        warnings,
    };
    saved::check(&command)?;
    Ok(command)
}

/// The meaning of the words after the starting points.
struct Understood {
    expression: Option<Expression>,
    exclusions: Vec<Expression>,
    /// `-print` must be added.
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

/// Returns the `-print` that is added to an expression without actions.
fn print(sinks: &mut Vec<Sink>) -> Expression {
    Expression::Action(Leaf {
        is: Action::Print {
            sink: sink(Sink::Stdout, sinks),
            end: b'\n',
        },
        words: vec![OsString::from("-print")],
    })
}

/// Returns the index of a sink, and adds the sink if it is new.
fn sink(wanted: Sink, sinks: &mut Vec<Sink>) -> SinkIndex {
    let place = sinks.iter().position(|sink| *sink == wanted);
    SinkIndex(place.unwrap_or_else(|| {
        sinks.push(wanted);
        sinks.len() - 1
    }))
}

#[cfg(test)]
mod tests;
