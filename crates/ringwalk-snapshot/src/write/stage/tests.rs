use super::*;
use crate::entry::Entry;
use crate::write::pack::Unpacker;
use ringwalk::FileType;

/// Adds a run. Names that begin with "d" belong to directory 7.
fn add(stage: &Stage, writer: &mut StageWriter, directory: u64, names: &[&str]) {
    let mut piece = PieceBuilder::default();
    for name in names {
        let child = name.starts_with('d').then_some(7);
        piece.push(&Entry::new(name.as_bytes(), FileType::Regular), child);
        if piece.is_full() {
            writer.piece(stage, directory, &mut piece).unwrap();
        }
    }
    writer.end_run(stage, directory, &mut piece).unwrap();
}

/// Returns the subdirectories, then the entries.
fn names(staged: &Staged, directory: u64, keep: usize) -> (Vec<String>, Vec<String>) {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let mut listing = staged.listing(directory, keep).unwrap();
    let (mut children, mut all) = (Vec::new(), Vec::new());
    while let Some(number) = listing
        .next_child(|name| children.push(text(name)))
        .unwrap()
    {
        assert_eq!(number, 7);
    }
    let each = |entries: &[u8]| {
        let mut unpacker = Unpacker::default();
        while let Some(entry) = unpacker.next(entries) {
            all.push(text(entry.entry.name));
        }
        Ok(())
    };
    listing.entries(each).unwrap();
    (children, all)
}

#[test]
fn runs_of_a_directory_are_merged_in_memory_and_in_the_file() {
    for memory in [0, usize::MAX] {
        let stage = Stage::new(memory);
        let directories: Vec<_> = (0..3).map(|_| stage.new_directory()).collect();
        let (mut writer, mut other) = (StageWriter::default(), StageWriter::default());
        add(&stage, &mut writer, directories[0], &["b", "d", "x"]);
        add(&stage, &mut other, directories[1], &["q"]);
        add(&stage, &mut other, directories[0], &["a", "c", "e"]);
        add(&stage, &mut writer, directories[0], &["d2"]);
        writer.close(&stage).unwrap();
        other.close(&stage).unwrap();
        let staged = stage.into_staged();
        let (children, all) = names(&staged, 0, 0);
        assert_eq!(all, ["a", "b", "c", "d", "d2", "e", "x"]);
        assert_eq!(children, ["d", "d2"]);
        assert_eq!(names(&staged, 1, 0).1, ["q"]);
        assert_eq!(names(&staged, 2, 0).1, [""; 0]);
    }
}

#[test]
fn pieces_larger_than_a_segment() {
    for memory in [0, usize::MAX] {
        let stage = Stage::new(memory);
        let long = "n".repeat(SEGMENT + 5);
        for number in 0..3 {
            assert_eq!(stage.new_directory(), number);
        }
        let mut writer = StageWriter::default();
        add(&stage, &mut writer, 0, &["a"]);
        add(&stage, &mut writer, 1, &[&long]);
        add(&stage, &mut writer, 2, &["b"]);
        writer.close(&stage).unwrap();
        let staged = stage.into_staged();
        assert_eq!(names(&staged, 0, 0).1, ["a"]);
        assert_eq!(names(&staged, 1, 0).1, [long]);
        assert_eq!(names(&staged, 2, 0).1, ["b"]);
    }
}

/// Returns many names. Some of them are names of directories.
fn many(runs: usize, each: usize) -> Vec<Vec<String>> {
    let name = |run: usize, number: usize| {
        let kind = if number.is_multiple_of(3) { "d" } else { "f" };
        format!("{kind}{number:05}-{run}-{}", "x".repeat(50))
    };
    (0..runs)
        .map(|run| {
            let mut names: Vec<_> = (0..each).map(|number| name(run, number)).collect();
            names.sort();
            names
        })
        .collect()
}

#[test]
fn large_directories_are_merged_piece_by_piece() {
    // More pieces in a run than one, and more runs than are merged at once.
    for (runs, each) in [(1, 5000), (3, 5000), (130, 60)] {
        for (memory, keep) in [(0, 0), (usize::MAX, 0), (0, usize::MAX)] {
            let runs = many(runs, each);
            let stage = Stage::new(memory);
            stage.new_directory();
            let mut writers = [StageWriter::default(), StageWriter::default()];
            for (index, run) in runs.iter().enumerate() {
                let run: Vec<_> = run.iter().map(String::as_str).collect();
                add(&stage, &mut writers[index % 2], 0, &run);
            }
            for writer in &mut writers {
                writer.close(&stage).unwrap();
            }
            let staged = stage.into_staged();
            let mut expected = runs.concat();
            expected.sort();
            let (children, all) = names(&staged, 0, keep);
            assert!(all == expected);
            expected.retain(|name| name.starts_with('d'));
            assert!(children == expected);
        }
    }
}

#[test]
fn a_piece_between_those_of_a_run_breaks_the_run() {
    let stage = Stage::new(usize::MAX);
    stage.new_directory();
    let (mut writer, mut other) = (StageWriter::default(), StageWriter::default());
    let mut piece = PieceBuilder::default();
    let entry = |name: &'static str| Entry::new(name.as_bytes(), FileType::Regular);
    piece.push(&entry("b"), None);
    writer.piece(&stage, 0, &mut piece).unwrap();
    add(&stage, &mut other, 0, &["a", "x"]);
    piece.push(&entry("m"), None);
    writer.end_run(&stage, 0, &mut piece).unwrap();
    writer.close(&stage).unwrap();
    other.close(&stage).unwrap();
    let staged = stage.into_staged();
    assert_eq!(names(&staged, 0, 0).1, ["a", "b", "m", "x"]);
}

#[test]
fn a_directory_may_have_a_name_twice() {
    let stage = Stage::new(usize::MAX);
    stage.new_directory();
    let mut writer = StageWriter::default();
    add(&stage, &mut writer, 0, &["a", "b"]);
    add(&stage, &mut writer, 0, &["b", "c"]);
    writer.close(&stage).unwrap();
    let staged = stage.into_staged();
    assert_eq!(names(&staged, 0, 0).1, ["a", "b", "b", "c"]);
}
