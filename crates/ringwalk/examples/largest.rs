//! Prints the largest files of each extension below a folder, without hidden directories. It is the
//! program of `docs/api.md` that was ported from walkdir.

use ringwalk::{Fields, OwnedEntry, Walk};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

/// How many files of each extension are printed.
const MOST: usize = 3;

/// A file, ordered by its size, and then by its time.
type Found = (u64, SystemTime, PathBuf);

fn is_hidden(entry: &OwnedEntry) -> bool {
    entry.depth() > 0
        && entry.file_type().is_dir()
        && entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Returns size, time and path of a regular file.
fn found(entry: &OwnedEntry) -> Option<Found> {
    if !entry.file_type().is_file() {
        return None;
    }
    let metadata = entry.metadata()?;
    let path = entry.path().to_owned();
    Some((metadata.size()?, metadata.modified()?, path))
}

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).unwrap_or(".".into());
    let mut files: BTreeMap<OsString, Vec<Found>> = BTreeMap::new();
    let mut status = ExitCode::SUCCESS;
    let walk = Walk::new(root)
        .fields(Fields::SIZE | Fields::MTIME)
        .follow_links(false)
        .depth_first();
    for entry in walk.into_iter().filter_entry(|entry| !is_hidden(entry)) {
        match entry {
            Ok(entry) => {
                if let Some(file) = found(&entry) {
                    let extension = entry.path().extension().unwrap_or(OsStr::new("none"));
                    files.entry(extension.to_owned()).or_default().push(file);
                }
            }
            Err(error) => {
                eprintln!("largest: depth {}: {error}", error.depth());
                status = ExitCode::FAILURE;
            }
        }
    }
    for (extension, mut files) in files {
        files.sort_by_key(|(size, modified, _)| Reverse((*size, *modified)));
        for (size, _, path) in files.iter().take(MOST) {
            println!("{} {size} {}", extension.display(), path.display());
        }
    }
    status
}
