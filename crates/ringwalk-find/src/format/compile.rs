//! The parser of formats.

use super::directive::{Directive, MetadataDirective, Segment, Shape};
use ringwalk_gnu::{quote, reason};
use rustix::io::Errno;

/// The least width or precision that does not fit in the type in which C's printf counts bytes.
const TOO_WIDE: usize = i32::MAX as usize;

struct Compiler<'a> {
    rest: &'a [u8],
    literal: Vec<u8>,
    segments: Vec<Segment>,
    warnings: &'a mut Vec<String>,
}

/// Compiles `format`. Appends warnings to `warnings`.
pub(super) fn compile(format: &[u8], warnings: &mut Vec<String>) -> Result<Vec<Segment>, String> {
    let mut compiler = Compiler {
        rest: format,
        literal: Vec::new(),
        segments: Vec::new(),
        warnings,
    };
    while let Some(at) = memchr::memchr2(b'\\', b'%', compiler.rest) {
        let begins = compiler.rest[at];
        compiler.take_literal(at);
        if begins == b'%' {
            compiler.directive()?;
        } else if compiler.escape() {
            compiler.rest = b"";
        }
    }
    compiler.take_literal(compiler.rest.len());
    compiler.end_literal();
    Ok(compiler.segments)
}

impl Compiler<'_> {
    /// Takes the next `length` bytes literally.
    fn take_literal(&mut self, length: usize) {
        let (head, tail) = self.rest.split_at(length);
        self.literal.extend_from_slice(head);
        self.rest = tail;
    }

    fn end_literal(&mut self) {
        if !self.literal.is_empty() {
            let literal = std::mem::take(&mut self.literal);
            self.segments.push(Segment::Literal(literal));
        }
    }

    fn warn(&mut self, message: String) {
        self.warnings.push(message);
    }

    /// Reads an escape after a backslash. Returns true if the output ends there.
    fn escape(&mut self) -> bool {
        let Some(&letter) = self.rest.get(1) else {
            self.warn("warning: escape `\\' followed by nothing at all".to_owned());
            self.take_literal(1);
            return false;
        };
        let byte = match letter {
            b'a' => 7,
            b'b' => 8,
            b'c' => return true,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' => b'\\',
            b'0'..=b'7' => return self.octal(),
            _ => {
                let letter = String::from_utf8_lossy(&self.rest[1..2]);
                self.warn(format!("warning: unrecognized escape `\\{letter}'"));
                self.take_literal(2);
                return false;
            }
        };
        self.literal.push(byte);
        self.rest = &self.rest[2..];
        false
    }

    /// Reads up to three octal digits. If they have more than eight bits, the low eight bits count.
    fn octal(&mut self) -> bool {
        let digits = self.rest[1..].iter().take(3);
        let digits = digits.take_while(|digit| matches!(digit, b'0'..=b'7'));
        let mut length = 1;
        let mut byte = 0_u8;
        for digit in digits {
            byte = (byte << 3) | (digit - b'0');
            length += 1;
        }
        self.literal.push(byte);
        self.rest = &self.rest[length..];
        false
    }

    /// Reads a directive after a percent sign.
    fn directive(&mut self) -> Result<(), String> {
        let (shape, used) = shape(self.rest);
        let Some(&letter) = self.rest.get(used) else {
            return Err(if used == 1 {
                "error: % at end of format string".to_owned()
            } else {
                reserved("\0")
            });
        };
        match letter {
            // The flags and the width between the two are written too.
            b'%' => {
                self.take_literal(used);
                self.rest = &self.rest[1..];
                return Ok(());
            }
            b'(' | b'[' | b'{' => {
                return Err(reserved(char::from(letter).encode_utf8(&mut [0; 4])));
            }
            _ => {}
        }
        let (directive, length) = if let Some(time) = Directive::time(letter) {
            let Some(&conversion) = self.rest.get(used + 1) else {
                let letter = char::from(letter);
                self.warn(format!(
                    "warning: format directive `%{letter}' should be followed by another character"
                ));
                self.take_literal(used + 1);
                return Ok(());
            };
            (
                MetadataDirective::Strftime(time, conversion).into(),
                used + 2,
            )
        } else if let Some(directive) = Directive::from_letter(letter) {
            (directive, used + 1)
        } else {
            let letter = String::from_utf8_lossy(&self.rest[used..=used]);
            self.warn(format!(
                "warning: unrecognized format directive `%{letter}'"
            ));
            self.take_literal(used + 1);
            return Ok(());
        };
        if shape.width >= TOO_WIDE || shape.precision.is_some_and(|digits| digits >= TOO_WIDE) {
            let output = quote::value(b"standard output");
            return Err(format!("{output}: {}", reason(&Errno::OVERFLOW.into())));
        }
        self.end_literal();
        self.segments.push(Segment::Directive(directive, shape));
        self.rest = &self.rest[length..];
        Ok(())
    }
}

fn reserved(letter: &str) -> String {
    format!("error: the format directive `%{letter}' is reserved for future use")
}

/// Reads flags, width and precision after a percent sign. Also returns their length with the sign.
fn shape(text: &[u8]) -> (Shape, usize) {
    let mut shape = Shape::default();
    let mut at = 1;
    while let Some(flag) = text.get(at) {
        match flag {
            b'-' => shape.left = true,
            b'+' => shape.plus = true,
            b' ' => shape.space = true,
            b'#' => shape.alternate = true,
            _ => break,
        }
        at += 1;
    }
    // GNU find reads zeros as a part of the width, so no other flag may follow one.
    shape.zero = text.get(at) == Some(&b'0');
    (shape.width, at) = number(text, at);
    if text.get(at) == Some(&b'.') {
        let (precision, end) = number(text, at + 1);
        shape.precision = Some(precision);
        at = end;
    }
    (shape, at)
}

/// Returns the number at `at`, 0 if there is none, and the position after it.
fn number(text: &[u8], mut at: usize) -> (usize, usize) {
    let mut number = 0_usize;
    while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        number = number
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'));
        at += 1;
    }
    (number, at)
}

#[cfg(test)]
mod tests {
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
}
