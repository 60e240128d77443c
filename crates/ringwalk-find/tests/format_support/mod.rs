//! A tree with files of all types, and the facts about them by the standard library.

use ringwalk::{Errno, Fields, FileType, Metadata, Timestamp};
use ringwalk_find::facts::{Facts, LinkTarget};
use rustix::fs::{AtFlags, CWD, Mode, StatxFlags, StatxTimestamp};
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One file, as a starting point.
pub(crate) struct File {
    path: PathBuf,
    metadata: Metadata,
    kind_of_system: Vec<u8>,
}

impl File {
    /// Returns the file of that name. Links are not followed.
    pub(crate) fn new(path: &Path) -> Self {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = rustix::fs::statx(CWD, path, flags, StatxFlags::ALL).unwrap();
        Self {
            path: path.to_owned(),
            metadata: metadata(&stat),
            kind_of_system: gnu_find(path, &["-maxdepth", "0", "-printf", "%F"]),
        }
    }
}

fn metadata(stat: &rustix::fs::Statx) -> Metadata {
    let time = |time: StatxTimestamp| Timestamp {
        secs: time.tv_sec,
        nanos: time.tv_nsec,
    };
    let mut metadata = Metadata::default();
    metadata.set_file_type(FileType::from_mode(stat.stx_mode.into()));
    metadata.set_permissions(stat.stx_mode.into());
    metadata.set_nlink(stat.stx_nlink);
    metadata.set_uid(stat.stx_uid);
    metadata.set_gid(stat.stx_gid);
    metadata.set_ino(stat.stx_ino);
    metadata.set_size(stat.stx_size);
    metadata.set_blocks(stat.stx_blocks);
    metadata.set_dev(rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor));
    metadata.set_rdev(rustix::fs::makedev(
        stat.stx_rdev_major,
        stat.stx_rdev_minor,
    ));
    metadata.set_mnt_id(stat.stx_mnt_id);
    metadata.set_atime(time(stat.stx_atime));
    metadata.set_mtime(time(stat.stx_mtime));
    metadata.set_ctime(time(stat.stx_ctime));
    metadata.set_btime(time(stat.stx_btime));
    metadata.retain(Fields::from_bits_truncate(stat.stx_mask));
    metadata
}

/// Returns the name for a number in a file like `/etc/passwd`.
fn account(file: &str, number: u32) -> Option<Vec<u8>> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| {
        let field = line.split(':').nth(2);
        field.and_then(|field| field.parse().ok()) == Some(number)
    });
    Some(line?.split(':').next()?.as_bytes().to_vec())
}

impl Facts for File {
    fn path(&self) -> &[u8] {
        self.path.as_os_str().as_bytes()
    }

    fn root_len(&self) -> usize {
        self.path().len()
    }

    fn depth(&self) -> usize {
        0
    }

    fn file_type(&self) -> FileType {
        self.metadata.file_type()
    }

    fn metadata(&self) -> Result<&Metadata, Errno> {
        Ok(&self.metadata)
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        let target = std::fs::read_link(&self.path).ok()?;
        Some(target.as_os_str().as_bytes().to_vec())
    }

    fn target(&self) -> LinkTarget {
        let answer = rustix::fs::stat(&self.path);
        answer.map(|stat| FileType::from_mode(stat.st_mode)).into()
    }

    fn is_orphan(&self) -> bool {
        !matches!(self.target(), LinkTarget::File(_))
    }

    fn file_system(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.kind_of_system)
    }

    fn context(&self) -> Option<Vec<u8>> {
        None
    }

    fn user_name(&self, uid: u32) -> Option<Cow<'_, [u8]>> {
        account("/etc/passwd", uid).map(Cow::Owned)
    }

    fn group_name(&self, gid: u32) -> Option<Cow<'_, [u8]>> {
        account("/etc/group", gid).map(Cow::Owned)
    }
}

/// Returns GNU find's output.
pub(crate) fn gnu_find(path: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("find").arg(path).args(arguments).output();
    output.unwrap().stdout
}

/// Returns the version of GNU find that is called `find` here.
fn gnu_version() -> Option<(u32, u32)> {
    let output = Command::new("find").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.strip_prefix("find (GNU findutils) ")?;
    let mut numbers = version.lines().next()?.split('.');
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Symbolic links and their targets.
const LINKS: [(&str, &str); 5] = [
    ("to-file", "one"),
    ("to-directory", "directory/"),
    ("to-nothing", "no where\n\"\\"),
    ("through-a-file", "one/x"),
    ("loop", "loop"),
];

/// Sets times in seconds since 1970 and nanoseconds after that; of a link itself.
fn set_times(path: &Path, access: i64, modification: i64, nanos: i64) {
    let time = |tv_sec| rustix::fs::Timespec {
        tv_sec,
        tv_nsec: nanos,
    };
    let times = rustix::fs::Timestamps {
        last_access: time(access),
        last_modification: time(modification),
    };
    rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// A directory with a file of each type in it.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    /// Returns none, after saying so, without a GNU find to compare with.
    pub(crate) fn new() -> Option<Self> {
        if gnu_version().is_none_or(|version| version < (4, 9)) {
            println!("skipped: `find` is not GNU find 4.9 or later");
            return None;
        }
        let tree = Self(tempfile::tempdir().unwrap());
        tree.fill();
        Some(tree)
    }

    /// Returns the path of the tree.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn fill(&self) {
        let at = |name: &str| self.path().join(name);
        std::fs::create_dir(at("directory")).unwrap();
        std::fs::create_dir(at("sticky")).unwrap();
        for (name, target) in LINKS {
            symlink(target, at(name)).unwrap();
        }
        for name in [
            "one",
            "sp ace",
            "a\"b\\c\td\n\u{7}\u{7f}",
            "é€",
            "setuid",
            "none",
        ] {
            std::fs::write(at(name), b"hello\n").unwrap();
        }
        std::fs::write(
            self.path().join(std::ffi::OsStr::from_bytes(b"\xff\xc3")),
            b"",
        )
        .unwrap();
        std::fs::hard_link(at("one"), at("again")).unwrap();
        let sized = |name: &str, size| {
            std::fs::File::create(at(name))
                .unwrap()
                .set_len(size)
                .unwrap();
        };
        sized("sparse", 1 << 20);
        sized("terabyte", 1 << 40);
        sized("byte", 1);
        for (name, mode) in [
            ("sticky", 0o1777),
            ("setuid", 0o6744),
            ("none", 0),
            ("byte", 0o7644),
        ] {
            std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        self.age();
        self.special();
        self.own();
    }

    /// Sets times: long ago, in other years, near and far to come.
    fn age(&self) {
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = i64::try_from(since.as_secs()).unwrap();
        // Reading a link sets its time of access, unless that is later than its other times.
        for name in LINKS.map(|(name, _)| name) {
            set_times(&self.path().join(name), now + 60, now, 0);
        }
        // Times before 1970 are in winter only: before 1970 the C library has no summer time from a
        // rule.
        for (name, seconds, nanos) in [
            ("setuid", 0, 0),
            ("none", -1, 500_000_000),
            ("sparse", 1_605_000_000, 123_456_789),
            ("terabyte", 4_102_444_800, 1),
            ("byte", now - 100 * 86_400, 999_999_999),
            ("sp ace", now - 200 * 86_400, 70_000_000),
            ("directory", now + 1800, 0),
            ("sticky", now + 7200, 0),
            ("one", -2_020_000_000, 1),
        ] {
            set_times(&self.path().join(name), seconds, seconds, nanos);
        }
    }

    /// Creates files of the other types. Devices only where that is allowed.
    fn special(&self) {
        let at = |name: &str| self.path().join(name);
        let mode = Mode::from_raw_mode(0o640);
        let node = |name: &str, file_type, device| {
            rustix::fs::mknodat(CWD, at(name), file_type, mode, device)
        };
        node("fifo", rustix::fs::FileType::Fifo, 0).unwrap();
        std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, file_type, major, minor) in [
            ("block", rustix::fs::FileType::BlockDevice, 7, 77),
            ("character", rustix::fs::FileType::CharacterDevice, 1, 3),
            (
                "device",
                rustix::fs::FileType::CharacterDevice,
                4000,
                1_000_000,
            ),
        ] {
            let device = rustix::fs::makedev(major, minor);
            if let Err(error) = node(name, file_type, device) {
                println!("no device {name} to compare: {error}");
            }
        }
    }

    /// Changes owners to accounts without names, where that is allowed.
    fn own(&self) {
        for (name, uid, gid) in [
            ("sparse", 4_294_967_290, 4_294_967_291),
            ("byte", 7777, 8888),
        ] {
            if let Err(error) =
                std::os::unix::fs::chown(self.path().join(name), Some(uid), Some(gid))
            {
                println!("no unknown owner to compare: {error}");
            }
        }
    }
}
