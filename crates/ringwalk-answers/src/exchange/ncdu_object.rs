//! A row of a snapshot as an object of ncdu's JSON.

use ringwalk::FileType;

use super::json_text::{push_number, push_string};
use ringwalk_snapshot::{Chunk, Column, timestamp};

/// Appends the object of a row, without the device number and the brace at the end.
///
/// The fields and their order are the same as with `ncdu -e`. Like ncdu it leaves out zeros. A time
/// has its fraction, which ncdu skips.
pub(crate) fn push_object(chunk: &Chunk, at: usize, out: &mut Vec<u8>) {
    push_named(chunk.name(at), out);
    let file_type = chunk.file_type(at);
    let value = |column| chunk.integer(column, at);
    push_field("asize", value(Column::Size).filter(|&size| size > 0), out);
    push_field("dsize", value(Column::Alloc).filter(|&size| size > 0), out);
    push_field("uid", value(Column::Uid), out);
    push_field("gid", value(Column::Gid), out);
    let mode = value(Column::Mode).map(|mode| mode | type_bits(file_type));
    push_field("mode", mode, out);
    if let Some(time) = value(Column::Mtime) {
        push_time(time, out);
    }
    let failed = value(Column::Errno).is_some();
    let skipped = chunk.bytes(Column::Skipped, at);
    let examined = !failed && skipped.is_none();
    if file_type != FileType::Directory {
        push_links(chunk, at, examined, out);
    }
    let regular = matches!(file_type, FileType::Regular | FileType::Directory);
    if !regular && (file_type != FileType::Unknown || examined) {
        out.extend_from_slice(b",\"notreg\":true");
    }
    if failed {
        out.extend_from_slice(b",\"read_error\":true");
    }
    if let Some(skipped) = skipped {
        out.extend_from_slice(b",\"excluded\":\"");
        out.extend_from_slice(excluded(skipped));
        out.push(b'"');
    }
}

/// Appends the beginning of an object: the name.
pub(crate) fn push_named(name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"name\":\"");
    push_string(name, out);
    out.push(b'"');
}

/// Appends a field, unless the value is not known. Values are unsigned, or their bits.
pub(crate) fn push_field(name: &str, value: Option<i64>, out: &mut Vec<u8>) {
    let Some(value) = value else { return };
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    push_number(value.cast_unsigned(), out);
}

/// Appends the inode number and the number of names, which ncdu has for files with several names.
///
/// A file whose number of names is not known came from an old version of ncdu, which says only that
/// there are several.
fn push_links(chunk: &Chunk, at: usize, examined: bool, out: &mut Vec<u8>) {
    let links = chunk.integer(Column::Nlink, at);
    let several = links.map_or(examined, |links| links > 1);
    let ino = chunk.integer(Column::Ino, at);
    if several && ino.is_some() {
        push_field("ino", ino, out);
        out.extend_from_slice(b",\"hlnkc\":true");
        push_field("nlink", links, out);
    }
}

/// Appends the time of modification. ncdu's numbers have no sign: as ncdu 1 does, this writes times
/// before 1970 as their two's complement in 64 bits.
fn push_time(nanoseconds: i64, out: &mut Vec<u8>) {
    let time = timestamp(nanoseconds);
    push_field("mtime", Some(time.secs), out);
    if time.nanos > 0 {
        let fraction = format!(".{:09}", time.nanos);
        out.extend_from_slice(fraction.trim_end_matches('0').as_bytes());
    }
}

fn type_bits(file_type: FileType) -> i64 {
    match file_type {
        FileType::Fifo => 0o010_000,
        FileType::CharacterDevice => 0o020_000,
        FileType::Directory => 0o040_000,
        FileType::BlockDevice => 0o060_000,
        FileType::Regular => 0o100_000,
        FileType::Symlink => 0o120_000,
        FileType::Socket => 0o140_000,
        FileType::Unknown => 0,
    }
}

/// Returns ncdu's word for a reason. ncdu has none for a directory that lies within itself.
fn excluded(skipped: &[u8]) -> &[u8] {
    match skipped {
        b"otherfs" | b"kernfs" | b"pattern" => skipped,
        b"frmlink" => b"frmlnk",
        _ => b"pattern",
    }
}
