//! Compares every inode and every directory with the output of debugfs, for images in all formats.

mod common;

use common::formats::FORMATS;
use common::{debugfs, has_tools, inode_bytes, is_directory, list, make, room, sample_tree};
use ringwalk_ext4::{FileSystem, Inode, InodeFlags, Timestamp, Xattr};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// Changes by debugfs to fields that are unused in a new tree. Some of the commands fail in some
/// formats.
const CHANGES: &str = r#"
sif "/size 1" mtime @5000000000
sif "/size 1" atime @-5
sif "/size 1" ctime_extra 0xeb9a2bff
sif "/size 1" crtime @9000000000
sif "/size 0" uid 70000
sif "/size 0" gid 4294967294
sif "/size 0" projid 4000000000
sif "/size 0" generation 3735928559
sif "/size 1024" flags 0xd0010
sif "/size 1025" blocks_hi 3
sif "/size 60" size 5000000000
sif "/empty" links_count 1
sif "/size 59" extra_isize 12
sif "/size 61" extra_isize 4
mknod character c 5 17
mknod block b 7 3
mknod fifo p
mknod newer c 0 0
sif /newer block[1] 0x12345678
ea_set "/size 100" user.one hello
ea_set "/size 100" user.two "a longer value, which is longer"
ea_set /wide user.three world
"#;

/// The fields of an inode in the output of debugfs. A key is the word before the value, such as
/// `Size:`.
type Stat = BTreeMap<String, String>;

/// Creates an image, has e2fsck index its directories, and applies [`CHANGES`].
fn prepare(image: &Path, tree: &Path, arguments: &str, size: &str) {
    make(image, Some(tree), arguments, size);
    let status = Command::new("e2fsck")
        .args(["-fyD"])
        .arg(image)
        .output()
        .unwrap()
        .status;
    assert!(
        status.code().is_some_and(|code| code < 4),
        "{arguments}: e2fsck {status}"
    );
    debugfs(image, true, CHANGES);
}

/// Returns the output of debugfs for the inodes `1..=last`.
fn ask(image: &Path, last: u32) -> BTreeMap<u32, Stat> {
    let mut commands = String::new();
    for ino in 1..=last {
        writeln!(commands, "stat <{ino}>").unwrap();
    }
    let answer = debugfs(image, false, &commands);
    let mut stat = BTreeMap::new();
    for part in answer.split("debugfs: stat <").skip(1) {
        let (ino, rest) = part.split_once('>').unwrap();
        let (rest, _) = rest.split_once("EXTENTS:").unwrap_or((rest, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let pairs = words.windows(2).filter(|pair| pair[0].ends_with(':'));
        let mut fields = Stat::new();
        for pair in pairs {
            // Only the first `Size:` counts; the second is the size of fragments.
            fields
                .entry(pair[0].to_owned())
                .or_insert_with(|| pair[1].to_owned());
        }
        stat.insert(ino.parse().unwrap(), fields);
    }
    stat
}

/// Returns a number that debugfs writes in the given radix: octal, decimal or hexadecimal.
fn number(stat: &Stat, name: &str, radix: u32) -> Option<u64> {
    let word = stat.get(name)?;
    // debugfs shows user and group IDs of `1 << 31` and more as negative numbers.
    if let Some(digits) = word.strip_prefix('-') {
        return Some((1 << 32) - digits.parse::<u64>().unwrap());
    }
    let digits = if radix == 16 {
        word.trim_start_matches("0x")
    } else {
        word
    };
    Some(u64::from_str_radix(digits, radix).unwrap_or_else(|_| panic!("{name} {word}")))
}

/// Returns a time that debugfs writes as, for example, `0x6b02571d:00000005`.
fn time(stat: &Stat, name: &str) -> Option<Timestamp> {
    let (seconds, extra) = stat.get(name)?.split_once(':').map_or_else(
        || (stat[name].as_str(), "0"),
        |(seconds, extra)| (seconds, extra),
    );
    let seconds = u32::from_str_radix(seconds.trim_start_matches("0x"), 16).unwrap();
    let extra = u32::from_str_radix(extra, 16).unwrap();
    let epochs = i64::from(extra % 4) * (1 << 32);
    Some(Timestamp {
        secs: i64::from(seconds.cast_signed()) + epochs,
        nanos: extra / 4,
    })
}

/// Compares the fields of an inode with the output of debugfs.
fn compare(inode: &Inode<'_>, stat: &Stat, context: &str) {
    let same = |name, radix, ours: u64| {
        let theirs = number(stat, name, radix);
        assert_eq!(theirs, Some(ours), "{context}: {name}");
    };
    same("Mode:", 8, (inode.mode() & 0o7777).into());
    same("Flags:", 16, inode.flags().0.into());
    same("Generation:", 10, inode.generation().into());
    same("User:", 10, inode.uid().into());
    same("Group:", 10, inode.gid().into());
    same("Links:", 10, inode.links().into());
    same("Size:", 10, inode.size());
    if let (Some(project), Some(_)) = (inode.project(), stat.get("Project:")) {
        same("Project:", 10, project.into());
    }
    for (name, ours) in [
        ("atime:", inode.atime()),
        ("mtime:", inode.mtime()),
        ("ctime:", inode.ctime()),
    ] {
        assert_eq!(time(stat, name), Some(ours), "{context}: {name}");
    }
    // debugfs shows a time of birth only if the inode has room for all fields.
    if let Some(theirs) = time(stat, "crtime:") {
        assert_eq!(inode.btime(), Some(theirs), "{context}");
    }
    let device = stat.get("number:").map_or((0, 0), |device| {
        let (major, minor) = device.split_once(':').unwrap();
        (major.parse().unwrap(), minor.parse().unwrap())
    });
    assert_eq!(inode.device(), device, "{context}");
}

/// Compares allocated sizes. debugfs shows the number that the inode stores.
fn compare_blocks(file_system: &FileSystem, inode: &Inode<'_>, stat: &Stat, arguments: &str) {
    let mut expected = number(stat, "Blockcount:", 10).unwrap();
    let has_huge_files = arguments.contains("ext4") && !arguments.contains("^huge_file");
    if !has_huge_files {
        // debugfs shows the upper half even where it has no meaning.
        expected %= 1 << 32;
    } else if inode.flags().contains(0x4_0000) {
        expected *= u64::from(file_system.superblock().block_size) / 512;
    }
    if inode.flags().contains(InodeFlags::INLINE_DATA) && inode.mode() & 0o170_000 == 0o100_000 {
        expected += inode.size().div_ceil(512);
    }
    assert_eq!(inode.blocks(), expected, "{arguments}: {}", inode.ino());
}

/// Compares the entries of directories, in any order.
fn compare_directories(file_system: &FileSystem, image: &Path, directories: &[u32]) {
    let device = File::open(image).unwrap();
    let mut commands = String::new();
    for ino in directories {
        writeln!(commands, "ls -p <{ino}>").unwrap();
    }
    let answer = debugfs(image, false, &commands);
    let parts: Vec<&str> = answer.split("debugfs: ls -p <").skip(1).collect();
    assert_eq!(parts.len(), directories.len());
    for (ino, part) in directories.iter().zip(parts) {
        // A line is, for example, `/12/100644/0/0/name/5/`.
        let lines = part.lines().filter(|line| line.starts_with('/'));
        let mut theirs: Vec<(u32, Vec<u8>)> = lines
            .map(|line| line.split('/').collect::<Vec<_>>())
            .map(|words| (words[1].parse().unwrap(), words[5].as_bytes().to_vec()))
            .filter(|(ino, name)| *ino != 0 && name != b".")
            .collect();
        let raw = inode_bytes(file_system, &device, *ino).unwrap();
        let inode = file_system.inode(*ino, &raw).unwrap().unwrap();
        let ours = list(file_system, &device, &inode).unwrap().into_iter();
        let mut ours: Vec<(u32, Vec<u8>)> = ours
            .map(|(ino, _, name)| (ino, name))
            .filter(|(_, name)| name != b".")
            .collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "directory {ino}");
    }
}

/// Checks the attributes of a file against the attributes of `expected` that debugfs lists.
fn check_xattrs(file_system: &FileSystem, image: &Path, path: &str, expected: &[(&str, &str)]) {
    let answer = debugfs(
        image,
        false,
        &format!("stat \"{path}\"\nea_list \"{path}\"\n"),
    );
    let (_, rest) = answer.split_once("Inode: ").unwrap();
    let ino = rest.split_whitespace().next().unwrap().parse().unwrap();
    let (_, listed) = rest.split_once("debugfs: ea_list").unwrap();
    let device = File::open(image).unwrap();
    let raw = inode_bytes(file_system, &device, ino).unwrap();
    let inode = file_system.inode(ino, &raw).unwrap().unwrap();
    let mut found = file_system.xattrs(&device, &inode).unwrap();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let expected = expected.iter().filter(|(name, _)| listed.contains(name));
    let expected: Vec<Xattr> = expected
        .map(|(name, value)| Xattr {
            name: name.as_bytes().to_vec(),
            value: value.as_bytes().to_vec(),
        })
        .collect();
    assert_eq!(found, expected, "{listed}");
}

/// Compares everything in one image.
fn check(image: &Path, arguments: &str) {
    let device = File::open(image).unwrap();
    let file_system = FileSystem::open(&device).unwrap();
    let last = file_system.superblock().inodes.min(900);
    let stat = ask(image, last);
    let tables = file_system.inode_tables(&device).unwrap();
    let mut directories = Vec::new();
    for ino in 1..=last {
        let context = format!("{arguments}: inode {ino}");
        let stat = stat.get(&ino).unwrap_or_else(|| panic!("{context}"));
        let table = tables
            .iter()
            .find(|table| (table.first..table.first + table.count).contains(&ino));
        let raw = inode_bytes(&file_system, &device, ino).unwrap();
        let inode = file_system.inode(ino, &raw);
        let Some(inode) = inode.unwrap_or_else(|error| panic!("{context}: {error}")) else {
            assert_eq!(number(stat, "Links:", 10), Some(0), "{context}");
            continue;
        };
        let size = u64::from(file_system.superblock().inode_size);
        let place = table.map(|table| table.offset + u64::from(ino - table.first) * size);
        assert_eq!(place, file_system.inode_offset(ino).ok(), "{context}");
        compare(&inode, stat, &context);
        compare_blocks(&file_system, &inode, stat, arguments);
        if is_directory(&inode) {
            directories.push(ino);
        }
    }
    assert!(directories.len() > 12, "{arguments}: {directories:?}");
    compare_directories(&file_system, image, &directories);
    let two = "a longer value, which is longer";
    let expected = [("user.one", "hello"), ("user.two", two)];
    check_xattrs(&file_system, image, "/size 100", &expected);
    check_xattrs(&file_system, image, "/wide", &[("user.three", "world")]);
}

#[test]
fn debugfs_says_the_same() {
    if !has_tools() {
        return;
    }
    let room = room();
    let tree = room.path().join("tree");
    sample_tree(&tree, 700);
    for (arguments, size) in FORMATS {
        let image = room.path().join("image");
        prepare(&image, &tree, arguments, size);
        check(&image, arguments);
        fs::remove_file(&image).unwrap();
    }
}
