//! Writes a snapshot of a synthetic tree, to measure the writer with more files than a disk should
//! hold.
//!
//! ```text
//! synthetic SHAPE ENTRIES OUTPUT [MEMORY]
//! ```
//!
//! | SHAPE | the tree |
//! |---|---|
//! | `tree` | directories of 100 files each, 1000 of them in a directory |
//! | `flat` | one directory with all files, whose names come in no order |
//! | `links` | as `tree`; each file has a second name, far away |
//! | `wide` | one directory with all directories, each with one file |

use ringwalk::{FileType, Timestamp};
use ringwalk_snapshot::{Attributes, Entry, Info, TreeBuilder, WriteOptions};
use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Files of a directory.
const FILES: u64 = 100;
/// Directories of a directory.
const DIRECTORIES: u64 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let text: Vec<_> = arguments
        .iter()
        .map(|each| each.to_string_lossy())
        .collect();
    let (Some(shape), Some(entries), Some(output)) = (text.first(), text.get(1), arguments.get(2))
    else {
        return Err("expected SHAPE ENTRIES OUTPUT [MEMORY]".into());
    };
    let entries: u64 = entries.parse()?;
    let mut options = WriteOptions::default();
    if let Some(memory) = text.get(3) {
        options.memory = memory.parse()?;
    }
    let mut tree = TreeBuilder::new(options);
    tree.begin_root(b"/synthetic", &directory(b"", 0))?;
    match &shape[..] {
        "tree" => nested(&mut tree, entries, u64::MAX)?,
        "links" => nested(&mut tree, entries, entries / 2)?,
        "flat" => flat(&mut tree, entries)?,
        "wide" => wide(&mut tree, entries)?,
        _ => return Err("expected tree, flat, links or wide as SHAPE".into()),
    }
    tree.end_directory()?;
    tree.finish(Info::default(), Path::new(output))?;
    Ok(())
}

/// Adds directories of files. After `period` files, the inodes come again.
fn nested(tree: &mut TreeBuilder, entries: u64, period: u64) -> io::Result<()> {
    let mut number = 0;
    while number < entries {
        tree.begin_directory(&directory(format!("d{number:010}").as_bytes(), number))?;
        for _ in 0..DIRECTORIES {
            if number >= entries {
                break;
            }
            tree.begin_directory(&directory(format!("e{number:010}").as_bytes(), number))?;
            for each in 0..FILES {
                let name = format!("file-{each:03}.txt");
                let mut file = file(name.as_bytes(), number % period);
                if period != u64::MAX {
                    file.attributes.nlink = Some(2);
                    file.attributes.charged_once = true;
                }
                tree.file(&file)?;
                number += 1;
            }
            tree.end_directory()?;
        }
        tree.end_directory()?;
    }
    Ok(())
}

fn flat(tree: &mut TreeBuilder, entries: u64) -> io::Result<()> {
    for number in 0..entries {
        let name = format!("{:016x}.txt", mixed(number));
        tree.file(&file(name.as_bytes(), number))?;
    }
    Ok(())
}

fn wide(tree: &mut TreeBuilder, entries: u64) -> io::Result<()> {
    for number in 0..entries / 2 {
        let name = format!("d{number:010}");
        tree.begin_directory(&directory(name.as_bytes(), number))?;
        tree.file(&file(b"file.txt", number))?;
        tree.end_directory()?;
    }
    Ok(())
}

fn file(name: &[u8], number: u64) -> Entry<'_> {
    Entry {
        attributes: attributes(number, 2 * number + 100),
        ..Entry::new(name, FileType::Regular)
    }
}

fn directory(name: &[u8], number: u64) -> Entry<'_> {
    Entry {
        attributes: attributes(number, 2 * number + 101),
        ..Entry::new(name, FileType::Directory)
    }
}

/// Returns attributes like the attributes of files that were written one after the other.
fn attributes(number: u64, ino: u64) -> Attributes {
    let size = mixed(number) % 50_000;
    let time = Timestamp {
        secs: 1_700_000_000 + (number / 5000).cast_signed(),
        nanos: (mixed(number) % 1_000_000_000) as u32,
    };
    Attributes {
        ino: Some(ino),
        dev: Some(1),
        mode: Some(0o644),
        nlink: Some(1),
        uid: Some(1000),
        gid: Some(1000),
        size: Some(size),
        alloc: Some(size.next_multiple_of(4096)),
        mtime: Some(time),
        ctime: Some(time),
        btime: Some(time),
        ..Attributes::default()
    }
}

/// Mixes the bits of a number, so that numbers that follow each other are far apart.
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}
