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
mod tests;
