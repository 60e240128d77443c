//! ncdu's JSON, read (<https://dev.yorhel.nl/ncdu/jsonfmt>).
//!
//! `[1, minor, {metadata}, directory]`. A directory is an array of its own object and its entries,
//! an entry is a directory or an object. Unknown fields and further elements are ignored, as the
//! format asks. Reads as a stream: memory does not depend on the file.

use std::io::Read;

use super::error::ImportError;
use super::item::{Events, Excluded, Fields, Header, NAME_MAX, check_name};
use super::scanner::Scanner;

/// Largest version number that the format allows.
const VERSION_MAX: u64 = 10_000;
/// Longest path of the directory at the top, in bytes.
const PATH_MAX: usize = 1024 * 1024;
/// Longest key or word that is looked at. A longer one is unknown.
const WORD_MAX: usize = 1024;

type Result<T, E> = std::result::Result<T, ImportError<E>>;

/// Reads all of `input` and passes its entries to `events`.
///
/// # Errors
///
/// If the input cannot be read, is not in this format, or is refused by `events`.
pub fn read<R: Read, E: Events>(input: R, events: &mut E) -> Result<(), E::Error> {
    let mut reader = Reader {
        scanner: Scanner::new(input),
        events,
        name: Vec::new(),
        key: Vec::new(),
    };
    reader.document()
}

struct Reader<'a, R, E: Events> {
    scanner: Scanner<R, E::Error>,
    events: &'a mut E,
    /// The name of the entry that is read, and the key or word that was read last.
    name: Vec<u8>,
    key: Vec<u8>,
}

impl<R: Read, E: Events> Reader<'_, R, E> {
    fn document(&mut self) -> Result<(), E::Error> {
        self.scanner
            .one_of(b"[", "'[', which begins ncdu's format")?;
        self.scanner.token()?;
        let place = self.scanner.place();
        let major = self.scanner.number(VERSION_MAX)?;
        if major != 1 {
            let message = format!("the format has major version {major}: expected 1");
            return Err(ImportError::content(place, message));
        }
        self.comma()?;
        self.scanner.number(VERSION_MAX)?;
        self.comma()?;
        let header = self.metadata()?;
        self.events.header(header);
        self.comma()?;
        self.tree()?;
        while self.scanner.one_of(b",]", "',' or ']'")? == b',' {
            self.scanner.skip()?;
        }
        self.scanner.end()
    }

    fn comma(&mut self) -> Result<(), E::Error> {
        self.scanner.one_of(b",", "','").map(drop)
    }

    fn metadata(&mut self) -> Result<Header, E::Error> {
        let mut header = Header::default();
        self.scanner.one_of(b"{", "'{'")?;
        let mut begins = true;
        while self.key(&mut begins)? {
            let first = self.scanner.token()?;
            let string = first == Some(b'"');
            let number = first.is_some_and(|byte| byte == b'-' || byte.is_ascii_digit());
            match self.key.as_slice() {
                b"progname" if string => header.program = Some(self.text()?),
                b"progver" if string => header.version = Some(self.text()?),
                b"timestamp" if number => header.timestamp = Some(self.scanner.time()?.0),
                _ => self.scanner.skip()?,
            }
        }
        Ok(header)
    }

    fn text(&mut self) -> Result<String, E::Error> {
        self.scanner.string(&mut self.key, WORD_MAX)?;
        Ok(String::from_utf8_lossy(&self.key).into_owned())
    }

    /// Reads the next key of an object and the colon. Returns false at the end of the object.
    fn key(&mut self, first: &mut bool) -> Result<bool, E::Error> {
        if std::mem::take(first) {
            if self.scanner.token()? != Some(b'}') {
                self.key_string()?;
                return Ok(true);
            }
            self.scanner.one_of(b"}", "'}'")?;
            return Ok(false);
        }
        if self.scanner.one_of(b",}", "',' or '}'")? == b'}' {
            return Ok(false);
        }
        self.key_string()?;
        Ok(true)
    }

    fn key_string(&mut self) -> Result<(), E::Error> {
        self.scanner.string(&mut self.key, WORD_MAX)?;
        self.scanner.one_of(b":", "':'").map(drop)
    }

    /// Reads the directory at the top and everything below it.
    fn tree(&mut self) -> Result<(), E::Error> {
        if self.scanner.token()? == Some(b'{') {
            return self
                .scanner
                .fail("expected '[': the entry at the top must be a directory");
        }
        let mut depth = 0u64;
        loop {
            self.scanner.token()?;
            let place = self.scanner.place();
            if self.scanner.one_of(b"[{", "'[' or '{'")? == b'[' {
                self.scanner.one_of(b"{", "'{'")?;
                let fields = self.fields(depth == 0)?;
                self.events
                    .begin_directory(&self.name, &fields)
                    .map_err(|refused| ImportError::refused(place, refused))?;
                depth += 1;
            } else {
                let fields = self.fields(false)?;
                self.events
                    .file(&self.name, &fields)
                    .map_err(|refused| ImportError::refused(place, refused))?;
            }
            while self.scanner.one_of(b",]", "',' or ']'")? == b']' {
                self.events
                    .end_directory()
                    .map_err(|refused| ImportError::refused(self.scanner.place(), refused))?;
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            }
        }
    }

    /// Reads the rest of an entry's object after its brace. The name is in `self.name`.
    fn fields(&mut self, top: bool) -> Result<Fields, E::Error> {
        let mut fields = Fields::default();
        let place = self.scanner.place();
        let (mut first, mut named) = (true, false);
        while self.key(&mut first)? {
            if self.key == b"name" {
                self.scanner.token()?;
                let place = self.scanner.place();
                if named {
                    return Err(ImportError::content(place, "the entry has two names"));
                }
                named = true;
                let limit = if top { PATH_MAX } else { NAME_MAX };
                self.scanner.string(&mut self.name, limit)?;
                check_name(&self.name, top)
                    .map_err(|message| ImportError::content(place, message))?;
            } else {
                self.field(&mut fields)?;
            }
        }
        if !named {
            return Err(ImportError::content(place, "the entry has no name"));
        }
        Ok(fields)
    }

    /// Reads the value of the field that `self.key` names.
    fn field(&mut self, fields: &mut Fields) -> Result<(), E::Error> {
        let scanner = &mut self.scanner;
        match self.key.as_slice() {
            b"asize" => fields.asize = Some(scanner.number(u64::MAX >> 1)?),
            b"dsize" => fields.dsize = Some(scanner.number(u64::MAX >> 1)?),
            b"dev" => fields.dev = Some(scanner.number(u64::MAX)?),
            b"ino" => fields.ino = Some(scanner.number(u64::MAX)?),
            b"nlink" => fields.nlink = Some(narrow(scanner.number(u32::MAX.into())?)),
            b"uid" => fields.uid = Some(narrow(scanner.number(u32::MAX.into())?)),
            b"gid" => fields.gid = Some(narrow(scanner.number(u32::MAX.into())?)),
            b"mode" => fields.mode = u16::try_from(scanner.number(u16::MAX.into())?).ok(),
            b"mtime" => fields.mtime = Some(scanner.time()?),
            b"hlnkc" => fields.hlnkc = scanner.boolean()?,
            b"notreg" => fields.notreg = scanner.boolean()?,
            b"read_error" => fields.read_error = scanner.boolean()?,
            b"excluded" => {
                scanner.string(&mut self.key, WORD_MAX)?;
                fields.excluded = Some(Excluded::of_word(&self.key));
            }
            _ => scanner.skip()?,
        }
        Ok(())
    }
}

/// Returns a number that was read with the limit of 32 bits.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
