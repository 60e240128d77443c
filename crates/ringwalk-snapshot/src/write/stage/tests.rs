use super::*;
use crate::entry::Entry;
use crate::write::pack::{Packer, Unpacker};
use ringwalk::FileType;

fn add(writer: &mut StageWriter<'_>, directory: u64, names: &[&str]) {
    let (mut children, mut entries) = (Vec::new(), Vec::new());
    let mut packer = Packer::default();
    for name in names {
        let child = name.starts_with('d').then_some(7);
        if let Some(child) = child {
            push_child(child, name.as_bytes(), &mut children);
        }
        let entry = Entry::new(name.as_bytes(), FileType::Regular);
        packer.push(&entry, child, &mut entries);
    }
    writer.run(directory, &children, &entries).unwrap();
}

fn names(staged: &Staged, directory: u64) -> Vec<String> {
    let listing = staged.listing(directory).unwrap();
    let mut unpacker = Unpacker::default();
    let next = || {
        let entry = unpacker.next(listing.entries())?;
        Some(String::from_utf8_lossy(entry.name).into_owned())
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn runs_of_a_directory_are_merged_in_memory_and_in_the_file() {
    for memory in [0, usize::MAX] {
        let stage = Stage::new(memory);
        let directories: Vec<_> = (0..3).map(|_| stage.new_directory()).collect();
        let mut writer = stage.writer();
        let mut other = stage.writer();
        add(&mut writer, directories[0], &["b", "d", "x"]);
        add(&mut other, directories[1], &["q"]);
        add(&mut other, directories[0], &["a", "c", "e"]);
        add(&mut writer, directories[0], &["d2"]);
        writer.close().unwrap();
        other.close().unwrap();
        let staged = stage.into_staged();
        assert_eq!(names(&staged, 0), ["a", "b", "c", "d", "d2", "e", "x"]);
        assert_eq!(
            staged.listing(0).unwrap().children(),
            b"\x07\x01d\x07\x02d2"
        );
        assert_eq!(names(&staged, 1), ["q"]);
        assert_eq!(names(&staged, 2), [""; 0]);
    }
}

#[test]
fn runs_larger_than_a_segment() {
    for memory in [0, usize::MAX] {
        let stage = Stage::new(memory);
        let long = "n".repeat(SEGMENT + 5);
        for number in 0..3 {
            assert_eq!(stage.new_directory(), number);
        }
        let mut writer = stage.writer();
        add(&mut writer, 0, &["a"]);
        add(&mut writer, 1, &[&long]);
        add(&mut writer, 2, &["b"]);
        writer.close().unwrap();
        let staged = stage.into_staged();
        assert_eq!(names(&staged, 0), ["a"]);
        assert_eq!(names(&staged, 1), [long]);
        assert_eq!(names(&staged, 2), ["b"]);
    }
}
