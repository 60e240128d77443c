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
mod tests {
    use super::*;
    use std::io::{Read, Write, pipe};

    /// Returns the answers to so many questions, all read from one input, and the rest of the
    /// input.
    fn answers(text: &[u8], questions: usize) -> (Vec<bool>, Vec<u8>) {
        let (mut input, mut writer) = pipe().unwrap();
        let (mut shown, output) = pipe().unwrap();
        writer.write_all(text).unwrap();
        drop(writer);
        let answers = (0..questions)
            .map(|_| ask(b"< a ... b > ? ", &output, &input))
            .collect();
        drop(output);
        let (mut rest, mut questions_shown) = (Vec::new(), Vec::new());
        input.read_to_end(&mut rest).unwrap();
        shown.read_to_end(&mut questions_shown).unwrap();
        assert_eq!(questions_shown, b"< a ... b > ? ".repeat(questions));
        (answers, rest)
    }

    #[test]
    fn the_first_letter_of_a_line_counts() {
        let text = b" y\nY\nyes\nno\n\n\xd8\ny\xff\n\xffy\ny\0n\ny";
        let expected = [
            false, true, true, false, false, false, true, false, true, true, false, false,
        ];
        assert_eq!(answers(text, 12), (expected.to_vec(), Vec::new()));
    }

    #[test]
    fn nothing_beyond_the_line_is_read() {
        let (answers, rest) = answers(b"yes\nrest\nmore", 1);
        assert_eq!((answers, rest.as_slice()), (vec![true], &b"rest\nmore"[..]));
    }

    #[test]
    fn an_input_that_cannot_be_read_is_a_no() {
        let (_input, output) = pipe().unwrap();
        assert!(!ask(b"", &output, &output));
    }
}
