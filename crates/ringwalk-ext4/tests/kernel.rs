//! Compares every field of stat(2) with the kernel's answer, for files that the kernel created in
//! mounted images (as root only).

mod common;

use common::{contents, debugfs, has_tools, inode_bytes, make, room, run, walk};
use ringwalk_ext4::{FileSystem, Inode, InodeFlags, Timestamp, Xattr};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, UNIX_EPOCH};

/// Formats that the kernel mounts: blocks of at most 4 KiB.
const FORMATS: &[(&str, &str)] = &[
    ("-t ext2 -b 1024 -I 128", "32m"),
    ("-t ext3 -b 1024", "48m"),
    ("-t ext4 -b 1024 -g 1024 -N 8192", "48m"),
    ("-t ext4 -b 4096 -N 8192", "64m"),
    (
        "-t ext4 -b 4096 -N 8192 -O ^metadata_csum,uninit_bg,^64bit,^flex_bg,meta_bg,^resize_inode",
        "64m",
    ),
    (
        "-t ext4 -b 1024 -N 8192 -O inline_data,large_dir -I 512",
        "48m",
    ),
    (
        "-t ext4 -b 4096 -N 8192 -O inline_data,ea_inode,^filetype",
        "64m",
    ),
    ("-t ext4 -b 1024 -N 8192 -O bigalloc -C 8192", "64m"),
    (
        "-t ext4 -b 1024 -N 8192 -O verity,ea_inode,metadata_csum_seed,orphan_file,stable_inodes,\
         sparse_super2,^resize_inode,encrypt",
        "48m",
    ),
    // A kernel without quotas does not mount this format.
    (
        "-t ext4 -b 4096 -N 8192 -O project,quota,verity,ea_inode,metadata_csum_seed,\
         orphan_file,stable_inodes,sparse_super2,^resize_inode,encrypt",
        "96m",
    ),
];

/// Changes by debugfs to a state that the kernel reads, but does not write in this test: inodes
/// with fewer fields, and a directory that has had too many subdirectories.
const CHANGES: &str = "
sif /time1 extra_isize 0
sif /time2 extra_isize 12
sif /time3 extra_isize 4
sif /wide3 links_count 1
";

/// A mounted image, unmounted on drop.
struct Mount(PathBuf);

impl Mount {
    /// Mounts `image` at `at`. Returns `None` if this process may not mount it. The loop device of
    /// an image that was just unmounted may be busy for a while, so this function retries.
    fn new(image: &Path, at: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        for _ in 0..100 {
            let mut command = Command::new("mount");
            command.args(["-o", options]).arg(image).arg(at);
            let output = command.output().ok()?;
            if output.status.success() {
                return Some(Self(at.to_owned()));
            }
            let why = String::from_utf8_lossy(&output.stderr);
            if !why.contains("busy") {
                eprintln!("SKIPPED: {}", why.trim());
                return None;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("the loop device of {} remains busy", image.display());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(&self.0).status();
        assert!(status.is_ok_and(|status| status.success()), "umount");
    }
}

/// Creates files whose inodes use every field.
fn fill(at: &Path) {
    for count in [3, 30, 300, 3000] {
        let wide = at.join(format!("wide{count}"));
        fs::create_dir(&wide).unwrap();
        for number in 0..count {
            let file = File::create(wide.join(format!(
                "a file whose name is so long that the index of names gets deep {number}"
            )))
            .unwrap();
            file.set_len(number).unwrap();
        }
        for number in (0..count).step_by(7) {
            fs::remove_file(wide.join(format!(
                "a file whose name is so long that the index of names gets deep {number}"
            )))
            .unwrap();
        }
    }
    for size in [
        0, 1, 59, 60, 61, 150, 160, 200, 300, 512, 513, 1024, 5000, 100_000,
    ] {
        fs::write(at.join(format!("size{size}")), vec![b's'; size]).unwrap();
        symlink(
            "l".repeat(size.clamp(1, 1000)),
            at.join(format!("link{size}")),
        )
        .unwrap();
    }
    // Many extents: an extent tree of depth 2, in formats with extents.
    let sparse = File::create(at.join("sparse")).unwrap();
    for hole in 0..1500 {
        sparse.write_all_at(b"data", hole * 8192).unwrap();
    }
    let huge = File::create(at.join("huge")).unwrap();
    huge.write_all_at(b"end", 10 << 30).unwrap();
    fs::hard_link(at.join("size60"), at.join("another name")).unwrap();
    for (name, arguments) in [
        ("character", "c 5 17"),
        ("block", "b 259 70000"),
        ("newer", "c 4095 1048575"),
        ("fifo", "p"),
    ] {
        let path = at.join(name);
        let arguments = arguments.split(' ');
        let status = Command::new("mknod")
            .arg(path)
            .args(arguments)
            .status()
            .unwrap();
        assert!(status.success(), "mknod {name}");
    }
    let _socket = std::os::unix::net::UnixListener::bind(at.join("socket")).unwrap();
    chown(at.join("size0"), Some(70_000), Some(4_000_000_000)).unwrap();
    for (number, secs) in [1_i64 << 31, 1 << 32, 15_000_000_000, 0]
        .into_iter()
        .enumerate()
    {
        let path = at.join(format!("time{number}"));
        let file = File::create(path).unwrap();
        let time = UNIX_EPOCH + Duration::new(secs.unsigned_abs(), 987_654_321);
        file.set_times(FileTimes::new().set_accessed(time).set_modified(time))
            .unwrap();
    }
    let before = File::create(at.join("before the epoch")).unwrap();
    let time = UNIX_EPOCH - Duration::new(100_000, 1);
    before
        .set_times(FileTimes::new().set_accessed(time).set_modified(time))
        .unwrap();
    set_xattrs(at);
}

/// Sets extended attributes that fit into the inode, and others that do not.
fn set_xattrs(at: &Path) {
    let large = "v".repeat(900);
    let huge = "h".repeat(30_000);
    for (path, name, value) in [
        ("size512", "user.huge", huge.as_str()),
        ("size1", "user.small", "value"),
        ("size1", "user.empty", ""),
        ("size1", "trusted.other", "value"),
        ("size5000", "user.large", &large),
        ("size5000", "security.test", "value"),
        ("wide30", "user.directory", &large),
    ] {
        let status = Command::new("setfattr")
            .args(["-n", name, "-v", value])
            .arg(at.join(path))
            .status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: setfattr {name}");
        }
    }
    for acl in ["u:1234:rwx", "d:g:77:r-x"] {
        let status = Command::new("setfacl")
            .args(["-m", acl])
            .arg(at.join("wide3"))
            .status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: setfacl {acl}");
        }
    }
}

/// Returns the major and minor number, as statx(2) reports them, from `st_rdev` of the C library.
fn device(rdev: u64) -> (u32, u32) {
    let major = (rdev >> 8 & 0xFFF) | (rdev >> 32 & 0xFFFF_F000);
    let minor = (rdev & 0xFF) | (rdev >> 12 & 0xFFFF_FF00);
    (u32::try_from(major).unwrap(), u32::try_from(minor).unwrap())
}

fn time(secs: i64, nanos: i64) -> Timestamp {
    Timestamp {
        secs,
        nanos: u32::try_from(nanos).unwrap(),
    }
}

fn compare(inode: &Inode<'_>, stat: &Metadata, context: &str) {
    assert_eq!(u64::from(inode.ino()), stat.ino(), "{context}");
    assert_eq!(inode.mode(), stat.mode(), "{context}");
    assert_eq!(
        (inode.uid(), inode.gid()),
        (stat.uid(), stat.gid()),
        "{context}"
    );
    assert_eq!(u64::from(inode.links()), stat.nlink(), "{context}");
    assert_eq!(inode.size(), stat.size(), "{context}");
    assert_eq!(inode.blocks(), stat.blocks(), "{context}: blocks");
    assert_eq!(inode.device(), device(stat.rdev()), "{context}");
    assert_eq!(
        inode.atime(),
        time(stat.atime(), stat.atime_nsec()),
        "{context}: atime"
    );
    assert_eq!(
        inode.mtime(),
        time(stat.mtime(), stat.mtime_nsec()),
        "{context}: mtime"
    );
    assert_eq!(
        inode.ctime(),
        time(stat.ctime(), stat.ctime_nsec()),
        "{context}: ctime"
    );
    let btime = stat
        .created()
        .ok()
        .map(|time| time.duration_since(UNIX_EPOCH).unwrap());
    let ours = inode
        .btime()
        .map(|time| Duration::new(time.secs.unsigned_abs(), time.nanos));
    assert_eq!(ours, btime, "{context}: btime");
}

/// Returns all attributes of a file from getfattr(1), which shows values in hexadecimal.
fn xattrs(path: &Path) -> Option<Vec<Xattr>> {
    let mut command = Command::new("getfattr");
    command
        .args(["-h", "-d", "-m", "-", "-e", "hex", "--absolute-names"])
        .arg(path);
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let mut xattrs: Vec<Xattr> = lines
        .map(|(name, value)| {
            let digits = value.trim_start_matches("0x").as_bytes().chunks(2);
            let byte = |pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
            Xattr {
                name: name.as_bytes().to_vec(),
                value: digits.map(byte).collect(),
            }
        })
        .collect();
    xattrs.sort_by(|a, b| a.name.cmp(&b.name));
    Some(xattrs)
}

/// Compares the whole image with the same image mounted at `mount`.
fn check(image: &Path, mount: &Path, arguments: &str) {
    let device = File::open(image).unwrap();
    let file_system = FileSystem::open(&device).unwrap();
    let mut found = BTreeMap::new();
    let result = walk(&file_system, &device, |name, _, inode| {
        let path = mount.join(OsStr::from_bytes(name));
        let context = format!("{arguments}: {}", String::from_utf8_lossy(name));
        let stat = path
            .symlink_metadata()
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        compare(inode, &stat, &context);
        let is_inline = inode.flags().contains(InodeFlags::INLINE_DATA);
        if stat.is_file() && !is_inline && stat.size() < 1 << 30 {
            let contents = contents(&file_system, &device, inode)?;
            assert!(contents == fs::read(&path).unwrap(), "{context}: contents");
        }
        let is_special = !name.starts_with(b"wide") || !name.contains(&b'/');
        if is_special && let Some(theirs) = xattrs(&path) {
            let mut ours = file_system.xattrs(&device, inode)?;
            ours.sort_by(|a, b| a.name.cmp(&b.name));
            assert_eq!(ours, theirs, "{context}");
        }
        found.insert(name.to_vec(), inode.ino());
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{arguments}: {error}"));
    let listed = run(
        "find",
        &[
            mount.to_str().unwrap(),
            "-mindepth",
            "1",
            "-printf",
            "%P\\0",
        ],
    );
    let theirs = listed
        .stdout
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty());
    let mut theirs: Vec<&[u8]> = theirs.collect();
    theirs.sort_unstable();
    assert_eq!(found.keys().collect::<Vec<_>>(), theirs, "{arguments}");
    count(&file_system, &device, &found, arguments);
}

/// Checks that the inodes in use that are not hidden are exactly those with names, and the root.
fn count(file_system: &FileSystem, device: &File, found: &BTreeMap<Vec<u8>, u32>, arguments: &str) {
    let mut named: Vec<u32> = found
        .values()
        .copied()
        .chain([ringwalk_ext4::ROOT_INODE])
        .collect();
    named.sort_unstable();
    named.dedup();
    let mut swept = Vec::new();
    for table in file_system.inode_tables(device).unwrap() {
        for ino in table.first..table.first + table.count {
            let raw = inode_bytes(file_system, device, ino).unwrap();
            let inode = file_system.inode(ino, &raw).unwrap();
            if inode.is_some_and(|inode| !file_system.is_hidden(&inode)) {
                swept.push(ino);
            }
        }
    }
    assert_eq!(swept, named, "{arguments}");
}

#[test]
fn the_kernel_says_the_same() {
    if !has_tools() {
        return;
    }
    let room = room();
    let mount = room.path().join("mount");
    for (arguments, size) in FORMATS {
        let image = room.path().join("image");
        make(&image, None, arguments, size);
        let Some(mounted) = Mount::new(&image, &mount, "loop") else {
            eprintln!("SKIPPED: {arguments}");
            continue;
        };
        fill(&mount);
        drop(mounted);
        debugfs(&image, true, CHANGES);
        if arguments.contains("ext4") {
            // EXT4_HUGE_FILE_FL and EXT4_EXTENTS_FL.
            debugfs(&image, true, "sif /size5000 flags 0xc0000\n");
        }
        let mounted = Mount::new(&image, &mount, "loop,ro").expect("it was mounted just now");
        check(&image, &mount, arguments);
        drop(mounted);
        fs::remove_file(&image).unwrap();
    }
}
