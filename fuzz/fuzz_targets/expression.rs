//! The parser of command lines on arbitrary words: each line of the input is one.
//!
//! The parser must not panic, and must end. A parsed expression is well formed: operators have
//! their operands, actions write to listed files, the nesting is limited, and exclusions hold no
//! actions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk::Timestamp;
use ringwalk_find::expression::Expression;
use ringwalk_find::parse::{Context, Refusal, parse_in};
use ringwalk_gnu::civil::Zone;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// The operators within one pair of parentheses: a list in an alternative in a conjunction in a
/// negation.
const MOST_LEVELS: usize = 4 * 257 + 2;

/// Checks an expression, and returns how deeply it is nested.
fn check(expression: &Expression, sinks: usize, may_act: bool) -> usize {
    match expression {
        Expression::Test(leaf) => {
            assert!(!leaf.words.is_empty());
            1
        }
        Expression::Action(leaf) => {
            assert!(may_act && !leaf.words.is_empty());
            if let Some(sink) = leaf.is.sink() {
                assert!(sink.0 < sinks);
            }
            1
        }
        Expression::Not(operand) => 1 + check(operand, sinks, may_act),
        Expression::And(operands) | Expression::Or(operands) | Expression::List(operands) => {
            assert!(operands.len() >= 2);
            let depths = operands
                .iter()
                .map(|operand| check(operand, sinks, may_act));
            1 + depths.max().unwrap_or(0)
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let words = input
        .split(|byte| *byte == b'\n')
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    let now = Timestamp {
        secs: 1_700_000_000,
        nanos: 1,
    };
    match parse_in(&Context::at(now, Zone::named("UTC0")), words) {
        Ok(command) => {
            assert_eq!(
                command.paths.is_empty(),
                command.options.files0_from.is_some()
            );
            assert!(check(&command.expression, command.sinks.len(), true) <= MOST_LEVELS);
            if let Some(exclude) = &command.exclude {
                assert!(check(exclude, command.sinks.len(), false) <= MOST_LEVELS);
            }
        }
        Err(Refusal::Wrong(messages)) => assert!(!messages.is_empty()),
        Err(Refusal::Help(text)) => assert!(!text.is_empty()),
        Err(Refusal::Version) => {}
    }
});
