//! Files of equal contents in a folder, for tests.

use crate::act::{
    Action, Done, File, Group, Name, Observer, Outcome, Reason, Roots, Settings, act,
    is_temporary_name,
};
use ringwalk_delete::{Log, TrashOptions};
use ringwalk_hash::FileVersion;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Longer than a piece of the comparison, and not a multiple of a block.
pub(crate) const CONTENTS: usize = (1 << 20) + 12_345;

pub(crate) fn contents() -> Vec<u8> {
    let numbers = 0..u32::try_from(CONTENTS / 4).unwrap();
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// Returns the version of a file now.
pub(crate) fn version(path: &Path) -> FileVersion {
    let file = fs::File::open(path).unwrap();
    FileVersion::of(&FileVersion::metadata(&file).unwrap()).unwrap()
}

/// Folders for one test: `root` and `outside`, a log and a trash.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        Self { folder, root }
    }

    /// The root lies in memory, where more happens in a second.
    pub(crate) fn in_memory() -> Self {
        let mut place = Self::new();
        let memory = tempfile::tempdir_in("/dev/shm");
        if let Ok(memory) = memory
            && std::env::var_os("RINGWALK_TEST_ON_DISK").is_none()
        {
            place.folder = memory;
            place.root = place.folder.path().join("root");
            fs::create_dir(&place.root).unwrap();
            fs::create_dir(place.outside("")).unwrap();
        }
        place
    }

    /// The root lies elsewhere.
    pub(crate) fn at_root(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            ..Self::new()
        }
    }

    /// Creates files of equal contents.
    pub(crate) fn with(names: &[&str]) -> Self {
        let place = Self::new();
        for name in names {
            place.write(name, &contents());
        }
        place
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join("outside").join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::open([&self.root])
    }

    pub(crate) fn log(&self) -> Log {
        Log::open(&self.folder.path().join("state/log")).unwrap()
    }

    pub(crate) fn log_text(&self) -> String {
        fs::read_to_string(self.folder.path().join("state/log")).unwrap()
    }

    pub(crate) fn settings(&self, action: Action) -> Settings {
        Settings {
            action,
            trash: TrashOptions::with_data_home(Some(self.folder.path().join("data"))),
        }
    }

    pub(crate) fn trash(&self) -> PathBuf {
        self.folder.path().join("data/Trash")
    }

    /// Returns a file with one or several names, as the search sees it now.
    pub(crate) fn file(&self, names: &[&str]) -> File {
        let mut all = names.iter().map(|name| Name {
            root: 0,
            path: name.as_bytes().to_vec(),
        });
        File {
            name: all.next().unwrap(),
            more_names: all.collect(),
            version: version(&self.at(names[0])),
        }
    }

    pub(crate) fn group(&self, keep: &str, others: &[&str]) -> Group {
        Group {
            keep: self.file(&[keep]),
            others: others.iter().map(|name| self.file(&[name])).collect(),
        }
    }

    pub(crate) fn act(&self, group: &Group, action: Action) -> Results {
        let mut results = Results::default();
        let (roots, settings) = (self.roots(), self.settings(action));
        let groups = std::slice::from_ref(group);
        let outcome = act(&roots, groups, &settings, &self.log(), &mut results).unwrap();
        assert_eq!(outcome.done, results.done.len() as u64);
        assert_eq!(outcome.kept, results.kept.len() as u64);
        results.outcome = outcome;
        results
    }

    /// Fails if a temporary name is left.
    pub(crate) fn check_no_leftovers(&self) {
        assert_eq!(self.leftovers(), Vec::<PathBuf>::new());
    }

    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut to_read = vec![self.root.clone()];
        while let Some(folder) = to_read.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    to_read.push(entry.path());
                } else if is_temporary_name(entry.file_name().as_encoded_bytes()) {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

/// Collects results.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) done: Vec<(Done, u64)>,
    pub(crate) kept: Vec<(Done, Reason)>,
    pub(crate) outcome: Outcome,
}

impl Results {
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        self.kept.iter().map(|(_, reason)| reason.clone()).collect()
    }
}

impl Observer for Results {
    fn done(&mut self, what: Done, freed: u64) {
        self.done.push((what, freed));
    }

    fn kept(&mut self, what: Done, reason: &Reason) {
        self.kept.push((what, reason.clone()));
    }

    fn cancelled(&mut self) -> bool {
        false
    }
}

/// Runs a part of a test as a user without privileges. Returns false if this process is not root.
pub(crate) fn as_nobody(run: impl FnOnce() + Send) -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return false;
    }
    let nobody = rustix::process::Uid::from_raw(65534);
    // The system call changes one thread only. Its privileges end with the effective id 0.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            run();
        });
        thread.join().unwrap();
    });
    true
}

/// A file system in a file, mounted for one test.
pub(crate) struct Mounted(TempDir);

/// Makes a file system and mounts it. `None` where this is impossible.
pub(crate) fn mounted(program: &[&str]) -> Option<Mounted> {
    let folder = tempfile::tempdir().unwrap();
    let (image, point) = (folder.path().join("image"), folder.path().join("point"));
    fs::create_dir(&point).unwrap();
    let file = fs::File::create(&image).unwrap();
    file.set_len(512 << 20).unwrap();
    let made = quiet(Command::new(program[0]).args(&program[1..]).arg(&image));
    let mount = |point| {
        quiet(
            Command::new("mount")
                .args(["-o", "loop"])
                .arg(&image)
                .arg(point),
        )
    };
    if !made || !mount(&point) {
        eprintln!("skipped: needs root and {}", program[0]);
        return None;
    }
    Some(Mounted(folder))
}

fn quiet(command: &mut Command) -> bool {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Mounted {
    pub(crate) fn point(&self) -> PathBuf {
        self.0.path().join("point")
    }

    pub(crate) fn remount_read_only(&self) {
        let mut command = Command::new("mount");
        assert!(quiet(command.args(["-o", "remount,ro"]).arg(self.point())));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        quiet(Command::new("umount").arg(self.point()));
    }
}
