//! Filters: expressions that only say which files match. The host receives the matches.

use super::{Context, Refusal, parse_words, words};
use crate::expression::{Action, Command, Debug, Expression, Leaf};
use ringwalk::Follow;
use std::ffi::OsString;

/// Parses an expression that has no effect. For each file for which it is true, the search calls
/// [`Host::found`](crate::Host::found). `paths` are the starting points.
///
/// # Errors
///
/// The same as for [`parse`](super::parse). An expression is also refused if it has starting
/// points, an action other than `-prune`, or an option that follows links, prints or names starting
/// points.
pub fn parse_filter(
    context: &Context,
    words: Vec<OsString>,
    paths: Vec<OsString>,
) -> Result<Command, Refusal> {
    let mut command = parse_words(context, words, |_| {
        Expression::Action(Leaf {
            is: Action::Found,
            words: Vec::new(),
        })
    })?;
    if let Some(word) = command.paths.first() {
        let word = words::plain(word);
        return Err(Refusal::wrong(format!(
            "`{word}' is not part of an expression: a filter has no starting points"
        )));
    }
    check_options(&command)?;
    check_actions(&command.expression)?;
    command.paths = paths;
    Ok(command)
}

fn check_options(command: &Command) -> Result<(), Refusal> {
    let options = &command.options;
    let refused = [
        (
            command.follow == Follow::Always,
            "-L",
            "it follows links, which lead out of the tree",
        ),
        (
            options.files0_from.is_some(),
            "-files0-from",
            "a filter has no starting points",
        ),
        (options.debug != Debug::empty(), "-D", "it prints"),
    ];
    let mut refused = refused.into_iter().filter(|(is_given, ..)| *is_given);
    refused
        .next()
        .map_or(Ok(()), |(_, word, why)| Err(refusal(word, why)))
}

/// Refuses the first action that does more than to prune.
fn check_actions(expression: &Expression) -> Result<(), Refusal> {
    match expression {
        Expression::Test(_) => Ok(()),
        Expression::Action(Leaf { is, words }) => {
            let why = match is {
                Action::Prune | Action::Found => return Ok(()),
                Action::Print { .. } | Action::Printf { .. } | Action::Ls { .. } => {
                    "a filter prints nothing"
                }
                Action::Execute(_) => "a filter runs no commands",
                Action::Delete => "a filter deletes nothing",
                Action::Quit => "a filter looks at all files",
            };
            let word = words.first().map(|word| words::plain(word));
            Err(refusal(word.as_deref().unwrap_or_default(), why))
        }
        Expression::Not(operand) => check_actions(operand),
        Expression::And(operands) | Expression::Or(operands) | Expression::List(operands) => {
            operands.iter().try_for_each(check_actions)
        }
    }
}

fn refusal(word: &str, why: &str) -> Refusal {
    Refusal::wrong(format!("`{word}' cannot be used in a filter: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Command, String> {
        let words = words.iter().map(OsString::from).collect();
        let paths = vec![OsString::from("/top")];
        parse_filter(&Context::from_environment(), words, paths).map_err(|refusal| match refusal {
            Refusal::Wrong(messages) => messages.join("\n"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn expressions_without_effects() {
        for words in [
            &[][..],
            &["-name", "*.o"],
            &["-name", ".git", "-prune", "-o", "-size", "+1M"],
            &["(", "-type", "f", "-o", "-type", "d", ")", "!", "-empty"],
            &["-H", "-maxdepth", "2", "-xdev", "-type", "f"],
        ] {
            let command = parse(words).unwrap();
            assert_eq!(command.paths, ["/top"]);
            assert!(command.sinks.is_empty());
        }
    }

    #[test]
    fn words_with_effects_are_refused() {
        for (words, word) in [
            (&["-print"][..], "-print"),
            (&["-name", "x", "-print0"], "-print0"),
            (&["-fprint", "/dev/null"], "-fprint"),
            (&["-printf", "%p"], "-printf"),
            (&["-ls"], "-ls"),
            (&["-type", "f", "-delete"], "-delete"),
            (&["-exec", "true", ";"], "-exec"),
            (&["-exec", "true", "{}", "+"], "-exec"),
            (&["-ok", "true", ";"], "-ok"),
            (&["!", "(", "-name", "x", "-o", "-quit", ")"], "-quit"),
            (&["-name", "x", ",", "-quit"], "-quit"),
            (&["-L", "-name", "x"], "-L"),
            (&["-follow"], "-L"),
            (&["-files0-from", "list"], "-files0-from"),
            (&["-D", "tree", "-name", "x"], "-D"),
        ] {
            let message = parse(words).unwrap_err();
            let expected = format!("`{word}' cannot be used in a filter: ");
            assert!(message.starts_with(&expected), "{words:?}: {message}");
        }
    }

    #[test]
    fn mistakes_have_the_messages_of_find() {
        assert_eq!(
            parse(&["-nam", "x"]).unwrap_err(),
            "unknown predicate `-nam'\ndid you mean `-name'?"
        );
        assert_eq!(
            parse(&["-name"]).unwrap_err(),
            "missing argument to `-name'"
        );
        let message = parse(&["/elsewhere", "-name", "x"]).unwrap_err();
        assert!(
            message.contains("`/elsewhere' is not part of an expression"),
            "{message}"
        );
        assert!(parse(&["--from", "x"]).is_err());
    }
}
