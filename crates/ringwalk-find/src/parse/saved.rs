//! Words that a saved tree (`--from`) cannot answer.

use super::Refusal;
use crate::expression::{Action, CallTest, Command, Expression, Leaf, Test};
use crate::saved::SavedSearch;
use ringwalk::{Fields, Follow};
use std::ffi::OsString;

/// Why a word is refused.
const NEEDS_FILES: &str = "a snapshot describes files, it does not hold them";
const NEEDS_LINKS: &str = "links in a snapshot cannot be followed";
const NEEDS_LABELS: &str = "a snapshot has no security contexts";
const NEEDS_NAMES: &str = "the snapshot has no names of users and groups, or not all of them";
const NEEDS_TYPES: &str = "the snapshot does not have the types of all file systems";

/// Refuses a command on a saved tree if it asks for anything that the tree does not hold.
pub(super) fn check(command: &Command) -> Result<(), Refusal> {
    let Some(saved) = &command.saved else {
        return Ok(());
    };
    if command.follow == Follow::Always {
        return Err(refusal("-L", NEEDS_LINKS));
    }
    let mut refused = None;
    let parts = command.exclude.iter().chain([&command.expression]);
    parts.for_each(|part| find(part, saved, &mut refused));
    refused.map_or(Ok(()), Err)
}

/// Refuses a word that needs names of users or groups.
pub(super) fn no_names(word: &str) -> Refusal {
    refusal(word, NEEDS_NAMES)
}

fn refusal(word: &str, why: &str) -> Refusal {
    Refusal::wrong(format!("`{word}' cannot be used with --from: {why}"))
}

/// Finds the first part of an expression that is refused.
fn find(expression: &Expression, saved: &SavedSearch, refused: &mut Option<Refusal>) {
    if refused.is_some() {
        return;
    }
    let mut of_leaf = |words: &[OsString], why: Option<&str>, fields: Fields| {
        let word = words.first().map(|word| word.to_string_lossy());
        let word = word.as_deref().unwrap_or_default();
        let lacks = || Some(format!("the snapshot has no {}", saved.missing(fields)?));
        *refused = why
            .map(str::to_owned)
            .or_else(lacks)
            .map(|why| refusal(word, &why));
    };
    match expression {
        Expression::Test(Leaf { is, words }) => {
            of_leaf(words, why_test(is, saved), is.profile().fields);
        }
        Expression::Action(Leaf { is, words }) => {
            of_leaf(words, why_action(is), is.profile().fields);
        }
        Expression::Not(operand) => find(operand, saved, refused),
        Expression::And(operands) | Expression::Or(operands) | Expression::List(operands) => {
            for operand in operands {
                find(operand, saved, refused);
            }
        }
    }
}

fn why_test(test: &Test, saved: &SavedSearch) -> Option<&'static str> {
    let Test::Call(test) = test else {
        return None;
    };
    match test {
        CallTest::Access(_) => Some(NEEDS_FILES),
        CallTest::XType(_) => Some(NEEDS_LINKS),
        CallTest::Context(_) => Some(NEEDS_LABELS),
        CallTest::NoUser | CallTest::NoGroup => (!saved.knows_names).then_some(NEEDS_NAMES),
        CallTest::FileSystem(_) => (!saved.knows_types).then_some(NEEDS_TYPES),
        CallTest::LinkName(_) | CallTest::Empty | CallTest::Elsewhere => None,
    }
}

fn why_action(action: &Action) -> Option<&'static str> {
    match action {
        Action::Execute(_) | Action::Delete => Some(NEEDS_FILES),
        Action::Printf { format, .. } if format.asks_target() => Some(NEEDS_LINKS),
        Action::Printf { format, .. } if format.asks_context() => Some(NEEDS_LABELS),
        Action::Print { .. }
        | Action::Printf { .. }
        | Action::Ls { .. }
        | Action::Found
        | Action::Prune
        | Action::Quit => None,
    }
}
