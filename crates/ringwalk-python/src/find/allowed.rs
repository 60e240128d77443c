//! The part of find's language that a library supports: tests, `-print`, `-print0`, `-prune` and
//! `-quit`.
//!
//! An iterator returns the paths. So this module refuses actions that write something else (`-ls`,
//! `-printf`) or elsewhere (`-fprint`), that change files during the iteration (`-delete`,
//! `-exec`), or that use a terminal. Python code acts on the files instead.

use ringwalk_find::Command;
use ringwalk_find::Expression;
use ringwalk_find::expression::{Action, Leaf, Sink};

/// Returns the same command, with paths that end with NUL, which no path has.
///
/// # Errors
///
/// The message, if the command has something that a library does not do.
pub(super) fn paths_only(mut command: Command) -> Result<Command, String> {
    if !command.options.debug.is_empty() {
        return Err("-D is for the program: it writes to standard error".to_owned());
    }
    if command.options.files0_from.is_some() {
        return Err("-files0-from is for the program: call find once for each path".to_owned());
    }
    // A path with colours is no path.
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
        // No word stands for it.
        Action::Found => "it passes files to a program",
    };
    let word = action.words.first().map(|word| word.to_string_lossy());
    Err(format!(
        "{} is for the program, not for a library: {why}",
        word.unwrap_or_default()
    ))
}
