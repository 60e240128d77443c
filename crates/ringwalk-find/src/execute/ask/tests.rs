use super::*;
use std::io::{Read, Write, pipe};

/// Returns the answers to so many questions, all read from one input, and the rest of the input.
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
