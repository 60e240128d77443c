//! Deletion of a deep tree with few descriptors. This is a process of its own, because the limit
//! belongs to the process.

use ringwalk::Metadata;
use ringwalk::identity::IdentityTrust;
use ringwalk_delete::{Doomed, Identity, Log, Observer, Reason, Root, Selection, Shown, delete};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::path::Path;

/// So deep that no path of two bytes a level is short enough for a call.
const LEVELS: usize = 2500;

/// Directories, each in the one before.
struct Deep(Vec<Doomed<usize>>);

impl Deep {
    /// Creates the directories by descriptors, as their paths are too long for a call.
    fn create(root: &Path) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at: OwnedFd = open(root, flags, Mode::empty()).unwrap();
        let mut entries = Vec::new();
        for id in 0..LEVELS {
            let name = String::from("d");
            mkdirat(&at, &name, Mode::RWXU).unwrap();
            at = openat(&at, &name, flags, Mode::empty()).unwrap();
            entries.push(Doomed {
                id,
                name: name.into_bytes(),
                identity: identity(&format!("/proc/self/fd/{}", raw(&at))),
                is_directory: true,
            });
        }
        Self(entries)
    }
}

fn raw(file: &OwnedFd) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

fn identity(path: &str) -> Identity {
    let metadata = Metadata::of_path(None, Path::new(path), true, Identity::FIELDS).unwrap();
    Identity::of(&metadata, IdentityTrust::of(fs::File::open(path).unwrap())).unwrap()
}

impl Shown for Deep {
    type Id = usize;

    fn children(&self, directory: usize) -> Vec<Doomed<usize>> {
        self.0.get(directory + 1).cloned().into_iter().collect()
    }
}

#[derive(Default)]
struct Count {
    deleted: usize,
    /// The most descriptors that this process has had at the deletion of an entry.
    most_open: usize,
    kept: Vec<(usize, Reason)>,
}

impl Observer<usize> for Count {
    fn deleted(&mut self, _: usize, _: u64) {
        self.deleted += 1;
        // If descriptors are scarce, opening this directory may fail.
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        self.most_open = self.most_open.max(open);
    }

    fn kept(&mut self, id: usize, reason: &Reason) {
        self.kept.push((id, *reason));
    }

    fn cancelled(&mut self) -> bool {
        false
    }
}

#[test]
fn a_deep_tree_is_deleted_with_few_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    for most in [None, Some(32), Some(12)] {
        let place = tempfile::tempdir().unwrap();
        let deep = Deep::create(place.path());
        let root = Root::open(place.path(), identity(place.path().to_str().unwrap())).unwrap();
        let state = tempfile::tempdir().unwrap();
        let log = Log::open(&state.path().join("log")).unwrap();
        let few = Rlimit {
            current: most.or(limit.current),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, few).unwrap();
        let selection = Selection {
            parents: Vec::new(),
            entry: deep.0[0].clone(),
        };
        let mut count = Count::default();
        let start = std::time::Instant::now();
        let outcome = delete(&root, &[selection], &deep, &log, &mut count).unwrap();
        eprintln!("{most:?}: {:?}, {} open", start.elapsed(), count.most_open);
        setrlimit(Resource::Nofile, limit).unwrap();
        assert_eq!(count.kept, [], "{most:?}");
        assert!(count.most_open < 64 + 16, "{most:?}: {}", count.most_open);
        assert_eq!(count.deleted, LEVELS);
        assert_eq!((outcome.deleted, outcome.kept), (LEVELS as u64, 0));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
