//! The question before `-ok`, and its answer.

use ringwalk_gnu::terminal_safe;
use rustix::io::{Errno, read, write};
use rustix::termios::isatty;
use std::os::fd::AsFd;

/// Writes `question` to `output` and reads a line from `input`. Returns true if the line begins
/// with `y` or `Y`, as in the C locale. The end of the input, and an input that cannot be read,
/// count as no.
///
/// Reads nothing beyond the line, so that a later reader of the same input finds all the rest. The
/// question names a file: a terminal gets it in the form of [`terminal_safe`].
pub fn ask(question: &[u8], output: impl AsFd, input: impl AsFd) -> bool {
    if isatty(&output) {
        let mut safe = Vec::with_capacity(question.len());
        terminal_safe(question, &mut safe);
        write_all(&safe, output);
    } else {
        write_all(question, output);
    }
    let mut first = None;
    while let Some(byte) = read_byte(&input) {
        first.get_or_insert(byte);
        if byte == b'\n' {
            break;
        }
    }
    matches!(first, Some(b'y' | b'Y'))
}

/// A question that cannot be written can still be answered: the answer may come from a file.
fn write_all(mut text: &[u8], output: impl AsFd) {
    while !text.is_empty() {
        match write(&output, text) {
            Ok(0) => return,
            Ok(length) => text = &text[length..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn read_byte(input: impl AsFd) -> Option<u8> {
    let mut byte = [0];
    loop {
        match read(&input, &mut byte) {
            Ok(0) => return None,
            Ok(_) => return Some(byte[0]),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests;
