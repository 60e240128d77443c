//! Creates images with e2fsprogs, and walks them.

#![allow(dead_code, reason = "each test uses a part of this")]

pub(crate) mod formats;

use ringwalk_ext4::{Error, FileSystem, Inode, ROOT_INODE, ReadAt};
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// More extents than any file of the tests has.
pub(crate) const MOST_EXTENTS: usize = 1 << 16;

/// Returns whether mke2fs and debugfs are installed. Prints a message if they are not.
pub(crate) fn has_tools() -> bool {
    let has = |tool: &str| Command::new(tool).arg("-V").output().is_ok();
    let found = has("mke2fs") && has("debugfs");
    if !found {
        eprintln!("SKIPPED: mke2fs and debugfs (e2fsprogs) are not installed");
    }
    found
}

/// Creates a directory for images, in memory if possible, because e2fsck syncs each image to the
/// disk.
pub(crate) fn room() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).unwrap()
}

/// Runs a program and asserts that it succeeds.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect(program);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Creates a file system of `size` in the file `image`, with the tree at `tree` in it.
pub(crate) fn make(image: &Path, tree: Option<&Path>, arguments: &str, size: &str) {
    let mut all = vec!["-q", "-F"];
    all.extend(arguments.split(' '));
    if let Some(tree) = tree {
        all.extend(["-d", tree.to_str().expect("a name in UTF-8")]);
    }
    all.extend([image.to_str().expect("a name in UTF-8"), size]);
    run("mke2fs", &all);
}

/// Runs `commands` in debugfs, and returns its output. Some of the commands may fail.
pub(crate) fn debugfs(image: &Path, write: bool, commands: &str) -> String {
    let file = image.with_extension("commands");
    fs::write(&file, commands).unwrap();
    let mut program = Command::new("debugfs");
    if write {
        program.arg("-w");
    }
    let output = program.arg("-f").arg(&file).arg(image).output().unwrap();
    assert!(output.status.success(), "debugfs: {}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Creates a tree with every kind of file that needs no privilege: small and large directories,
/// long names, files of many sizes, a sparse file, links.
pub(crate) fn sample_tree(at: &Path, files: usize) {
    let wide = at.join("wide");
    fs::create_dir_all(&wide).unwrap();
    for number in 0..files {
        fs::write(
            wide.join(format!("file with a number {number:05}")),
            vec![b'x'; number],
        )
        .unwrap();
    }
    let mut deep = at.to_owned();
    for level in 0..12 {
        deep.push(format!("level{level}"));
        fs::create_dir(&deep).unwrap();
    }
    fs::write(deep.join("bottom"), "bottom").unwrap();
    fs::set_permissions(&deep, fs::Permissions::from_mode(0o2751)).unwrap();
    fs::write(at.join("n".repeat(255)), "the longest name").unwrap();
    for size in [0, 1, 59, 60, 61, 100, 1023, 1024, 1025, 70_000] {
        fs::write(at.join(format!("size {size}")), vec![b's'; size]).unwrap();
    }
    let sparse = File::create(at.join("sparse")).unwrap();
    for hole in [0, 20_000, 400_000] {
        std::os::unix::fs::FileExt::write_all_at(&sparse, b"data", hole).unwrap();
    }
    symlink("short", at.join("short link")).unwrap();
    symlink("l".repeat(200), at.join("long link")).unwrap();
    fs::create_dir(at.join("empty")).unwrap();
}

/// Reads the bytes of an inode.
pub(crate) fn inode_bytes(
    file_system: &FileSystem,
    device: &(impl ReadAt + ?Sized),
    ino: u32,
) -> Result<Vec<u8>, Error> {
    let mut raw = vec![0; file_system.superblock().inode_size.into()];
    device.read_exact_at(&mut raw, file_system.inode_offset(ino)?)?;
    Ok(raw)
}

/// An entry as a walk needs it: inode number, type, name.
pub(crate) type Entry = (u32, u8, Vec<u8>);

/// Returns all entries of a directory.
pub(crate) fn list(
    file_system: &FileSystem,
    device: &(impl ReadAt + ?Sized),
    directory: &Inode<'_>,
) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    if directory
        .flags()
        .contains(ringwalk_ext4::InodeFlags::INLINE_DATA)
    {
        file_system.inline_directory(directory, |entry| {
            entries.push((entry.ino, entry.file_type, entry.name.to_vec()));
        })?;
        return Ok(entries);
    }
    let block_size = u64::from(file_system.superblock().block_size);
    let mut block = vec![0; file_system.superblock().block_size as usize];
    for extent in file_system.extents(device, directory, MOST_EXTENTS)? {
        for index in 0..u64::from(extent.blocks) {
            let logical = extent.logical + index;
            if logical >= directory.size().div_ceil(block_size) {
                break;
            }
            device.read_exact_at(&mut block, (extent.physical + index) * block_size)?;
            file_system.directory_block(directory, logical, &block, |entry| {
                entries.push((entry.ino, entry.file_type, entry.name.to_vec()));
            })?;
        }
    }
    Ok(entries)
}

/// Returns the contents of a file, or the target of a symbolic link, that is stored outside the
/// inode. Holes are zeros.
pub(crate) fn contents(
    file_system: &FileSystem,
    device: &(impl ReadAt + ?Sized),
    inode: &Inode<'_>,
) -> Result<Vec<u8>, Error> {
    let block_size = u64::from(file_system.superblock().block_size);
    let mut bytes = vec![0; usize::try_from(inode.size()).unwrap()];
    for extent in file_system.extents(device, inode, MOST_EXTENTS)? {
        let start = usize::try_from(extent.logical * block_size).unwrap();
        let length = usize::try_from(u64::from(extent.blocks) * block_size).unwrap();
        let end = bytes.len().min(start + length);
        if start < end {
            device.read_exact_at(&mut bytes[start..end], extent.physical * block_size)?;
        }
    }
    Ok(bytes)
}

/// Walks the whole tree. Calls `show` for each entry except `.` and `..`, with its path from the
/// root (such as `wide/file`), the type in the directory, and the inode.
pub(crate) fn walk(
    file_system: &FileSystem,
    device: &(impl ReadAt + ?Sized),
    mut show: impl FnMut(&[u8], u8, &Inode<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut pending = vec![(ROOT_INODE, Vec::new())];
    while let Some((ino, path)) = pending.pop() {
        let raw = inode_bytes(file_system, device, ino)?;
        let directory = file_system
            .inode(ino, &raw)?
            .ok_or(Error::Corrupt("free"))?;
        for (ino, file_type, name) in list(file_system, device, &directory)? {
            if name == b"." || name == b".." {
                continue;
            }
            let mut path = path.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend(name);
            let raw = inode_bytes(file_system, device, ino)?;
            let inode = file_system
                .inode(ino, &raw)?
                .ok_or(Error::Corrupt("free"))?;
            show(&path, file_type, &inode)?;
            if is_directory(&inode) {
                pending.push((ino, path));
            }
        }
    }
    Ok(())
}

/// Returns whether `inode` is a directory.
pub(crate) fn is_directory(inode: &Inode<'_>) -> bool {
    inode.mode() & 0o170_000 == 0o040_000
}
