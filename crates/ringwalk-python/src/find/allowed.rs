//! What of find's language makes sense in a library: tests, `-print`, `-print0`, `-prune` and `-quit`.
//!
//! Paths come out of an iterator, so an action that writes something else (`-ls`, `-printf`), elsewhere (`-fprint`), or changes files while
//! somebody iterates (`-delete`, `-exec`) is refused, and so is what talks to a terminal. What is to be done with the files is said in
//! Python.

use ringwalk_find::Command;
use ringwalk_find::Expression;
use ringwalk_find::expression::{Action, Leaf, Sink};

/// The same command, with paths ended by zero bytes, which no path has.
///
/// # Errors
///
/// The message, if there is anything in it that a library does not do.
pub(super) fn paths_only(mut command: Command) -> Result<Command, String> {
    if !command.options.debug.is_empty() {
        return Err("-D is for the program: it writes to standard error".to_owned());
    }
    if command.options.files0_from.is_some() {
        return Err("-files0-from is for the program: call find once for each path".to_owned());
    }
    // A path with colours is none.
    command.options.color = Some(false);
    check(&mut command.expression, &command.sinks)?;
    if let Some(exclude) = &mut command.exclude {
        check(exclude, &command.sinks)?;
    }
    Ok(command)
}

fn check(expression: &mut Expression, sinks: &[Sink]) -> Result<(), String> {
    match expression {
        Expression::Test(_) => Ok(()),
        Expression::Action(action) => check_action(action, sinks),
        Expression::Not(operand) => check(operand, sinks),
        Expression::And(operands) | Expression::Or(operands) | Expression::List(operands) => {
            operands
                .iter_mut()
                .try_for_each(|operand| check(operand, sinks))
        }
    }
}

fn check_action(action: &mut Leaf<Action>, sinks: &[Sink]) -> Result<(), String> {
    let why = match &mut action.is {
        Action::Prune | Action::Quit => return Ok(()),
        Action::Print { sink, end } if sinks.get(sink.0) == Some(&Sink::Stdout) => {
            *end = 0;
            return Ok(());
        }
        Action::Print { .. } => "it writes to a file",
        Action::Printf { .. } | Action::Ls { .. } => "it writes something else than paths",
        Action::Execute(_) => "it runs commands",
        Action::Delete => "it changes files while they are iterated over",
    };
    let word = action.words.first().map(|word| word.to_string_lossy());
    Err(format!(
        "{} is for the program, not for a library: {why}",
        word.unwrap_or_default()
    ))
}
