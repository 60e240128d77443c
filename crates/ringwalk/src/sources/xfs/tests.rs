//! Compares BULKSTAT with statx(2), on images.

use super::testing::{Image, open_directory, stat};
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::volume::{DirectoryKey, OpenMount};
use crate::sources::wanted::Wanted;
use crate::visit::metadata::{Fields, Metadata};
use crate::walk::settings::Follow;
use ringwalk_sys::RawFileType as FileType;
use rustix::fs::{
    CWD, FallocateFlags, IFlags, Mode, XattrFlags, fallocate, ioctl_ficlone, ioctl_setflags,
    lsetxattr, makedev, mknodat,
};
use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Returns a directory's entries as `getdents64` lists them.
fn list(path: &Path) -> RawBatch {
    let directory = open_directory(path);
    let mut batch = RawBatch::default();
    loop {
        let room = batch.records.room() + 65536 - batch.records.room_left();
        batch.records.reserve(room);
        if batch.records.fill(&directory).unwrap() == 0 {
            return batch;
        }
        batch.records.index().unwrap();
    }
}

/// Fills in the metadata that the volume has for a listed directory.
fn ask(mounted: Arc<OpenMount>, path: &Path, batch: &mut RawBatch, wanted: Wanted) {
    let key = DirectoryKey {
        ino: stat(path, Fields::all()).ino,
        parent: None,
        name: b"",
    };
    let mut reader = super::open(mounted).unwrap().reader();
    assert!(reader.list(key, None, &mut RawBatch::default()).is_err());
    reader.stat(key, batch, wanted);
    assert_eq!(batch.known.len(), batch.records.len());
}

fn name(batch: &RawBatch, index: usize) -> &str {
    batch.records.name(index).to_str().unwrap()
}

/// Returns the names of entries whose metadata the reader left unknown. Compares all others with
/// statx(2). Since Linux 6.13 statx(2) does not return times of changes if only other fields are
/// asked for.
fn left(path: &Path, batch: &RawBatch, fields: Fields) -> Vec<String> {
    let fields = fields | Fields::STATX.difference(Fields::BTIME);
    let mut left = Vec::new();
    for index in 0..batch.records.len() {
        let name = name(batch, index);
        match batch.known[index] {
            Known::Metadata(known) => assert_eq!(known, stat(&path.join(name), fields), "{name}"),
            Known::Nothing => left.push(name.to_owned()),
            other => panic!("{name}: {other:?}"),
        }
    }
    left.sort_unstable();
    left
}

fn set_xattr(path: &Path, name: &str, size: usize) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    lsetxattr(path.as_c_str(), name, &vec![1; size], XattrFlags::empty()).unwrap();
}

/// Creates files of all kinds that XFS stores in different ways. Returns the names of files for
/// which BULKSTAT does not return all metadata.
pub(crate) fn make_files(dir: &Path) -> Vec<&'static str> {
    let at = |name: &str| dir.join(name);
    let write = |name: &str, size: usize| fs::write(at(name), vec![1; size]).unwrap();
    // Directories come first, and there are many, so those in each allocation group are neighbours.
    for i in 0..30 {
        fs::create_dir(at(&format!("directory {i}"))).unwrap();
    }
    for (i, name) in ["with attributes", "in blocks"].into_iter().enumerate() {
        fs::rename(
            at(&format!("directory {i}")),
            at(&format!("directory {name}")),
        )
        .unwrap();
    }
    write("empty", 0);
    write("one", 1);
    write("large", 3_000_000);
    File::create(at("sparse"))
        .unwrap()
        .write_at(b"x", 1 << 40)
        .unwrap();
    let holes = File::create(at("extents in a tree")).unwrap();
    for i in 0..300 {
        holes.write_at(b"x", i << 14).unwrap();
    }
    let reserved = File::create(at("reserved behind the end")).unwrap();
    fallocate(&reserved, FallocateFlags::KEEP_SIZE, 0, 1 << 20).unwrap();
    // Without reflinks the copy stays empty.
    let _ = ioctl_ficlone(
        File::create(at("shared")).unwrap(),
        File::open(at("large")).unwrap(),
    );
    symlink("x", at("short link")).unwrap();
    symlink("y".repeat(1000), at("long link")).unwrap();
    for i in 0..100 {
        fs::write(at("directory in blocks").join(format!("name {i}")), b"").unwrap();
    }
    for (name, file_type, device) in [
        ("null", rustix::fs::FileType::CharacterDevice, makedev(1, 3)),
        (
            "greatest",
            rustix::fs::FileType::BlockDevice,
            makedev(511, 0x3_ffff),
        ),
        ("pipe", rustix::fs::FileType::Fifo, 0),
        ("socket", rustix::fs::FileType::Socket, 0),
        ("pipe with attributes", rustix::fs::FileType::Fifo, 0),
    ] {
        mknodat(CWD, at(name), file_type, Mode::RUSR, device).unwrap();
    }
    write("small attributes", 5);
    set_xattr(&at("small attributes"), "user.a", 10);
    write("attributes in blocks", 5);
    set_xattr(&at("attributes in blocks"), "user.a", 30_000);
    set_xattr(&at("directory with attributes"), "user.a", 3000);
    set_xattr(&at("pipe with attributes"), "trusted.a", 3000);
    symlink("z", at("link with attributes")).unwrap();
    set_xattr(&at("link with attributes"), "trusted.a", 3000);
    for (name, flags) in [
        ("immutable", IFlags::IMMUTABLE),
        ("append only", IFlags::APPEND),
        ("not dumped", IFlags::NODUMP | IFlags::NOATIME),
    ] {
        write(name, 9);
        ioctl_setflags(File::open(at(name)).unwrap(), flags).unwrap();
    }
    write("linked", 7);
    fs::hard_link(at("linked"), at("linked again")).unwrap();
    write("owned", 8);
    chown(at("owned"), Some(u32::MAX - 1), Some(100_000)).unwrap();
    fs::set_permissions(at("owned"), fs::Permissions::from_mode(0o7471)).unwrap();
    for (name, seconds) in [("of 1901", -2_147_483_648_i64), ("of 2037", 2_145_916_800)] {
        let file = File::create(at(name)).unwrap();
        let span = Duration::from_secs(seconds.unsigned_abs());
        let time = if seconds < 0 {
            SystemTime::UNIX_EPOCH - span
        } else {
            SystemTime::UNIX_EPOCH + span + Duration::from_nanos(999_999_999)
        };
        file.set_modified(time).unwrap();
    }
    vec![
        "directory with attributes",
        "link with attributes",
        "pipe with attributes",
    ]
}

#[test]
fn all_kinds_of_files_have_the_metadata_of_statx() {
    for options in [
        &["-d", "agcount=2", "-m", "bigtime=1,reflink=1"][..],
        &["-d", "agcount=2", "-m", "bigtime=0,reflink=0"],
        &["-d", "agcount=2", "-b", "size=1024", "-i", "size=512"],
    ] {
        let Some(image) = Image::new(options) else {
            return;
        };
        let path = image.path();
        let unsure = make_files(&path);
        image.make_read_only();
        for fields in [Fields::all(), Fields::SIZE] {
            let mut batch = list(&path);
            let wanted = Wanted::of_all(fields, Follow::Never);
            ask(image.mounted(), &path, &mut batch, wanted);
            let left = left(&path, &batch, wanted.fields());
            assert_eq!(left, unsure, "{options:?}");
        }
    }
}

#[test]
fn files_too_new_followed_or_alone_stay_unknown() {
    let Some(image) = Image::new(&["-d", "agcount=2"]) else {
        return;
    };
    let path = image.path();
    // Each kind is created in one go, so the files that are asked for are neighbours.
    for i in 0..20 {
        fs::create_dir(path.join(format!("directory {i}"))).unwrap();
    }
    for i in 0..20 {
        fs::write(path.join(format!("file {i}")), vec![1; i]).unwrap();
    }
    for i in 0..20 {
        symlink("x", path.join(format!("link {i}"))).unwrap();
    }
    fs::create_dir(path.join("directory 0/few")).unwrap();
    for i in 0..super::reader::LEAST_RUN - 2 {
        fs::write(path.join(format!("directory 0/{i}")), b"").unwrap();
    }
    let never = Wanted::of_all(Fields::SIZE, Follow::Never);
    let mut batch = list(&path);
    ask(image.mounted(), &path, &mut batch, never);
    assert_eq!(left(&path, &batch, never.fields()).len(), 60, "too new");
    image.make_read_only();
    let always = Wanted::of_all(Fields::SIZE, Follow::Always);
    ask(image.mounted(), &path, &mut batch, always);
    let links = left(&path, &batch, always.fields());
    assert!(
        links.iter().all(|name| name.starts_with("link")),
        "{links:?}"
    );
    assert_eq!(links.len(), 20);
    let few = path.join("directory 0");
    let mut batch = list(&few);
    ask(image.mounted(), &few, &mut batch, never);
    assert_eq!(
        left(&few, &batch, never.fields()).len(),
        super::reader::LEAST_RUN - 1
    );
}

#[test]
fn a_number_that_is_free_or_of_another_type_stays_unknown() {
    let Some(image) = Image::new(&[]) else { return };
    let path = image.path();
    for i in 0..3000 {
        fs::write(path.join(format!("file {i}")), vec![1; i % 9]).unwrap();
    }
    let mut numbers = Vec::new();
    for i in (0..3000).step_by(7) {
        let gone = path.join(format!("file {i}"));
        numbers.push(stat(&gone, Fields::INO).ino);
        fs::remove_file(gone).unwrap();
    }
    image.make_read_only();
    let wanted = Wanted::of_all(Fields::all(), Follow::Never);
    let listed = list(&path);
    let mut batch = RawBatch::default();
    let mut expected = Vec::new();
    for index in (0..listed.records.len()).rev() {
        let ino = listed.records.ino(index);
        let (name, mut file_type) = (listed.records.name(index), FileType::Regular);
        if ino.is_multiple_of(5) {
            expected.push(name.to_str().unwrap().to_owned());
            file_type = FileType::Directory;
        }
        batch.records.push(name, file_type, ino, 0);
    }
    for (index, ino) in numbers.into_iter().enumerate() {
        let name = format!("gone {index}");
        let listed = CString::new(name.as_bytes()).unwrap();
        batch.records.push(&listed, FileType::Regular, ino, 0);
        expected.push(name);
    }
    ask(image.mounted(), &path, &mut batch, wanted);
    expected.sort_unstable();
    assert_eq!(left(&path, &batch, wanted.fields()), expected);
}

#[test]
fn other_file_systems_are_refused() {
    let mounted = OpenMount::new(open_directory(Path::new("/proc")), false).unwrap();
    let why = super::open(Arc::new(mounted)).err().unwrap();
    assert_eq!(why.to_string(), "it is not XFS");
}

/// If the mask lacked a field, every comparison would miss it.
#[test]
fn compared_metadata_has_all_fields() {
    let Some(image) = Image::new(&[]) else { return };
    let root: Metadata = stat(&image.path(), Fields::all());
    assert_eq!(root.mask, Fields::all());
}
