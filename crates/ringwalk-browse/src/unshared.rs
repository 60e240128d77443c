//! The space that deleting files frees, without extents that other files share.
//!
//! Each file counts as `ringwalk du --exclusive` counts it, if all of its names are deleted. Two of
//! the files that share an extent with each other only would free it together. FIEMAP says that an
//! extent is shared, but not by which files. So it is left out: the result is a lower bound.

use crate::service::{IsWanted, Unshared};
use ringwalk::shown::one_line;
use ringwalk::{
    Batch, Entry, Error, Fields, FileType, Flow, Follow, Identity, Metadata, Stay, Visitor, Walk,
};
use ringwalk_du::exclusive::{Devices, Exclusive};
use std::collections::HashMap;
use std::path::PathBuf;

/// What is known of a file with several names.
#[derive(Clone, Copy, Debug)]
struct Linked {
    seen: u32,
    all: u32,
    /// `None` if it is not known.
    bytes: Option<u64>,
}

/// Adds up the files at and below some paths, none of which lies below another one. Other file
/// systems below them are left out, as a deletion leaves them.
///
/// # Errors
///
/// A message, if the work was given up.
pub(crate) fn add_up(
    paths: &[PathBuf],
    set_up: &(dyn Fn(Walk) -> Walk + Send + Sync),
    is_wanted: IsWanted<'_>,
) -> Result<Unshared, String> {
    let devices = Devices::default();
    let fields = Fields::TYPE | Fields::INO | Fields::NLINK | Fields::SIZE | Fields::BLOCKS;
    let walk = Walk::from_roots(paths.iter().map(PathBuf::as_path))
        .fields(fields)
        .follow(Follow::Never)
        .stay(Stay::Device);
    let outcome = set_up(walk).run(|_| Adder {
        exclusive: Exclusive::new(&devices),
        is_wanted,
        sum: Unshared::default(),
        linked: HashMap::new(),
    });
    if !is_wanted() {
        return Err("given up".to_owned());
    }
    let mut sum = Unshared::default();
    let mut linked: HashMap<Identity, Linked> = HashMap::new();
    for adder in outcome.visitors {
        sum.freed = sum.freed.saturating_add(adder.sum.freed);
        sum.unknown += adder.sum.unknown;
        sum.reason = sum.reason.or(adder.sum.reason);
        for (inode, more) in adder.linked {
            let known = linked.entry(inode).or_insert(Linked { seen: 0, ..more });
            known.seen = known.seen.saturating_add(more.seen);
            known.all = known.all.max(more.all);
            known.bytes = known.bytes.and(more.bytes);
        }
    }
    let whole = linked.values().filter(|file| file.seen >= file.all);
    let bytes = whole.filter_map(|file| file.bytes);
    sum.freed = bytes.fold(sum.freed, u64::saturating_add);
    Ok(sum)
}

/// Adds up what one worker finds. Directories have the device of their root as state.
struct Adder<'a> {
    exclusive: Exclusive<'a>,
    is_wanted: IsWanted<'a>,
    sum: Unshared,
    /// Files with several names, by device and inode number.
    linked: HashMap<Identity, Linked>,
}

impl Adder<'_> {
    fn add(&mut self, batch: &Batch<'_, ()>, entry: &Entry<'_, ()>, metadata: &Metadata) {
        let is_directory = metadata.file_type() == FileType::Directory;
        if is_directory && !entry.will_descend() {
            // Another file system.
            return;
        }
        let bytes = self.exclusive.bytes(batch, entry, metadata);
        if let Err(unknown) = &bytes {
            self.miss(&entry.path(), &unknown.to_string());
        }
        let bytes = bytes.ok();
        let (Some(links), Some(inode)) = (metadata.nlink(), metadata.identity()) else {
            self.miss(&entry.path(), "number of links not known");
            return;
        };
        if is_directory || links <= 1 {
            self.sum.freed = self.sum.freed.saturating_add(bytes.unwrap_or(0));
            return;
        }
        let linked = self.linked.entry(inode).or_insert(Linked {
            seen: 0,
            all: links,
            bytes,
        });
        linked.seen = linked.seen.saturating_add(1);
        linked.all = linked.all.max(links);
        linked.bytes = linked.bytes.and(bytes);
    }

    /// Notes that something is not known.
    fn miss(&mut self, path: &[u8], reason: &str) {
        self.sum.unknown += 1;
        if self.sum.reason.is_none() {
            let path = ringwalk_gnu::quote::file_always(path);
            self.sum.reason = Some(one_line(format!("{path}: {reason}")).into_owned());
        }
    }
}

impl Visitor for Adder<'_> {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            // Where there is no metadata, the error is reported.
            if let Some(metadata) = entry.metadata() {
                self.add(batch, &entry, metadata);
            }
        }
        if (self.is_wanted)() {
            Flow::Continue
        } else {
            Flow::Stop
        }
    }

    fn error(&mut self, error: &Error) {
        let path = error.path().as_os_str().as_encoded_bytes().to_vec();
        self.miss(&path, &ringwalk_gnu::reason(&error.errno().into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of(paths: &[PathBuf]) -> Unshared {
        add_up(paths, &|walk| walk, &|| true).unwrap()
    }

    fn alloc(path: &std::path::Path) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        fs::symlink_metadata(path).unwrap().blocks() * 512
    }

    /// A file system that shares nothing, whatever the tests run on.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in("/dev/shm").unwrap()
    }

    #[test]
    fn a_file_counts_with_its_last_name() {
        let folder = folder();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&two).unwrap();
        fs::write(one.join("file"), vec![1; 20_000]).unwrap();
        fs::write(one.join("alone"), vec![1; 5000]).unwrap();
        fs::hard_link(one.join("file"), two.join("name")).unwrap();
        let (of_one, of_two) = (alloc(&one) + alloc(&one.join("alone")), alloc(&two));
        assert_eq!(of(std::slice::from_ref(&one)).freed, of_one);
        assert_eq!(of(std::slice::from_ref(&two)).freed, of_two);
        let both = of_one + of_two + alloc(&one.join("file"));
        assert_eq!(of(&[one, two]).freed, both);
    }

    #[test]
    fn what_is_missing_is_said() {
        let folder = folder();
        let found = of(&[folder.path().join("no\nsuch")]);
        assert_eq!((found.freed, found.unknown), (0, 1));
        let reason = found.reason.unwrap();
        assert!(reason.contains("No such file"), "{reason}");
        assert!(!reason.contains('\n'), "{reason}");
    }

    #[test]
    fn nobody_waits() {
        let folder = folder();
        assert!(add_up(&[folder.path().to_owned()], &|walk| walk, &|| false).is_err());
    }
}
