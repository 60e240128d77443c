use super::*;

#[test]
fn directives_from_metadata_ask_for_metadata() {
    let times = TIMES.map(|(_, time)| MetadataDirective::Strftime(time, b'Y').into());
    for directive in LETTERS.iter().map(|(_, directive)| *directive).chain(times) {
        let segment = Segment::Directive(directive, Shape::default());
        match directive {
            Directive::Entry(_) => assert!(segment.fields().is_empty(), "{directive:?}"),
            Directive::Metadata(_) => assert!(!segment.fields().is_empty(), "{directive:?}"),
        }
    }
}

#[test]
fn letters_are_there_once() {
    let mut letters: Vec<u8> = LETTERS.iter().map(|(letter, _)| *letter).collect();
    letters.extend(TIMES.map(|(letter, _)| letter));
    let all = letters.len();
    letters.sort_unstable();
    letters.dedup();
    assert_eq!(letters.len(), all);
}
