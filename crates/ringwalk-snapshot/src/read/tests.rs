use super::*;
use crate::schema::Contents;
use crate::seal::seal;
use crate::write::Sink;
use crate::write::encode::ParquetSink;
use crate::{Attributes, Entry, TreeBuilder, WriteOptions};
use ringwalk::{FileType, Timestamp};
use std::fs;
use std::io::Write;

fn snapshot(path: &Path) {
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &Entry::new(b"", FileType::Directory))
        .unwrap();
    tree.file(&Entry::new(b"f", FileType::Regular)).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), path).unwrap();
}

fn reason(path: &Path) -> String {
    let error = Snapshot::open(path).unwrap_err();
    assert!(error.to_string().contains(path.to_str().unwrap()));
    error.reason()
}

#[test]
fn files_that_are_no_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    assert!(reason(&path).contains("No such file"));
    assert!(reason(folder.path()).contains("no regular file"));
    for text in [
        "",
        "PAR1",
        "no snapshot at all, but long enough to be one",
        "PAR1\0\0\0\0PAR1",
    ] {
        fs::write(&path, text).unwrap();
        let reason = reason(&path);
        assert!(
            reason.contains("no snapshot") || reason.contains("damaged"),
            "{reason}"
        );
    }
}

#[test]
fn parquet_files_that_are_no_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    snapshot(&path);
    let whole = fs::read(&path).unwrap();
    let changed = |at: usize, bytes: &[u8]| {
        let mut data = whole.clone();
        data[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(&path, &data).unwrap();
        reason(&path)
    };
    // As a program of another version would write it: with the right checksum.
    let resealed = |at: usize, bytes: &[u8]| {
        changed(at, bytes);
        let file = File::options().read(true).write(true).open(&path);
        seal(&file.unwrap()).unwrap();
        reason(&path)
    };
    let end = whole.len();
    assert!(changed(0, b"PAR2").contains("no snapshot: it does not begin"));
    assert!(changed(end - 4, b"PAR2").contains("no snapshot: it does not end"));
    assert!(changed(end - 4, b"PARE").contains("no snapshot: its footer is encrypted"));
    assert!(changed(end - 8, &[0xff; 4]).contains("its footer is said to have 4294967295 bytes"));
    assert!(changed(end - 8, &[0; 4]).contains("its footer is malformed"));
    let checksum = "its footer has another checksum than it says";
    assert!(changed(end - 20, b"R").contains(checksum));
    let find = |what: &[u8]| {
        whole
            .windows(what.len())
            .position(|part| part == what)
            .unwrap()
    };
    let key = find(b"ringwalk.schema");
    assert!(resealed(key, b"otherwalk").contains("its footer has no key ringwalk.schema"));
    for (version, said) in [(b"\"0\"", "version 0"), (b"\"2\"", "version 2")] {
        let at = key + "ringwalk.schema".len() + 2;
        assert_eq!(&whole[at..at + 3], b"\"1\"");
        let why = resealed(at, version);
        assert!(
            why.contains(said) && why.contains("reads version 1"),
            "{why}"
        );
    }
}

/// Reads everything in every way. Returns what was read, or the first error.
fn read_all(file: &[u8], name: &Path) -> Result<Vec<String>, String> {
    let text = |error: ReadError| error.to_string();
    let mut stored = tempfile::tempfile().unwrap();
    stored.write_all(file).unwrap();
    let snapshot = Snapshot::from_file(stored, name).map_err(text)?;
    let mut answers = vec![format!("{:?}", snapshot.info())];
    let columns: Vec<_> = Column::all().collect();
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    while let Some(chunk) = scan.next_chunk().map_err(text)? {
        for at in 0..chunk.len() {
            let names = (chunk.path(at), chunk.name(at), chunk.file_type(at));
            answers.push(format!("{names:?}"));
            for column in &columns {
                let cell = (chunk.integer(*column, at), chunk.bytes(*column, at));
                answers.push(format!("{cell:?}"));
            }
        }
    }
    for path in ["", "f", "x"] {
        let found = snapshot.locate(0, path.as_bytes()).map_err(text)?;
        answers.push(format!("{found:?}"));
    }
    Ok(answers)
}

/// Changes bytes of a snapshot by `change`. Each change must be reported, or change no answer.
fn damaged_bytes(bytes: impl Iterator<Item = usize>, whole: &[u8], change: impl Fn(usize) -> u8) {
    let name = Path::new("its name");
    let expected = read_all(whole, name).unwrap();
    for at in bytes {
        let mut data = whole.to_vec();
        data[at] ^= change(at);
        match read_all(&data, name) {
            Ok(answers) => assert!(answers == expected, "byte {at}"),
            Err(why) => assert!(why.contains("its name"), "{why}"),
        }
    }
}

/// Returns where the footer of a file begins.
fn footer_begin(whole: &[u8]) -> usize {
    let tail = whole.len() - 8;
    let length = whole[tail..].first_chunk().unwrap();
    tail - u32::from_le_bytes(*length) as usize
}

/// Returns a snapshot with values in all columns except the columns of failures.
fn whole() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let time = |secs| Some(Timestamp { secs, nanos: 1 });
    let entry = |name, file_type, number: u32| {
        let mut entry = Entry::new(name, file_type);
        entry.attributes = Attributes {
            ino: Some(number.into()),
            dev: Some(1),
            mode: Some(0o644),
            nlink: Some(1),
            uid: Some(number),
            gid: Some(number),
            size: Some(u64::from(number) * 100),
            alloc: Some(u64::from(number) * 4096),
            mtime: time(i64::from(number)),
            ctime: time(1 << 35),
            btime: time(7),
            ..Attributes::default()
        };
        entry
    };
    let mut options = WriteOptions::default();
    options.contents.hash = true;
    let mut tree = TreeBuilder::new(options);
    let root = entry(b"", FileType::Directory, 2);
    tree.begin_root(b"/r", &root).unwrap();
    for (name, number) in [(&b"f"[..], 10), (b"g.txt", 11), (b"h\xff", 12)] {
        let mut file = entry(name, FileType::Regular, number);
        file.attributes.hash = (number != 11).then_some([u8::try_from(number).unwrap(); 32]);
        tree.file(&file).unwrap();
    }
    let mut link = entry(b"link", FileType::Symlink, 13);
    link.target = Some(b"f");
    tree.file(&link).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    fs::read(&path).unwrap()
}

#[test]
fn a_bit_that_flips_is_reported_or_changes_no_answer() {
    let whole = whole();
    let footer = footer_begin(&whole);
    // The checksum shows damage of the footer, except damage of the checksum itself.
    let mark = memchr::memmem::rfind(&whole, b"footer_crc32").unwrap();
    let bytes = (0..footer).step_by(3);
    let bytes = bytes.chain((footer..mark).step_by(31));
    let bytes = bytes
        .chain(mark..mark + 24)
        .chain(whole.len() - 8..whole.len());
    damaged_bytes(bytes, &whole, |at| 1 << (at / 3 % 8));
}

#[test]
fn no_page_passes_for_one_in_another_encoding() {
    // The numbers of encodings, as headers store them.
    let numbers = [0, 4, 10, 14, 16];
    let whole = whole();
    let is_number = |at: &usize| whole[at - 1] == 0x15 && numbers.contains(&whole[*at]);
    let bytes: Vec<_> = (5..footer_begin(&whole)).filter(is_number).collect();
    assert!(bytes.len() > 100);
    for number in numbers {
        damaged_bytes(bytes.iter().copied(), &whole, |at| whole[at] ^ number);
    }
}

#[test]
#[ignore = "takes minutes: all other values of each byte before the footer"]
fn long_any_damage_of_a_byte_is_reported_or_changes_no_answer() {
    let whole = whole();
    for change in 1..=255 {
        damaged_bytes(0..footer_begin(&whole), &whole, |_| change);
    }
}

#[test]
fn files_that_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    snapshot(&path);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).unwrap();
        reason(&path);
    }
}

#[test]
fn unsigned_numbers_of_32_bits_have_no_sign() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut entry = Entry::new(b"", FileType::Directory);
    entry.attributes.uid = Some(u32::MAX);
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &entry).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    let mut scan = snapshot.scan(0..1, &[Column::Uid]).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    assert_eq!(chunk.integer(Column::Uid, 0), Some(u32::MAX.into()));
}

/// Returns a snapshot whose rows have these values in the column of hashes.
fn with_hashes(values: &[Option<&[u8]>]) -> Snapshot {
    let contents = Contents {
        hash: true,
        ..Contents::default()
    };
    let file = tempfile::tempfile().unwrap();
    let mut sink = ParquetSink::new(&file, contents, Shape::Snapshot, 1).unwrap();
    let mut rows = sink.buffer();
    for (at, value) in (0..).zip(values) {
        rows.number(Column::Id, Some(at));
        rows.number(Column::Root, Some(0));
        rows.bytes(Column::Path, Some(b"f"));
        rows.boolean(Column::Charged, true);
        rows.boolean(Column::Clamped, false);
        rows.bytes(Column::Hash, *value);
        rows.end_row();
    }
    rows.end_page();
    sink.page(rows, FirstRow::default()).unwrap();
    sink.finish(Info::default().to_pairs(contents)).unwrap();
    seal(&file).unwrap();
    Snapshot::from_file(file, Path::new("its name")).unwrap()
}

#[test]
fn a_hash_of_another_length_is_damage() {
    let (hash, other) = (&[1; 32][..], &[2; 32][..]);
    let read = |values: &[Option<&[u8]>]| {
        let snapshot = with_hashes(values);
        let mut scan = snapshot.scan(0..snapshot.rows(), &[Column::Hash]).unwrap();
        let chunk = scan.next_chunk().map_err(|error| error.to_string())?;
        let chunk = chunk.unwrap();
        let hashes = (0..chunk.len()).map(|at| chunk.hash(at).copied());
        Ok::<_, String>(hashes.collect::<Vec<_>>())
    };
    let sound = read(&[None, Some(hash), None, Some(other), None]);
    assert_eq!(
        sound.unwrap(),
        [None, Some([1; 32]), None, Some([2; 32]), None]
    );
    assert_eq!(read(&[Some(hash)]).unwrap(), [Some([1; 32])]);
    for wrong in [&b""[..], &hash[1..], &[1; 33], &[1; 64]] {
        for values in [
            &[Some(wrong)][..],
            &[Some(wrong), Some(other)],
            &[None, Some(wrong), None],
            &[Some(hash), Some(wrong), None],
        ] {
            let why = read(values).unwrap_err();
            assert!(why.contains("its name"), "{why}");
            assert!(
                why.contains("column hash: one of its values does not have 32 bytes"),
                "{why}"
            );
        }
    }
    // Together they have the right length.
    assert!(read(&[Some(&[1; 31]), Some(&[1; 33])]).is_err());
}

#[test]
fn a_column_of_hashes_of_another_type_is_refused() {
    let whole = whole();
    // In the schema: type BYTE_ARRAY, optional, a name of four bytes.
    let element = b"\x15\x0c\x25\x02\x18\x04hash";
    let at = memchr::memmem::rfind(&whole, element).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut data = whole.clone();
    // INT64.
    data[at + 1] = 4;
    fs::write(&path, &data).unwrap();
    seal(&File::options().read(true).write(true).open(&path).unwrap()).unwrap();
    assert!(reason(&path).contains("its column hash has another type"));
}
