//! Keys from the terminal.

use crate::keys::Key;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// The rest of a sequence that a key sends arrives within this time, also over a slow connection.
const REST: Duration = Duration::from_millis(50);

/// What the terminal has sent.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// Bytes that are not applied yet.
    bytes: Vec<u8>,
}

impl Input {
    /// Returns true if no key waits.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Waits until the terminal has input, a signal comes, or the time is over. Takes the input.
    ///
    /// # Errors
    ///
    /// If the terminal is gone.
    pub(super) fn wait(&mut self, pause: Duration) -> io::Result<()> {
        self.take_within(pause, io::stdin().as_fd()).map(drop)
    }

    /// Returns false if nothing has come.
    fn take_within(&mut self, pause: Duration, terminal: BorrowedFd<'_>) -> io::Result<bool> {
        if !is_ready(terminal, pause)? {
            return Ok(false);
        }
        let mut bytes = [0; 1024];
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) | Err(Errno::IO) => Err(gone()),
            Ok(length) => {
                self.bytes.extend_from_slice(&bytes[..length]);
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the rest of a sequence, also if signals come meanwhile. Returns false if nothing
    /// has come.
    fn take_rest(&mut self, terminal: BorrowedFd<'_>) -> io::Result<bool> {
        let end = Instant::now() + REST;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if self.take_within(left, terminal)? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// Returns the next key that has arrived.
    ///
    /// # Errors
    ///
    /// If the terminal is gone.
    pub(super) fn next_key(&mut self) -> io::Result<Option<Key>> {
        self.next_key_from(io::stdin().as_fd())
    }

    fn next_key_from(&mut self, terminal: BorrowedFd<'_>) -> io::Result<Option<Key>> {
        while !self.bytes.is_empty() {
            let (mut key, mut length) = first_key(&self.bytes);
            if length == 0 {
                if self.take_rest(terminal)? {
                    continue;
                }
                // Nothing follows. So it was the key Esc, or a sequence that no key sends.
                key = (self.bytes == [ESCAPE]).then_some(Key::Escape);
                length = self.bytes.len();
            }
            self.bytes.drain(..length);
            if key.is_some() {
                return Ok(key);
            }
        }
        Ok(None)
    }
}

fn is_ready(terminal: BorrowedFd<'_>, pause: Duration) -> io::Result<bool> {
    let mut polled = [PollFd::new(&terminal, PollFlags::IN)];
    let limit = Timespec::try_from(pause).ok();
    match poll(&mut polled, limit.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let state = polled[0].revents();
    if state.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(gone());
    }
    Ok(state.contains(PollFlags::IN))
}

fn gone() -> io::Error {
    io::Error::other("the terminal is gone")
}

const ESCAPE: u8 = 0x1b;

/// Returns the first key, and how many bytes it has. The key is `None` where it has no meaning
/// here. The length is 0 where the end of a sequence is missing.
fn first_key(bytes: &[u8]) -> (Option<Key>, usize) {
    match bytes {
        [ESCAPE] | [ESCAPE, b'O'] => (None, 0),
        [ESCAPE, ESCAPE, ..] => (Some(Key::Escape), 1),
        [ESCAPE, b'O', last, ..] => (cursor_key(*last), 3),
        [ESCAPE, b'[', rest @ ..] => {
            let (key, length) = control_sequence(rest);
            (key, if length == 0 { 0 } else { length + 2 })
        }
        // Alt and a key is no key of the table. Without this it would act as the key.
        [ESCAPE, rest @ ..] => match character(rest) {
            (_, 0) => (None, 0),
            (_, length) => (None, length + 1),
        },
        [b'\r', ..] => (Some(Key::Enter), 1),
        [0x7f, ..] => (Some(Key::Backspace), 1),
        [b'\t' | 0, ..] => (None, 1),
        [byte @ 1..=26, ..] => (Some(Key::Ctrl(char::from(byte - 1 + b'a'))), 1),
        [0..=31, ..] => (None, 1),
        _ => {
            let (character, length) = character(bytes);
            (character.map(Key::Char), length)
        }
    }
}

/// Reads what follows CSI (ECMA-48): parameters, and a final byte.
fn control_sequence(bytes: &[u8]) -> (Option<Key>, usize) {
    // The console of Linux sends ESC [ [ and a letter for its first function keys.
    let begin = usize::from(bytes.first() == Some(&b'['));
    let is_final = |byte: &u8| (0x40..0x7f).contains(byte);
    let Some(end) = bytes[begin..].iter().position(is_final) else {
        return (None, 0);
    };
    let end = begin + end;
    let number = bytes[..end].split(|byte| *byte == b';').next();
    let key = match (bytes[end], number) {
        _ if begin > 0 => None,
        (b'~', Some(b"1" | b"7")) => Some(Key::Home),
        (b'~', Some(b"3")) => Some(Key::Delete),
        (b'~', Some(b"4" | b"8")) => Some(Key::End),
        (b'~', Some(b"5")) => Some(Key::PageUp),
        (b'~', Some(b"6")) => Some(Key::PageDown),
        (last, _) => cursor_key(last),
    };
    (key, end + 1)
}

fn cursor_key(last: u8) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        _ => return None,
    })
}

/// Returns the first character and its length. Bytes that are not UTF-8 are none.
fn character(bytes: &[u8]) -> (Option<char>, usize) {
    let bytes = &bytes[..bytes.len().min(4)];
    let valid = match str::from_utf8(bytes) {
        Ok(valid) => valid,
        Err(error) if error.valid_up_to() > 0 => {
            // The bytes up to there are UTF-8.
            str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        // The length is `None` if the rest of the character is missing.
        Err(error) => return (None, error.error_len().unwrap_or(0)),
    };
    let first = valid.chars().next();
    (first, first.map_or(0, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &[u8]) -> Vec<Key> {
        let mut input = Input {
            bytes: text.to_vec(),
        };
        let mut keys = Vec::new();
        while first_key(&input.bytes).1 > 0 {
            keys.extend(input.next_key().unwrap());
        }
        assert!(input.is_empty(), "{:?}", input.bytes);
        keys
    }

    #[test]
    fn characters() {
        let expected = ['a', 'Z', 'é', '漢', '\u{1f600}', ' ', '<'].map(Key::Char);
        assert_eq!(keys("aZé漢\u{1f600} <".as_bytes()), expected);
        assert_eq!(
            keys(b"\x06\x03\r\x7f\x08\n"),
            [
                Key::Ctrl('f'),
                Key::Ctrl('c'),
                Key::Enter,
                Key::Backspace,
                Key::Ctrl('h'),
                Key::Ctrl('j'),
            ]
        );
        assert_eq!(keys(b"\xffa\xc3(\0\t\x1fb"), ['a', '(', 'b'].map(Key::Char));
    }

    #[test]
    fn sequences() {
        let cursor = [
            Key::Up,
            Key::Down,
            Key::Right,
            Key::Left,
            Key::End,
            Key::Home,
        ];
        assert_eq!(keys(b"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[F\x1b[H"), cursor);
        assert_eq!(keys(b"\x1bOA\x1bOB\x1bOC\x1bOD\x1bOF\x1bOH"), cursor);
        assert_eq!(
            keys(b"\x1b[1~\x1b[7~\x1b[3~\x1b[4~\x1b[8~\x1b[5~\x1b[6~"),
            [
                Key::Home,
                Key::Home,
                Key::Delete,
                Key::End,
                Key::End,
                Key::PageUp,
                Key::PageDown,
            ]
        );
        // With Ctrl or Shift.
        assert_eq!(keys(b"\x1b[1;5A\x1b[5;2~"), [Key::Up, Key::PageUp]);
    }

    #[test]
    fn keys_without_a_meaning_are_left_out() {
        // F1 in three ways, F5, Insert, Shift-Tab, Alt-q, Alt-é, the focus.
        let others = "\x1bOP\x1b[[A\x1b[11~\x1b[15~\x1b[2~\x1b[Z\x1bq\x1bé\x1b[I";
        assert_eq!(keys(format!("{others}x").as_bytes()), [Key::Char('x')]);
        assert_eq!(keys(b"\x1b\x1b[A"), [Key::Escape, Key::Up]);
    }

    #[test]
    fn the_rest_of_a_sequence_is_awaited() {
        for begin in ["\x1b", "\x1bO", "\x1b[", "\x1b[1;", "\x1b[["] {
            assert_eq!(first_key(begin.as_bytes()), (None, 0), "{begin:?}");
        }
        assert_eq!(first_key(&"漢".as_bytes()[..2]), (None, 0));
        assert_eq!(first_key(b"\x1b\xe6"), (None, 0));
        // The rest has arrived, and was not read with the beginning.
        let (terminal, keyboard) = std::io::pipe().unwrap();
        let mut input = Input::default();
        for (begin, rest, key) in [
            ("\x1b", "[A", Some(Key::Up)),
            ("\x1b[", "3~", Some(Key::Delete)),
            ("\x1b", "", Some(Key::Escape)),
            ("\x1b[", "", None),
        ] {
            input.bytes.extend_from_slice(begin.as_bytes());
            std::io::Write::write_all(&mut &keyboard, rest.as_bytes()).unwrap();
            assert_eq!(
                input.next_key_from(terminal.as_fd()).unwrap(),
                key,
                "{begin:?}"
            );
            assert!(input.is_empty());
        }
    }
}
