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
mod tests {
    use super::super::error::Refused;
    use super::super::recorder::Recorder;
    use super::*;

    fn import(text: &[u8]) -> std::result::Result<Recorder, String> {
        let mut recorder = Recorder::default();
        match read(text, &mut recorder) {
            Ok(()) => Ok(recorder),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns a file with these entries in the directory at the top.
    fn file(entries: &str) -> String {
        let comma = if entries.is_empty() { "" } else { "," };
        format!("[1,2,{{}},\n[{{\"name\":\"/r\"}}{comma}{entries}]]")
    }

    fn fields(object: &str) -> Fields {
        let text = file(&format!("{{\"name\":\"x\",{object}}}"));
        import(text.as_bytes()).unwrap().fields[1]
    }

    #[test]
    fn the_tree_comes_in_preorder() {
        let text = file(r#"{"name":"a"},[{"name":"d"},[{"name":"e"}],{"name":"f"}],{"name":"g"}"#);
        let lines = import(text.as_bytes()).unwrap().lines;
        assert_eq!(lines, ["+/r", " -a", " +d", "  +e", "  -f", " -g"]);
    }

    #[test]
    fn every_field_is_read() {
        let all = fields(concat!(
            r#""asize":1,"dsize":512,"dev":18446744073709551615,"ino":18446744073709551615,"#,
            r#""nlink":3,"hlnkc":true,"notreg":true,"read_error":true,"excluded":"kernfs","#,
            r#""uid":4294967295,"gid":4294967294,"mode":65535,"mtime":5.25"#,
        ));
        let expected = Fields {
            asize: Some(1),
            dsize: Some(512),
            dev: Some(u64::MAX),
            ino: Some(u64::MAX),
            nlink: Some(3),
            hlnkc: true,
            notreg: true,
            read_error: true,
            excluded: Some(Excluded::KernelFileSystem),
            uid: Some(u32::MAX),
            gid: Some(u32::MAX - 1),
            mode: Some(0xffff),
            mtime: Some((5, 250_000_000)),
        };
        assert_eq!(all, expected);
    }

    #[test]
    fn words_of_exclusion_are_those_of_every_version() {
        for (word, excluded) in [
            ("otherfs", Excluded::OtherFileSystem),
            ("othfs", Excluded::OtherFileSystem),
            ("kernfs", Excluded::KernelFileSystem),
            ("frmlnk", Excluded::Firmlink),
            ("pattern", Excluded::Pattern),
            ("of the future", Excluded::Pattern),
        ] {
            let read = fields(&format!("\"excluded\":\"{word}\""));
            assert_eq!(read.excluded, Some(excluded), "{word}");
        }
    }

    #[test]
    fn unknown_fields_and_elements_are_ignored() {
        assert_eq!(
            fields(r#""new":[1,{"name":"y"}],"hlnkc":false"#),
            Fields::default()
        );
        let text = r#"[1,9999,{"progname":"ncdu","progver":"2.8","timestamp":7,"x":[]},
        [{"name":"/r"}],{"more":[]},5]"#;
        let header = import(text.as_bytes()).unwrap().header;
        assert_eq!(header.program.as_deref(), Some("ncdu"));
        assert_eq!(header.version.as_deref(), Some("2.8"));
        assert_eq!(header.timestamp, Some(7));
    }

    #[test]
    fn names_of_any_bytes_are_kept() {
        let mut text = file(r#"{"name":"\u0001\n\ud83d\ude00"},{"name":"?"}"#).into_bytes();
        let at = text.iter().position(|&byte| byte == b'?').unwrap();
        text[at] = 0xff;
        let lines = import(&text).unwrap().lines;
        assert_eq!(lines[1..], [r" -\x01\n\xf0\x9f\x98\x80", r" -\xff"]);
    }

    #[test]
    fn names_that_cannot_be_are_refused_with_their_place() {
        for (name, expected) in [
            (".", "'.' or '..'"),
            ("..", "'.' or '..'"),
            ("a/b", "slash"),
            ("a\\u0000b", "NUL"),
            ("", "empty"),
        ] {
            let error = import(file(&format!("\n{{\"name\":\"{name}\"}}")).as_bytes()).err();
            let error = error.unwrap();
            assert!(error.starts_with("line 3, column 9 (byte "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        let long = "n".repeat(NAME_MAX + 1);
        let error = import(file(&format!("{{\"name\":\"{long}\"}}")).as_bytes()).err();
        assert!(error.unwrap().contains("more than 32768 bytes"));
        assert!(import(file(&format!("{{\"name\":\"{}\"}}", &long[1..])).as_bytes()).is_ok());
    }

    #[test]
    fn other_documents_are_refused() {
        for (text, expected) in [
            ("", "line 1, column 1 (byte 0): the file ends too early"),
            ("{}", "expected '[', which begins ncdu's format"),
            (
                "[2,0,{},[{\"name\":\"/r\"}]]",
                "major version 2: expected 1",
            ),
            ("[1,0,{}]", "expected ','"),
            ("[1,0,[],[{\"name\":\"/r\"}]]", "expected '{'"),
            (
                "[1,0,{},{\"name\":\"/r\"}]",
                "the entry at the top must be a directory",
            ),
            ("[1,0,{},[]]", "expected '{'"),
            ("[1,0,{},[{}]]", "the entry has no name"),
            ("[1,0,{},[{\"name\":\"/r\",\"name\":\"/s\"}]]", "two names"),
            ("[1,0,{},[{\"name\":\"/r\"},]]", "expected '[' or '{'"),
            (
                "[1,0,{},[{\"name\":\"/r\"}]]x",
                "expected the end of the file",
            ),
            (
                "[1,0,{},[{\"name\":\"/r\",\"asize\":9223372036854775808}]]",
                "larger than",
            ),
            (
                "[1,0,{},[{\"name\":\"/r\",\"uid\":4294967296}]]",
                "larger than 4294967295",
            ),
        ] {
            let error = import(text.as_bytes()).err().unwrap();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_that_was_cut_off_is_refused_at_every_byte() {
        let text = file(r#"{"name":"a\u00e9","asize":12,"x":[{"y":null}]},[{"name":"d"}]"#);
        for end in 0..text.len() {
            let error = import(&text.as_bytes()[..end]).err().unwrap();
            let place = format!("(byte {end}): the file ends too early");
            assert!(error.contains(&place), "{end}: {error}");
        }
    }

    /// Counts directories and their ends.
    #[derive(Default)]
    struct Count {
        begun: usize,
        ended: usize,
    }

    impl Events for Count {
        type Error = String;

        fn header(&mut self, _: Header) {}

        fn begin_directory(
            &mut self,
            _: &[u8],
            _: &Fields,
        ) -> std::result::Result<(), Refused<String>> {
            self.begun += 1;
            Ok(())
        }

        fn file(&mut self, _: &[u8], _: &Fields) -> std::result::Result<(), Refused<String>> {
            Ok(())
        }

        fn end_directory(&mut self) -> std::result::Result<(), Refused<String>> {
            self.ended += 1;
            Ok(())
        }
    }

    #[test]
    fn nesting_of_directories_has_no_limit() {
        const LEVELS: usize = 200_000;
        let text = format!(
            "[1,0,{{}},{}{}]",
            vec!["[{\"name\":\"d\"}"; LEVELS].join(","),
            "]".repeat(LEVELS)
        );
        let mut count = Count::default();
        read(text.as_bytes(), &mut count).unwrap();
        assert_eq!((count.begun, count.ended), (LEVELS, LEVELS));
    }

    #[test]
    fn the_receiver_may_refuse_an_entry() {
        let text = file("\n{\"name\":\"a\"},\n{\"name\":\"b\"}");
        let mut recorder = Recorder::default();
        recorder.refuse = "b";
        let error = read(text.as_bytes(), &mut recorder)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("line 4, column 1 "), "{error}");
        assert!(error.ends_with("refused by the test"), "{error}");
    }
}
