//! Trees on disk as they were shown, for tests.

use super::{Component, Doomed, Identity, Log, Observer, Reason, Root, Selection, Shown};
use ringwalk::identity::IdentityTrust;
use ringwalk::{FileType, Metadata};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Returns the identity of a file now.
pub(super) fn identity(path: &Path) -> Identity {
    let metadata = Metadata::of_path(None, path, false, Identity::FIELDS).unwrap();
    let place = if metadata.file_type() == FileType::Directory {
        path
    } else {
        path.parent().unwrap()
    };
    Identity::of(&metadata, IdentityTrust::of(fs::File::open(place).unwrap())).unwrap()
}

/// A tree as it was shown. Entries are numbers.
pub(super) struct Tree {
    root: PathBuf,
    root_identity: Identity,
    entries: Vec<Doomed<usize>>,
    parents: Vec<Option<usize>>,
    numbers: HashMap<PathBuf, usize>,
    children: HashMap<usize, Vec<usize>>,
}

impl Tree {
    /// Reads all that is below a directory, other file systems included.
    pub(super) fn read(root: &Path) -> Self {
        let mut tree = Self {
            root: root.to_owned(),
            root_identity: identity(root),
            entries: Vec::new(),
            parents: Vec::new(),
            numbers: HashMap::new(),
            children: HashMap::new(),
        };
        let mut to_read = vec![(PathBuf::new(), None)];
        while let Some((directory, parent)) = to_read.pop() {
            for entry in fs::read_dir(root.join(&directory)).unwrap() {
                let name = entry.unwrap().file_name();
                let path = directory.join(&name);
                let is_directory = root.join(&path).symlink_metadata().unwrap().is_dir();
                let id = tree.entries.len();
                tree.entries.push(Doomed {
                    id,
                    name: name.as_bytes().to_vec(),
                    identity: identity(&root.join(&path)),
                    is_directory,
                });
                tree.parents.push(parent);
                if let Some(parent) = parent {
                    tree.children.entry(parent).or_default().push(id);
                }
                if is_directory {
                    to_read.push((path.clone(), Some(id)));
                }
                tree.numbers.insert(path, id);
            }
        }
        tree
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.numbers.contains_key(Path::new(path))
    }

    pub(super) fn root(&self) -> Root {
        Root::open(&self.root, self.root_identity).unwrap()
    }

    pub(super) fn select(&self, path: impl AsRef<Path>) -> Selection<usize> {
        let entry = self.entries[self.numbers[path.as_ref()]].clone();
        let mut parents = Vec::new();
        let mut above = self.parents[entry.id];
        while let Some(id) = above {
            parents.push(Component {
                name: self.entries[id].name.clone(),
                identity: self.entries[id].identity,
            });
            above = self.parents[id];
        }
        parents.reverse();
        Selection { parents, entry }
    }

    /// Returns the path of an entry below the root, as text.
    pub(super) fn path(&self, id: usize) -> String {
        let mut path = OsStr::from_bytes(&self.entries[id].name)
            .to_string_lossy()
            .into_owned();
        if let Some(parent) = self.parents[id] {
            path = format!("{}/{path}", self.path(parent));
        }
        path
    }
}

impl Shown for Tree {
    type Id = usize;

    fn children(&self, directory: usize) -> Vec<Doomed<usize>> {
        let children = self.children.get(&directory).into_iter().flatten();
        children.map(|id| self.entries[*id].clone()).collect()
    }
}

/// Collects results, and stops or does something else after a number of entries.
#[derive(Default)]
pub(super) struct Results<'t> {
    pub(super) deleted: Vec<usize>,
    pub(super) freed: u64,
    pub(super) kept: Vec<(usize, Reason)>,
    /// Called with the number of questions that came before.
    pub(super) cancel: Option<Box<dyn FnMut(usize) -> bool + 't>>,
    pub(super) questions: usize,
}

impl Observer<usize> for Results<'_> {
    fn deleted(&mut self, id: usize, freed: u64) {
        self.deleted.push(id);
        self.freed += freed;
    }

    fn kept(&mut self, id: usize, reason: &Reason) {
        self.kept.push((id, *reason));
    }

    fn cancelled(&mut self) -> bool {
        self.questions += 1;
        let before = self.questions - 1;
        self.cancel.as_mut().is_some_and(|cancel| cancel(before))
    }
}

impl Results<'_> {
    /// Returns the paths that were deleted, sorted.
    pub(super) fn deleted(&self, tree: &Tree) -> Vec<String> {
        let mut paths: Vec<_> = self.deleted.iter().map(|id| tree.path(*id)).collect();
        paths.sort();
        paths
    }

    /// Returns the paths that were kept and why, in order.
    pub(super) fn kept(&self, tree: &Tree) -> Vec<(String, Reason)> {
        let kept = self.kept.iter();
        kept.map(|(id, reason)| (tree.path(*id), *reason)).collect()
    }
}

/// Directories for one test: `root`, `outside`, and a log.
pub(super) struct Place {
    pub(super) directory: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("root")).unwrap();
        fs::create_dir_all(directory.path().join("outside/sub")).unwrap();
        for name in ["file", "other", "sub/file"] {
            fs::write(directory.path().join("outside").join(name), "canary").unwrap();
        }
        Self { directory }
    }

    /// Creates files below `root`, and their directories.
    pub(super) fn with(files: &[&str]) -> Self {
        let place = Self::new();
        for file in files {
            place.write(file);
        }
        place
    }

    pub(super) fn write(&self, file: &str) {
        let path = self.root().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.directory.path().join("state/log")
    }

    pub(super) fn log(&self) -> Log {
        Log::open(&self.log_path()).unwrap()
    }

    /// Returns the lines of the log.
    pub(super) fn lines(&self) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.log_path()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Fails if something outside the root was touched.
    pub(super) fn check_outside(&self) {
        let mut found: Vec<_> = ["", "sub"]
            .iter()
            .flat_map(|directory| fs::read_dir(self.outside().join(directory)).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        assert_eq!(found, ["file", "file", "other", "sub"]);
    }
}

/// Runs the test `name` again as a process in a mount namespace of its own. Returns true in that
/// process. Returns false in the other one, also where this is impossible, as without root.
pub(super) fn in_own_namespace(name: &str) -> bool {
    const INSIDE: &str = "RINGWALK_TEST_IN_NAMESPACE";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return false;
    }
    let can = |command: &mut std::process::Command| command.status().is_ok_and(|s| s.success());
    let unshare = || {
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "--"]);
        command
    };
    if !can(unshare().arg("true")) {
        eprintln!("skipped: needs mount namespaces");
        return false;
    }
    let mut again = unshare();
    again
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"]);
    let output = again.env(INSIDE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("1 passed"), "no such test: {name}: {text}");
    false
}

pub(super) fn mount(arguments: &[&str], point: &Path) {
    let status = std::process::Command::new("mount")
        .args(arguments)
        .arg(point)
        .status();
    assert!(status.unwrap().success(), "mount {arguments:?}");
}

/// Runs a part of a test as a user without privileges. Returns false if this process is not root.
pub(super) fn as_nobody<T: Send>(run: impl FnOnce() -> T + Send) -> Option<T> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return None;
    }
    let nobody = rustix::process::Uid::from_raw(65534);
    // The system call changes one thread only. Its privileges end with the effective id 0.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            run()
        });
        Some(thread.join().unwrap())
    })
}

/// Sets a flag when dropped, so that a thread ends even if the test has failed.
pub(super) struct SetOnDrop<'f>(pub(super) &'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
