//! Formats of `-printf` on arbitrary bytes.
//!
//! Whatever the format, its compilation must not panic, and the compiled format must be writable
//! for a file. A format without a percent sign and a backslash is written unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk::{Errno, FileType, Metadata, Timestamp};
use ringwalk_find::facts::{Facts, LinkTarget};
use ringwalk_find::format::Format;
use std::borrow::Cow;

struct File(Metadata);

impl Facts for File {
    fn path(&self) -> &[u8] {
        b"tree//a\x1b\xc3/"
    }

    fn root_len(&self) -> usize {
        5
    }

    fn depth(&self) -> usize {
        1
    }

    fn file_type(&self) -> FileType {
        FileType::Symlink
    }

    fn metadata(&self) -> Result<&Metadata, Errno> {
        Ok(&self.0)
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        Some(b"there".to_vec())
    }

    fn target(&self) -> LinkTarget {
        LinkTarget::Loop
    }

    fn is_orphan(&self) -> bool {
        true
    }

    fn file_system(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(b"ext4")
    }

    fn context(&self) -> Option<Vec<u8>> {
        None
    }

    fn user_name(&self, _uid: u32) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn group_name(&self, _gid: u32) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(b"group"))
    }
}

/// Returns the number in the first bytes, for times and sizes.
fn number(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8);
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn file(seed: u64) -> File {
    let time = Timestamp {
        secs: seed.cast_signed(),
        nanos: (seed % 1_000_000_000) as u32,
    };
    let mut metadata = Metadata::default();
    metadata.set_file_type(FileType::from_mode(seed as u32));
    metadata.set_permissions(seed as u32);
    metadata.set_nlink(seed as u32);
    metadata.set_uid(1);
    metadata.set_gid(2);
    metadata.set_ino(seed);
    metadata.set_size(seed);
    metadata.set_blocks(seed.rotate_left(20));
    metadata.set_dev(seed);
    metadata.set_atime(time);
    metadata.set_mtime(time);
    metadata.set_ctime(time);
    metadata.set_btime(time);
    File(metadata)
}

fuzz_target!(|input: &[u8]| {
    let (seed, format) = input.split_at(input.len().min(8));
    let mut warnings = Vec::new();
    let Ok(compiled) = Format::parse(format, &mut warnings) else {
        return;
    };
    // Widths up to two thousand million are accepted; five digits find faults as well.
    let wide = format
        .windows(6)
        .any(|six| six.iter().all(u8::is_ascii_digit));
    if wide {
        return;
    }
    let file = file(number(seed));
    let mut out = Vec::new();
    compiled.write(&file, &mut out);
    if !format.contains(&b'%') && !format.contains(&b'\\') {
        assert_eq!(out, format);
        assert!(warnings.is_empty() && compiled.fields().is_empty());
    }
    out.clear();
    compiled.write_to_terminal(&file, &mut out);
});
