use super::super::directive::EntryDirective;
use super::*;
use crate::format::Format;
use ringwalk::Fields;

/// What a format without files in it writes, and its warnings.
fn literal(format: &[u8]) -> (Vec<u8>, Vec<String>) {
    let mut warnings = Vec::new();
    let segments = compile(format, &mut warnings).unwrap();
    assert!(segments.len() < 2, "{segments:?}");
    let bytes = match segments.into_iter().next() {
        Some(Segment::Literal(bytes)) => bytes,
        None => Vec::new(),
        other => panic!("{other:?}"),
    };
    (bytes, warnings)
}

#[test]
fn escapes() {
    let seen: &[(&[u8], &[u8])] = &[
        (b"\\a\\b\\f\\n\\r\\t\\v\\\\", b"\x07\x08\x0c\n\r\t\x0b\\"),
        (b"\\0\\08\\1\\12\\1234", b"\0\08\x01\nS4"),
        (b"\\018\\777\\400", b"\x018\xff\0"),
        (b"ab\\cde%q", b"ab"),
        (b"%%%5%%-%", b"%%5%-"),
        (b"%-5%x", b"%-5x"),
        (b"", b""),
    ];
    for (format, bytes) in seen {
        assert_eq!(literal(format), (bytes.to_vec(), Vec::new()), "{format:?}");
    }
}

#[test]
fn oddities_are_written_as_they_stand_and_warned_of() {
    let directive = |of: &str| format!("warning: unrecognized format directive `%{of}'");
    let escape = |of: &str| format!("warning: unrecognized escape `\\{of}'");
    let nothing = || "warning: escape `\\' followed by nothing at all".to_owned();
    let another = |of: &str| {
        format!("warning: format directive `%{of}' should be followed by another character")
    };
    for (format, warnings) in [
        ("<%q>", vec![directive("q")]),
        ("%5.5.5p|", vec![directive(".")]),
        ("%-5.-3d|", vec![directive("-")]),
        ("%5 d|", vec![directive(" ")]),
        ("%0-5d|", vec![directive("-")]),
        ("%*d %1$d", vec![directive("*"), directive("$")]),
        ("\\q\\8\\x41", vec![escape("q"), escape("8"), escape("x")]),
        ("%\\", vec![directive("\\")]),
        ("abc\\", vec![nothing()]),
        ("a%5T", vec![another("T")]),
    ] {
        assert_eq!(literal(format.as_bytes()), (format.into(), warnings));
    }
    assert_eq!(literal(b"%\xff").1, [directive("\u{fffd}")]);
}

#[test]
fn refused() {
    let refusal = |format: &str| Format::parse(format.as_bytes(), &mut Vec::new()).unwrap_err();
    assert_eq!(refusal("a%"), "error: % at end of format string");
    for (format, letter) in [("%(", "("), ("%-5{x", "{"), ("%[", "["), ("a%5.2", "\0")] {
        assert_eq!(refusal(format), reserved(letter));
    }
    for format in ["%2147483647p", "%.99999999999999999999999d"] {
        assert!(refusal(format).ends_with(": Value too large for defined data type"));
    }
    assert!(Format::parse(b"%2147483646.2147483646p", &mut Vec::new()).is_ok());
}

#[test]
fn shapes() {
    let shaped = |text: &[u8]| shape(text);
    let (shape, used) = shaped(b"%-+ #012.34d");
    assert_eq!(used, 11);
    assert!(shape.left && shape.zero && shape.plus && shape.space && shape.alternate);
    assert_eq!((shape.width, shape.precision), (12, Some(34)));
    let (shape, used) = shaped(b"%5.p");
    assert_eq!((shape.width, shape.precision, used), (5, Some(0), 3));
}

#[test]
fn runs_are_merged() {
    let segments = compile(b"a\\n%%b%pc\\\\", &mut Vec::new()).unwrap();
    assert_eq!(
        segments,
        [
            Segment::Literal(b"a\n%b".to_vec()),
            Segment::Directive(EntryDirective::Path.into(), Shape::default()),
            Segment::Literal(b"c\\".to_vec()),
        ]
    );
}

#[test]
fn fields() {
    let fields = |format: &str| {
        let format = Format::parse(format.as_bytes(), &mut Vec::new());
        format.unwrap().fields()
    };
    assert_eq!(
        fields("%p %f %h %d %P %H %y %Y %l %Z\\n%%"),
        Fields::empty()
    );
    assert_eq!(fields("%s %T@ %p\\n"), Fields::SIZE | Fields::MTIME);
    assert_eq!(fields("%S"), Fields::SIZE | Fields::BLOCKS);
    assert_eq!(fields("%m"), Fields::MODE);
    assert_eq!(fields("%M"), Fields::MODE | Fields::TYPE);
    assert_eq!(fields("%a%c%t"), fields("%A@%Ck%T+"));
    assert_eq!(fields("%B@"), Fields::BTIME);
    assert_eq!(fields("%b"), fields("%k"));
    assert_eq!(fields("%u%g"), fields("%U%G"));
    assert_eq!(fields("%i%n"), Fields::INO | Fields::NLINK);
    assert!(!fields("%D").is_empty() && !fields("%F").is_empty());
    assert_eq!(fields("\\c%s"), Fields::empty());
}
