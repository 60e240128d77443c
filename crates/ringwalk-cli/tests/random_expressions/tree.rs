//! The trees that are searched. They are small, have files of every type, and depend on the seed
//! only.

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Names. Some of them match the patterns of the expressions.
const NAMES: [&str; 22] = [
    "a", "b", "ab", "abc", "a.c", "b.c", "Ab.C", "main.c", ".a", ".git", "-a", "a b", "a*b",
    "a[b]", "a\nb", "é", "É", "x1", "x22", "{}", "\\a", "!",
];
const SIZES: [u64; 9] = [0, 1, 511, 512, 513, 1024, 1025, 5000, 1 << 21];
const MODES: [u32; 8] = [0o644, 0o755, 0o600, 0o000, 0o4755, 0o2711, 0o1777, 0o444];
const DAY: u64 = 86_400;

/// A generator of pseudo-random numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("below end")
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// Makes a tree named `t` in `folder`, and `ref` beside it, which expressions compare with.
pub(crate) fn make(folder: &Path, seed: u64) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
    File::create(folder.join("ref")).expect("ref");
    set_times(&folder.join("ref"), 2 * DAY + 1000);
    let top = folder.join("t");
    fs::create_dir(&top).expect("t");
    let mut directories = vec![top.clone()];
    let mut files = Vec::new();
    for _ in 0..70 {
        let path = directories[numbers.below(directories.len())].join(numbers.one_of(&NAMES));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match numbers.below(10) {
            0..3 => {
                fs::create_dir(&path).expect("directory");
                directories.push(path);
            }
            3 if !files.is_empty() => {
                let other: &PathBuf = &files[numbers.below(files.len())];
                fs::hard_link(other, &path).expect("hard link");
            }
            4 => {
                let kind = numbers.one_of(&[FileType::Fifo, FileType::Socket]);
                mknodat(CWD, &path, kind, Mode::from_raw_mode(0o644), 0).expect("mknod");
            }
            5 => {
                // No link leads to itself. The order of the tests would decide whether the walk
                // sees that error.
                let target = numbers.one_of(&["../ref", "nowhere", "links", "../../ref"]);
                symlink(target, &path).expect("link");
            }
            _ => {
                file(&path, &mut numbers);
                files.push(path);
            }
        }
    }
    links(&top, &directories, &mut numbers);
    // Directories get their ages last, since making entries changes them.
    for path in &directories {
        set_times(path, age(&mut numbers));
    }
    settle(&directories);
}

fn file(path: &Path, numbers: &mut Numbers) {
    let size = numbers.one_of(&SIZES);
    let mut file = File::create(path).expect("file");
    if size <= 5000 {
        let bytes = vec![b'x'; usize::try_from(size).expect("small")];
        file.write_all(&bytes).expect("contents");
    }
    file.set_len(size).expect("size");
    fs::set_permissions(path, Permissions::from_mode(numbers.one_of(&MODES))).expect("mode");
    if rustix::process::geteuid().is_root() && numbers.below(3) == 0 {
        let owner = numbers.one_of(&[1, 2, 12_345, 65_534]);
        chown(path, Some(owner), Some(owner / 2)).expect("owner");
    }
    set_times(path, age(numbers));
}

/// Makes links to directories, in a place that no link leads to. So following links ends.
fn links(top: &Path, directories: &[PathBuf], numbers: &mut Numbers) {
    let place = top.join("links");
    fs::create_dir(&place).expect("links");
    for number in 0..4 {
        // No link leads to the top, since the links lie there.
        if directories.len() > 1 {
            let target = &directories[1 + numbers.below(directories.len() - 1)];
            symlink(target, place.join(format!("l{number}"))).expect("link");
        }
    }
}

/// Returns an age in seconds that is far from the next full number of days or minutes.
fn age(numbers: &mut Numbers) -> u64 {
    numbers.below(40) as u64 * DAY / 4 + 3 * 3600 + 1830
}

fn set_times(path: &Path, age: u64) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    let time = |age| {
        let at = now.saturating_sub(Duration::from_secs(age));
        Timespec {
            tv_sec: i64::try_from(at.as_secs()).expect("small"),
            tv_nsec: 123_456_789,
        }
    };
    let times = Timestamps {
        last_access: time(age / 2),
        last_modification: time(age),
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).expect("times");
}

/// Reads each directory and link, since the first reading may change the time of access.
fn settle(directories: &[PathBuf]) {
    // The clock of file times must advance first.
    std::thread::sleep(Duration::from_millis(20));
    for entry in directories
        .iter()
        .flat_map(|path| fs::read_dir(path).expect("readable"))
    {
        let _ = fs::read_link(entry.expect("entry").path());
    }
}
