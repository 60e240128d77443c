//! Checks of words that exclude each other.

use super::Refusal;
use super::parser::Parser;
use super::words::quoted;
use rustix::fs::{fstat, stat};
use std::ffi::OsStr;
use std::ops::Range;

/// Checks options and actions, after all words were read and before operators are looked at.
pub(super) fn predicates(parser: &Parser<'_>) -> Result<(), Refusal> {
    if parser.deletes && parser.prunes && !parser.depth_given {
        return Err(Refusal::wrong(
            "The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  If you \
want to carry on anyway, just explicitly use the -depth option.",
        ));
    }
    Ok(())
}

/// Checks `-files0-from`, after everything else.
pub(super) fn starting_points(parser: &Parser<'_>, paths: Range<usize>) -> Result<(), Refusal> {
    let Some(file) = &parser.options.files0_from else {
        return Ok(());
    };
    if let Some(path) = parser.words.all[paths].first() {
        return Err(Refusal::Wrong(vec![
            format!("extra operand {}", quoted(path)),
            "file operands cannot be combined with -files0-from".to_owned(),
        ]));
    }
    if !parser.asks {
        return Ok(());
    }
    if file == "-" {
        return Err(Refusal::wrong(
            "when -ok or -okdir is in use, the option -files0-from cannot also read from standard input",
        ));
    }
    if is_standard_input(file) {
        return Err(Refusal::wrong(format!(
            "when -ok or -okdir is in use, the option -files0-from cannot also read from standard input, but the file ({}) \
used for -files0-from appears to refer to the same file as the standard input",
            quoted(file)
        )));
    }
    Ok(())
}

fn is_standard_input(file: &OsStr) -> bool {
    match (fstat(std::io::stdin()), stat(file)) {
        (Ok(input), Ok(named)) => (input.st_dev, input.st_ino) == (named.st_dev, named.st_ino),
        _ => false,
    }
}
