use super::*;
use ringwalk::Fields;
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD};
use std::cell::Cell;
use std::ffi::CStr;

fn metadata(path: &CStr, fields: Fields) -> Metadata {
    let mut stat = Statx::default();
    statx(CWD, path, AtFlags::empty(), fields.bits(), &mut stat).unwrap();
    let mut metadata = Metadata::from(&stat);
    metadata.retain(fields);
    metadata
}

fn mount(id: u64, minor: u64, file_system: &str) -> Mount {
    let line = format!("{id} 1 0:{minor} / / rw - {file_system} none rw\n");
    mounts::parse(line.as_bytes()).unwrap().remove(0)
}

#[test]
fn what_is_always_mounted() {
    let types = FileSystems::default();
    let of_id = metadata(c"/proc/self", Fields::TYPE | Fields::MNT_ID);
    assert_eq!(types.type_of(&of_id).unwrap(), b"proc");
    let of_device = metadata(c"/proc/self", Fields::TYPE);
    assert_eq!(types.type_of(&of_device).unwrap(), b"proc");
    let others = FileSystems::default();
    assert_eq!(others.type_of(&of_device).unwrap(), b"proc");
}

#[test]
fn the_table_is_read_again_for_what_is_new() {
    let types = FileSystems::default();
    let mut file = metadata(c"/", Fields::MNT_ID);
    let reads = Cell::new(0);
    let ask = |mnt_id, dev, table: &[(u64, u64, &str)]| {
        file.set_mnt_id(mnt_id);
        file.set_dev(dev);
        let read = || {
            reads.set(reads.get() + 1);
            let mounts = table.iter();
            Ok(mounts
                .map(|(id, dev, name)| mount(*id, *dev, name))
                .collect())
        };
        types.look_up(&file, read).unwrap().to_vec()
    };
    let mut ask = ask;
    let first = [(30, 5, "xfs"), (31, 6, "btrfs")];
    assert_eq!(ask(30, 5, &first), b"xfs");
    assert_eq!(ask(31, 99, &first), b"btrfs", "the id counts");
    assert_eq!(reads.get(), 1);
    assert_eq!(ask(32, 7, &[(32, 7, "nfs4")]), b"nfs4");
    assert_eq!(reads.get(), 2);
    assert_eq!(ask(40, 6, &first), b"btrfs", "by its device");
    assert_eq!(ask(41, 8, &first), b"unknown");
    assert_eq!(reads.get(), 4);
    assert_eq!(ask(41, 8, &first), b"unknown");
    assert_eq!(reads.get(), 4, "that too is remembered");
}

#[test]
fn a_table_that_cannot_be_read_is_an_error_and_is_read_again() {
    let types = FileSystems::default();
    let mut file = metadata(c"/", Fields::MNT_ID);
    file.set_mnt_id(30);
    file.set_dev(5);
    let failed = types.look_up(&file, || Err(io::ErrorKind::OutOfMemory.into()));
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    let found = types.look_up(&file, || Ok(vec![mount(30, 5, "xfs")]));
    assert_eq!(found.unwrap(), b"xfs");
}
