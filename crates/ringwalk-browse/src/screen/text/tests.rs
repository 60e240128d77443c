use super::*;
use proptest::prelude::*;

#[test]
fn names_that_command_terminals_are_escaped() {
    assert_eq!(safe(b"a\x1b[2Jb\n"), "a\\033[2Jb\\n");
    assert_eq!(safe("x\u{9b}m".as_bytes()), "x\\302\\233m");
    assert_eq!(safe(b"\x7f"), "\\177");
}

#[test]
fn names_that_mislead_are_escaped() {
    assert_eq!(safe("gnp\u{202e}exe".as_bytes()), "gnp\\342\\200\\256exe");
    assert_eq!(safe("a\u{200b}b".as_bytes()), "a\\342\\200\\213b");
    assert_eq!(safe("a\u{a0}b".as_bytes()), "a\\302\\240b");
    // A joiner would make one picture of several.
    assert!(safe("\u{1f468}\u{200d}\u{1f469}".as_bytes()).contains("\\342\\200\\215"));
    assert!(safe("\u{2764}\u{fe0f}".as_bytes()).contains("\\357\\270\\217"));
}

#[test]
fn bytes_that_are_not_text_are_escaped() {
    assert_eq!(safe(b"a\xffb\xc3"), "a\\377b\\303");
}

#[test]
fn letters_of_the_world_stay() {
    for name in [
        "tête",
        "te\u{302}te",
        "漢字",
        "한글",
        "\u{1112}\u{1161}\u{11ab}",
        "ภาษาไทย",
        "🎉",
    ] {
        assert_eq!(safe(name.as_bytes()), name);
    }
}

#[test]
fn marks_without_a_letter_and_piles_of_marks_are_escaped() {
    assert!(safe("\u{301}a".as_bytes()).starts_with("\\314\\201a"));
    let pile = format!("a{}", "\u{301}".repeat(20));
    assert_eq!(safe(pile.as_bytes()).matches('\u{301}').count(), 4);
    // A mark behind an escape has no letter either.
    assert_eq!(safe(b"\xff\xcc\x81"), "\\377\\314\\201");
}

#[test]
fn cut_texts_say_so() {
    assert_eq!(fit("abcdef", 6), "abcdef");
    assert_eq!(fit("abcdef", 5), "abcd~");
    assert_eq!(fit("漢字漢", 5), "漢字~");
    assert_eq!(fit("漢字漢", 4), "漢~");
    assert_eq!(fit("abc", 0), "");
    assert_eq!(fit_end("abcdef", 4), "~def");
    assert_eq!(fit_end("xe\u{301}e\u{301}", 2), "~e\u{301}");
    assert_eq!(padded("漢字漢", 4), "漢~ ");
    assert_eq!(padded_left("12", 4), "  12");
}

#[test]
fn long_lines_are_wrapped() {
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(wrapped("", 3), [""]);
}

proptest! {
    #[test]
    fn safe_names_fit_and_hold_nothing_special(
        name in prop::collection::vec(any::<u8>(), 0..40),
        text in ".{0,20}",
        most in 0usize..30,
    ) {
        for name in [name.as_slice(), text.as_bytes()] {
            let safe = safe(name);
            prop_assert!(safe.chars().all(is_plain));
            for cut in [fit(&safe, most), fit_end(&safe, most)] {
                prop_assert!(columns(&cut) <= most, "{cut:?}");
            }
            prop_assert_eq!(columns(&padded(&safe, most)), most);
            for line in wrapped(&safe, most + 2) {
                prop_assert!(columns(&line) <= most + 2, "{line:?}");
            }
        }
    }
}
