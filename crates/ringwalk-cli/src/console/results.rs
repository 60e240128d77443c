//! Results in lines, in which names of any bytes may stand.

use super::{stdout_is_terminal, write};
use ringwalk::shown::lines;
use std::io::{self, Write};

/// Standard output, for lines of results. A pipe or a file gets them as they are. On a terminal,
/// control characters in them are escaped, bytes that are not UTF-8 are replaced, and CR LF becomes
/// LF.
///
/// The text behind the last line break is written by `flush` only.
#[derive(Debug)]
pub struct Results {
    is_terminal: bool,
    /// The begin of a line, for a terminal.
    line: Vec<u8>,
}

impl Results {
    /// Returns standard output.
    pub fn of_stdout() -> Self {
        Self {
            is_terminal: stdout_is_terminal(),
            line: Vec::new(),
        }
    }
}

impl Write for Results {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_terminal {
            // A character may be cut at the end of `bytes`, but no line break lies within one.
            self.line.extend_from_slice(bytes);
            let end = self.line.iter().rposition(|byte| *byte == b'\n');
            if let Some(end) = end {
                let rest = self.line.split_off(end + 1);
                write(&shown(&std::mem::replace(&mut self.line, rest)))?;
            }
        } else {
            write(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            return Ok(());
        }
        write(&shown(&std::mem::take(&mut self.line)))
    }
}

/// Returns whole lines as a terminal may get them.
fn shown(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    lines(text).into_owned().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_before_they_are_shown() {
        let mut results = Results {
            is_terminal: true,
            line: Vec::new(),
        };
        // The parts of a character.
        for part in [&b"a\xc3"[..], b"\xa9\x1b", b"b\xc2"] {
            assert_eq!(results.write(part).unwrap(), part.len());
        }
        assert_eq!(results.line, b"a\xc3\xa9\x1bb\xc2");
        assert_eq!(shown(&results.line), "aé\\033b\u{fffd}".as_bytes());
    }

    #[test]
    fn control_characters_of_all_kinds_are_escaped() {
        let text = b"a\x1b]0;x\x07\x7f\xc2\x9b\x9b\tb\r\nc\rd\n";
        let expected = "a\\033]0;x\\a\\177\\302\\233\u{fffd}\tb\nc\\rd\n";
        assert_eq!(String::from_utf8(shown(text)).unwrap(), expected);
    }
}
