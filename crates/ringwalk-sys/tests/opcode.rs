//! Pushes entries of `ringwalk_sys::opcode` to a ring that the test owns. The kernel's operations
//! and the module's commands are tested where they exist; in guests, `RINGWALK_TEST_SOURCE` says
//! that they must exist. On every other kernel, the tests check the answer without them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use io_uring::{IoUring, cqueue, squeue, types};
use ringwalk_sys::opcode::{Getdents, ReadPlus, ReadPlusArgs, ReadTree, filled, filled_by_module};
use ringwalk_sys::rustix::io::Errno;
use ringwalk_sys::{
    DirectoryOpcodes, Dirents, Filled, ModuleDevice, PlusEntries, PlusLayout, TreeGroup, io_uring,
    uapi,
};

/// Returns a ring, or `None` where the system refuses rings.
fn ring() -> Option<IoUring> {
    let newest = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(8);
    newest.or_else(|_| IoUring::new(8)).ok()
}

/// Returns true if the environment requires tests over this source.
fn must_have(source: &str) -> bool {
    std::env::var("RINGWALK_TEST_SOURCE").is_ok_and(|name| name == source)
}

/// Returns the kernel's operations, if it has any. Fails in a guest that must have them.
fn opcodes() -> Option<DirectoryOpcodes> {
    let found = DirectoryOpcodes::cached();
    assert!(found.is_some() || !must_have("ring"), "the kernel has them");
    found
}

fn module() -> Option<ModuleDevice> {
    let found = ModuleDevice::open();
    assert!(found.is_ok() || !must_have("module"), "{found:?}");
    found.ok()
}

/// Submits one entry and waits for its completion.
///
/// # Safety
///
/// Everything to which the entry points must stay valid until this function returns.
unsafe fn run(ring: &mut IoUring, entry: &squeue::Entry) -> cqueue::Entry {
    // SAFETY: the caller guarantees that the pointers stay valid until this function returns. It
    // returns when the only request has completed, or aborts the process.
    unsafe { ring.submission().push(entry) }.expect("an empty ring has room");
    loop {
        match ring.submit_and_wait(1) {
            Ok(_) => break,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // The request may still use its buffers, so this function must not return.
            Err(error) => {
                eprintln!("{error}");
                std::process::abort();
            }
        }
    }
    let completion = ring.completion().next();
    completion.expect("waited for")
}

/// Creates a directory with names of many lengths, more than a small buffer holds.
fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..150_usize {
        fs::write(
            dir.path().join("n".repeat(1 + i % 80) + &i.to_string()),
            vec![0; i],
        )
        .unwrap();
    }
    fs::create_dir(dir.path().join("folder")).unwrap();
    dir
}

/// Returns sizes by name, from the standard library; `.` and `..` have size 0.
fn expected(path: &Path) -> BTreeMap<String, u64> {
    let names = fs::read_dir(path).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let size = entry.metadata().unwrap().size();
        (entry.file_name().into_string().unwrap(), size)
    });
    let dots = [".", ".."].map(|name| (name.to_owned(), 0));
    names.chain(dots).collect()
}

/// Reads a directory in pieces until its end. Returns the bytes of the records of each piece.
fn pieces(mut read: impl FnMut(&mut Vec<u8>) -> Result<Filled, Errno>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    loop {
        let mut buffer = vec![0; 2048];
        let filled = read(&mut buffer).unwrap();
        assert!(filled.bytes > 0 || filled.end);
        buffer.truncate(filled.bytes);
        found.push(buffer);
        assert!(found.len() < 100, "it ends");
        if filled.end {
            return found;
        }
    }
}

fn names_of(pieces: &[Vec<u8>]) -> Vec<String> {
    pieces
        .iter()
        .flat_map(|piece| Dirents::new(piece))
        .map(|entry| entry.unwrap().name().to_str().unwrap().to_owned())
        .collect()
}

/// Returns sizes by name; those of `.` and `..` are 0.
fn sizes_of(pieces: &[Vec<u8>], layout: &PlusLayout) -> BTreeMap<String, u64> {
    let entries = pieces
        .iter()
        .flat_map(|piece| PlusEntries::new(piece, layout));
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let stat = entry.stat().unwrap();
            let size = stat
                .filter(|_| !entry.is_dot())
                .map_or(0, |stat| stat.fixed().size);
            (entry.name().to_str().unwrap().to_owned(), size)
        })
        .collect()
}

/// Checks that `found` has each name of the directory exactly once.
fn check_names(found: Vec<String>, path: &Path) {
    let count = found.len();
    let found: std::collections::BTreeSet<_> = found.into_iter().collect();
    assert_eq!(found.len(), count, "each comes once");
    assert!(found.into_iter().eq(expected(path).into_keys()));
}

#[test]
fn operations_read_a_directory() {
    let (Some(mut ring), Some(opcodes)) = (ring(), opcodes()) else {
        return;
    };
    let dir = directory();
    let file = File::open(dir.path()).unwrap();
    let fd = types::Fd(file.as_raw_fd());
    let len = |buffer: &Vec<u8>| u32::try_from(buffer.len()).unwrap();

    let found = pieces(|buffer| {
        let entry = Getdents::new(fd, buffer.as_mut_ptr(), len(buffer)).build();
        // SAFETY: the buffer and the directory are not touched before `run` returns.
        let completion = unsafe { run(&mut ring, &entry) };
        filled(completion.result(), completion.flags())
    });
    assert!(found.len() > 1);
    check_names(names_of(&found), dir.path());

    if opcodes.readdirplus.is_none() {
        return;
    }
    // The same directory again from the beginning, as a registered file.
    ring.submitter()
        .register_files(&[file.as_raw_fd()])
        .unwrap();
    let layout = PlusLayout::new(libc::STATX_SIZE);
    let mut first = true;
    let found = pieces(|buffer| {
        let mut args = ReadPlusArgs::default();
        let plus = ReadPlus::new(types::Fixed(0), buffer.as_mut_ptr(), len(buffer), &layout);
        let plus = if std::mem::take(&mut first) {
            plus.offset(0)
        } else {
            plus
        };
        let entry = plus.build(&mut args);
        // SAFETY: neither the buffer nor `args` is touched before `run` returns.
        let completion = unsafe { run(&mut ring, &entry) };
        filled(completion.result(), completion.flags())
    });
    assert_eq!(sizes_of(&found, &layout), expected(dir.path()));

    // The kernel returns at most `max_entries` entries.
    let mut buffer = vec![0_u64; 512];
    let mut args = ReadPlusArgs::default();
    let entry = ReadPlus::new(fd, buffer.as_mut_ptr().cast(), 4096, &layout)
        .offset(0)
        .max_entries(3)
        .build(&mut args);
    // SAFETY: as above.
    let completion = unsafe { run(&mut ring, &entry) };
    let read = filled(completion.result(), completion.flags()).unwrap();
    let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
    assert_eq!(PlusEntries::new(&bytes[..read.bytes], &layout).count(), 3);
}

#[test]
fn commands_read_a_directory() {
    let (Some(mut ring), Some(device)) = (ring(), module()) else {
        return;
    };
    let dir = directory();
    let layout = PlusLayout::new(libc::STATX_SIZE);
    ring.submitter()
        .register_files(&[device.as_fd().as_raw_fd()])
        .unwrap();
    for inline in [false, true] {
        let file = File::open(dir.path()).unwrap();
        let fd = types::Fd(file.as_raw_fd());
        let mut request = uapi::Getdents::default();
        let found = pieces(|buffer| {
            let len = u32::try_from(buffer.len()).unwrap();
            let entry = Getdents::new(fd, buffer.as_mut_ptr(), len).command(
                types::Fd(device.as_fd().as_raw_fd()),
                inline,
                &mut request,
            );
            // SAFETY: the buffer, the request, the directory and the device are not touched before
            // `run` returns.
            let completion = unsafe { run(&mut ring, &entry) };
            filled_by_module(completion.result(), request.result_flags)
        });
        assert!(found.len() > 1);
        check_names(names_of(&found), dir.path());

        let mut request = uapi::Readdirplus::default();
        let mut first = true;
        let found = pieces(|buffer| {
            let len = u32::try_from(buffer.len()).unwrap();
            let plus = ReadPlus::new(fd, buffer.as_mut_ptr(), len, &layout);
            let plus = if std::mem::take(&mut first) {
                plus.offset(0)
            } else {
                plus
            };
            let entry = plus.command(types::Fixed(0), inline, &mut request);
            // SAFETY: as above.
            let completion = unsafe { run(&mut ring, &entry) };
            filled_by_module(completion.result(), request.result_flags)
        });
        assert_eq!(sizes_of(&found, &layout), expected(dir.path()));
    }
}

/// Creates a directory as [`directory`] does, with files in a directory below it.
fn tree() -> tempfile::TempDir {
    let dir = directory();
    let below = dir.path().join("folder/below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("deep"), "12345").unwrap();
    dir
}

/// Checks that the answer has the directories of [`tree`] down to this depth, and all of each.
fn check_tree(answer: &[u8], layout: &PlusLayout, path: &Path, depth: usize) {
    let groups = TreeGroup::all_of(answer).unwrap();
    let paths = ["", "folder", "folder/below"];
    assert_eq!(groups.len(), depth + 1);
    for (group, below) in groups.iter().zip(paths) {
        let records = answer[group.records.clone()].to_vec();
        let directory = path.join(below);
        assert_eq!(sizes_of(&[records], layout), expected(&directory));
        assert!(group.end && !group.failed);
        if group.parent > 0 {
            let record = PlusEntries::new(&answer[group.parent..], layout).next();
            let name = record.unwrap().unwrap().name().to_owned();
            assert_eq!(name.to_str().ok(), directory.file_name().unwrap().to_str());
        }
    }
}

#[test]
fn commands_read_a_tree() {
    let found = module().filter(ModuleDevice::reads_trees);
    let (Some(mut ring), Some(device)) = (ring(), found) else {
        return;
    };
    let dir = tree();
    let layout = PlusLayout::new(libc::STATX_SIZE);
    for depth in 0..=2 {
        let file = File::open(dir.path()).unwrap();
        let mut buffer = vec![0_u64; 1 << 13];
        let tree = ReadTree::new(
            types::Fd(file.as_raw_fd()),
            buffer.as_mut_ptr().cast(),
            1 << 16,
            &layout,
            depth,
        );
        let mut request = uapi::Readtree::default();
        let device = types::Fd(device.as_fd().as_raw_fd());
        let entry = tree.command(device, true, &mut request);
        // SAFETY: the buffer, the request, the directory and the device are not touched before
        // `run` returns.
        let completion = unsafe { run(&mut ring, &entry) };
        let answer = filled_by_module(completion.result(), request.result_flags);
        let Filled { bytes, end } = answer.unwrap();
        let answer: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert!(end);
        check_tree(&answer[..bytes], &layout, dir.path(), depth as usize);
    }
}

#[test]
fn a_buffer_that_is_too_small_is_refused() {
    let (Some(mut ring), Some(_)) = (ring(), opcodes()) else {
        return;
    };
    let dir = directory();
    let file = File::open(dir.path()).unwrap();
    let mut buffer = [0; 8];
    let entry = Getdents::new(types::Fd(file.as_raw_fd()), buffer.as_mut_ptr(), 8).build();
    // SAFETY: the buffer and the directory are not touched before `run` returns.
    let completion = unsafe { run(&mut ring, &entry) };
    assert_eq!(
        filled(completion.result(), completion.flags()),
        Err(Errno::INVAL)
    );
}

#[test]
fn a_kernel_without_the_operations_says_so() {
    let Some(mut ring) = ring() else { return };
    if opcodes().is_some() {
        return;
    }
    let file = File::open("/").unwrap();
    let mut buffer = vec![7_u8; 4096];
    let mut args = ReadPlusArgs::default();
    let fd = types::Fd(file.as_raw_fd());
    let layout = PlusLayout::new(0);
    for entry in [
        Getdents::new(fd, buffer.as_mut_ptr(), 4096).build(),
        ReadPlus::new(fd, buffer.as_mut_ptr(), 4096, &layout).build(&mut args),
    ] {
        // SAFETY: neither the buffer nor `args` is touched before `run` returns.
        let completion = unsafe { run(&mut ring, &entry) };
        assert_eq!(
            filled(completion.result(), completion.flags()),
            Err(Errno::INVAL)
        );
    }
    assert!(buffer.iter().all(|byte| *byte == 7), "nothing was written");
}
