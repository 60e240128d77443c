//! Files of ncdu: JSON, the binary format, and a block of the binary format on its own.
//!
//! Whatever a file holds, the import must not panic and must end. Directories are begun and ended
//! in pairs, and every name is one that a file can have. The first byte of the input says what the
//! rest is: a whole file, or a block, since hardly any change of a compressed block is valid.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk_answers::exchange::{
    Events, Fields, Header, Refused, read_ncdu_binary, read_ncdu_json,
};
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::sync::{LazyLock, Mutex};

/// A file without a name, for inputs of the binary format.
static FILE: LazyLock<Mutex<File>> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("ringwalk-fuzz-{}", std::process::id()));
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .expect("a temporary file");
    fs::remove_file(&path).expect("its removal");
    Mutex::new(file)
});

/// Checks what the users of events rely on.
#[derive(Default)]
struct Checked {
    depth: usize,
    ended: bool,
    entries: usize,
}

impl Checked {
    fn entry(&mut self, name: &[u8]) {
        assert!(!self.ended, "an entry after the end of the tree");
        assert!(!name.is_empty() && !name.contains(&0));
        if self.depth > 0 {
            assert!(!name.contains(&b'/') && name != b"." && name != b"..");
        }
        self.entries += 1;
    }
}

impl Events for Checked {
    type Error = ();

    fn header(&mut self, _: Header) {
        assert_eq!(self.entries, 0, "metadata after an entry");
    }

    fn begin_directory(&mut self, name: &[u8], _: &Fields) -> Result<(), Refused<()>> {
        self.entry(name);
        self.depth += 1;
        Ok(())
    }

    fn file(&mut self, name: &[u8], _: &Fields) -> Result<(), Refused<()>> {
        assert!(self.depth > 0, "a file at the top");
        self.entry(name);
        Ok(())
    }

    fn end_directory(&mut self) -> Result<(), Refused<()>> {
        assert!(self.depth > 0, "more ends than directories");
        self.depth -= 1;
        self.ended = self.depth == 0;
        Ok(())
    }
}

fn binary(bytes: &[u8]) {
    let mut file = FILE.lock().expect("no panic before");
    file.rewind().expect("a seek");
    file.set_len(0).expect("an empty file");
    file.write_all(bytes).expect("a written file");
    let mut checked = Checked::default();
    let read = read_ncdu_binary(&file, &mut checked);
    assert!(read.is_err() || checked.ended);
    assert!(checked.entries <= bytes.len().max(1) << 24);
}

/// Returns a block between its lengths.
fn block(kind: u32, content: &[u8]) -> Vec<u8> {
    let ends = ((kind << 28) | (content.len() as u32 + 8)).to_be_bytes();
    [&ends, content, &ends].concat()
}

/// Returns a file of one block. Its first two bytes are where the root is.
fn file_of(data: &[u8]) -> Option<Vec<u8>> {
    let (root, data) = data.split_first_chunk::<2>()?;
    let frame = zstd::bulk::compress(data, 1).ok()?;
    let data = block(0, &[&[0; 4], &frame[..]].concat());
    let place = 8 << 24 | data.len() as u64;
    let root = u64::from(u16::from_be_bytes(*root));
    let index = block(1, &[place.to_be_bytes(), root.to_be_bytes()].concat());
    Some([b"\xbfncduEX1", &data[..], &index].concat())
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else {
        return;
    };
    match kind % 3 {
        0 => {
            let mut checked = Checked::default();
            let read = read_ncdu_json(rest, &mut checked);
            assert!(read.is_err() || checked.ended);
        }
        1 => binary(rest),
        _ => {
            if let Some(file) = file_of(rest) {
                binary(&file);
            }
        }
    }
});
