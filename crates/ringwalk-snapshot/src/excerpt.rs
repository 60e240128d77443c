//! A part of a snapshot as a snapshot of its own.

use crate::export_error::ExportError;
use crate::info::{Info, RootInfo};
use crate::read::{Chunk, Cursor, ReadError, Snapshot, XattrReader};
use crate::schema::{Column, Contents};
use crate::seal::seal;
use crate::stored_entry::{columns, stored_entry};
use crate::write::run::Run;
use crate::write::spill::unnamed_file;
use crate::write::stage::{Stage, StageWriter};
use crate::write::{Failures, Referred, WriteOptions, write};
use ringwalk::FileType;
use std::collections::HashMap;
use std::ops::Range;

/// Makes a snapshot of the file in a row of another snapshot, and of everything below it that
/// `keep` wants. It is in an unnamed temporary file, in the folder `TMPDIR` or `/tmp`.
///
/// `keep` gets each path, relative to the new root. The root is always kept, and so are directories
/// that hold something kept. Sums cover only files that are kept. A file with several names counts
/// once in them.
///
/// The result says that it is incomplete if something in the tree could not be read, kept or not: a
/// directory that could not be read may hold what is wanted. A failure that has no row in
/// `snapshot` may belong to any directory, so it counts here, too.
///
/// # Errors
///
/// If there is no such row, the snapshot cannot be read or is damaged, or the temporary file cannot
/// be written.
pub fn excerpt(
    snapshot: &Snapshot,
    row: u64,
    keep: impl FnMut(&[u8]) -> bool,
) -> Result<Snapshot, ExportError> {
    let mut excerpt = Excerpt::begin(snapshot, row, keep)?;
    excerpt.stage_rows()?;
    excerpt.finish()
}

struct Excerpt<'s, K> {
    snapshot: &'s Snapshot,
    keep: K,
    /// The rows below the top, and the row of the top. Rows of other directories may lie between.
    below: Range<u64>,
    top_row: u64,
    root: RootInfo,
    /// The length of the path of the top in `snapshot`, relative to its root there.
    top: usize,
    devices: Vec<u64>,
    xattrs: Option<XattrReader<'s>>,
    /// The numbers in the stage of directories whose own row is still to come, by their numbers in
    /// `snapshot`.
    listings: HashMap<i64, u64>,
    stage: Stage,
    writer: StageWriter,
    run: Run,
    /// Rows with a failure that are not kept. What should match may be in them.
    unkept_failures: u64,
}

impl<'s, K: FnMut(&[u8]) -> bool> Excerpt<'s, K> {
    fn begin(snapshot: &'s Snapshot, row: u64, keep: K) -> Result<Self, ExportError> {
        let mut cursor = Cursor::default();
        let below = cursor.subtree(snapshot, row)?;
        let columns = [Column::Root, Column::Path, Column::PathRaw];
        let (chunk, at) = cursor.row(snapshot, row, &columns)?;
        let root = chunk.integer(Column::Root, at);
        let root = root.and_then(|root| snapshot.info().roots.get(usize::try_from(root).ok()?));
        let root = root.ok_or_else(|| snapshot.damaged("a row has no root"))?;
        let path = chunk.path(at);
        let stage = Stage::new(WriteOptions::default().waiting());
        // The list of roots.
        stage.new_directory();
        let file_systems = &snapshot.info().file_systems;
        Ok(Self {
            snapshot,
            keep,
            below,
            top_row: row,
            root: RootInfo::new(&root.absolute(path)),
            top: path.len(),
            devices: file_systems.iter().map(|each| each.device).collect(),
            xattrs: XattrReader::of(snapshot)?,
            listings: HashMap::new(),
            stage,
            writer: StageWriter::default(),
            run: Run::default(),
            unkept_failures: 0,
        })
    }

    fn stage_rows(&mut self) -> Result<(), ExportError> {
        for rows in [self.below.clone(), self.top_row..self.top_row + 1] {
            self.stage_range(&rows)?;
        }
        self.run.end(&self.stage, &mut self.writer)?;
        self.writer.close(&self.stage)?;
        Ok(())
    }

    fn stage_range(&mut self, range: &Range<u64>) -> Result<(), ExportError> {
        let snapshot = self.snapshot;
        for (group, rows) in snapshot.row_groups().iter().enumerate() {
            let wanted = rows.start.max(range.start)..rows.end.min(range.end);
            if wanted.is_empty() {
                continue;
            }
            if let Some(xattrs) = &mut self.xattrs {
                xattrs.go_to(group, wanted.start - rows.start)?;
            }
            let mut scan = snapshot.scan(wanted, &columns())?;
            while let Some(chunk) = scan.next_chunk()? {
                let pairs = match &mut self.xattrs {
                    Some(xattrs) => xattrs.next(chunk.len())?,
                    None => Vec::new(),
                };
                for at in 0..chunk.len() {
                    let pairs = pairs.get(at).and_then(Option::as_deref).unwrap_or_default();
                    self.stage_row(chunk, at, pairs)?;
                }
            }
        }
        Ok(())
    }

    fn stage_row(
        &mut self,
        chunk: &Chunk,
        at: usize,
        xattrs: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<(), ExportError> {
        let snapshot = self.snapshot;
        let damaged = |what: &str| snapshot.damaged(what);
        let is_top = chunk.first_row() + at as u64 == self.top_row;
        let own = chunk.integer(Column::SelfDir, at);
        let listing = own.and_then(|own| self.listings.remove(&own));
        let path = chunk.path(at);
        if !is_top {
            let below = path.get(self.top..).unwrap_or_default();
            let below = below.strip_prefix(b"/").unwrap_or(below);
            if listing.is_none() && !(self.keep)(below) {
                let has_failed = chunk.integer(Column::Errno, at).is_some();
                self.unkept_failures += u64::from(has_failed);
                return Ok(());
            }
        }
        let child = match (own, listing) {
            (Some(_), None) => Some(self.stage.new_directory()),
            (_, listing) => listing,
        };
        let root = 0_u32.to_be_bytes();
        let (directory, name) = if is_top {
            (0, &root[..])
        } else {
            let above = chunk.integer(Column::Dir, at);
            let above = above.ok_or_else(|| damaged("a root lies below a directory"))?;
            let stage = &self.stage;
            let directory = self.listings.entry(above);
            (
                *directory.or_insert_with(|| stage.new_directory()),
                chunk.name(at),
            )
        };
        if name.is_empty() {
            return Err(damaged("a row that is no root has no name").into());
        }
        let entry = stored_entry(chunk, at, name, &self.devices);
        let mut entry = entry.map_err(|what| damaged(&what))?;
        entry.xattrs = xattrs;
        // Which name counts is found out anew.
        let is_directory = entry.file_type == FileType::Directory;
        let attributes = &mut entry.attributes;
        attributes.charged_once = !is_directory && attributes.nlink != Some(1);
        self.run
            .push(&self.stage, &mut self.writer, directory, &entry, child)?;
        Ok(())
    }

    fn finish(self) -> Result<Snapshot, ExportError> {
        if !self.listings.is_empty() {
            return Err(self.snapshot.damaged("a directory has no row").into());
        }
        let known = self.snapshot.info();
        let mut info = Info {
            roots: vec![self.root],
            file_systems: known.file_systems.clone(),
            run: known.run.clone(),
            ..Info::default()
        };
        info.verdict.errors = unplaced(self.snapshot)? + self.unkept_failures;
        let options = WriteOptions {
            contents: Contents::of(|column| self.snapshot.has(column), self.xattrs.is_some()),
            ..WriteOptions::default()
        };
        let name = |referred: &Referred, info: &mut Info| {
            for (names, known, numbers) in [
                (&mut info.users, &known.users, &referred.users),
                (&mut info.groups, &known.groups, &referred.groups),
            ] {
                let named = numbers
                    .iter()
                    .filter_map(|number| known.get_key_value(number));
                names.extend(named.map(|(number, name)| (*number, name.clone())));
            }
        };
        let file = unnamed_file()?;
        let staged = self.stage.into_staged();
        write(&staged, &Failures::default(), &options, info, name, &file)?;
        seal(&file)?;
        Ok(Snapshot::from_file(file, self.snapshot.name())?)
    }
}

/// Returns the number of failures that have no row.
fn unplaced(snapshot: &Snapshot) -> Result<u64, ReadError> {
    let mut cursor = Cursor::default();
    let mut placed = 0_u64;
    for root in 0..snapshot.info().roots.len() {
        if let Some(row) = cursor.locate(snapshot, root, b"")? {
            let (chunk, at) = cursor.row(snapshot, row, &[Column::TreeErrors])?;
            let errors = chunk.integer(Column::TreeErrors, at);
            placed = placed.saturating_add(errors.map_or(0, i64::cast_unsigned));
        }
    }
    let verdict = &snapshot.info().verdict;
    let all = verdict.errors.max(u64::from(!verdict.complete));
    Ok(all.saturating_sub(placed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, Entry, Info, TreeBuilder};
    use rustix::fs::{XattrFlags, setxattr};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// A folder with a tree `top`, of which `top/sub` is a part.
    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir_all(top.join("sub/deep/empty")).unwrap();
        fs::create_dir_all(top.join("sub.d")).unwrap();
        fs::create_dir_all(top.join("a")).unwrap();
        fs::write(top.join("a/first"), vec![1; 9000]).unwrap();
        fs::write(top.join("sub/deep/x.log"), vec![1; 5000]).unwrap();
        fs::write(top.join("sub/y.txt"), "y").unwrap();
        // The name outside counts in the whole tree, the name inside in the excerpt.
        fs::hard_link(top.join("a/first"), top.join("sub/second")).unwrap();
        fs::hard_link(top.join("sub/y.txt"), top.join("sub/deep/y")).unwrap();
        symlink("nowhere", top.join("sub/link")).unwrap();
        fs::write(top.join("sub.d/z"), "z").unwrap();
        folder
    }

    fn captured(path: &Path, contents: Contents) -> Snapshot {
        let options = WriteOptions {
            contents,
            ..WriteOptions::default()
        };
        let capture = Capture::new([path]).unwrap().options(options);
        capture.run_unnamed(capture.walk(), path).unwrap().0
    }

    fn row(snapshot: &Snapshot, path: &str) -> u64 {
        snapshot.locate(0, path.as_bytes()).unwrap().unwrap()
    }

    fn paths(snapshot: &Snapshot) -> Vec<String> {
        let columns = [Column::Path, Column::PathRaw];
        let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
        let mut paths = Vec::new();
        while let Some(chunk) = scan.next_chunk().unwrap() {
            for at in 0..chunk.len() {
                paths.push(String::from_utf8(chunk.path(at).to_vec()).unwrap());
            }
        }
        paths
    }

    /// Returns all cells of all rows: the name of each column, with its number or its text.
    fn cells(snapshot: &Snapshot) -> Vec<String> {
        let columns: Vec<Column> = Column::all().collect();
        let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
        let mut cells = Vec::new();
        while let Some(chunk) = scan.next_chunk().unwrap() {
            for at in 0..chunk.len() {
                cells.extend(columns.iter().map(|&column| {
                    let (number, text) = (chunk.integer(column, at), chunk.bytes(column, at));
                    format!("{} {number:?} {text:?}", column.name())
                }));
            }
        }
        cells
    }

    /// Returns the extended attributes of all rows.
    fn xattrs(snapshot: &Snapshot) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut reader = XattrReader::of(snapshot).unwrap().unwrap();
        let mut all = Vec::new();
        for group in snapshot.row_groups() {
            let rows = usize::try_from(group.end - group.start).unwrap();
            all.extend(
                reader
                    .next(rows)
                    .unwrap()
                    .into_iter()
                    .map(Option::unwrap_or_default),
            );
            reader.end_group();
        }
        all
    }

    #[test]
    fn a_part_is_what_a_walk_of_it_finds() {
        let folder = tree();
        let top = folder.path().join("top");
        let whole = captured(&top, Contents::default());
        for part in ["sub", "sub/deep", "sub/deep/empty", "a", "sub/y.txt", ""] {
            let excerpt = excerpt(&whole, row(&whole, part), |_| true).unwrap();
            let walked = captured(&top.join(part), Contents::default());
            assert_eq!(cells(&excerpt), cells(&walked), "{part}");
            assert_eq!(excerpt.info().roots, walked.info().roots);
            assert_eq!(excerpt.info().users, walked.info().users);
            // A walk of a file does not say what its file system is.
            if part != "sub/y.txt" {
                assert_eq!(excerpt.info().file_systems, walked.info().file_systems);
            }
            assert_eq!(excerpt.info().verdict, walked.info().verdict);
        }
    }

    #[test]
    fn only_what_is_wanted_is_kept() {
        let folder = tree();
        let whole = captured(&folder.path().join("top"), Contents::default());
        let keep = |path: &[u8]| path.ends_with(b".log");
        let excerpt_of = |path| paths(&excerpt(&whole, row(&whole, path), keep).unwrap());
        assert_eq!(excerpt_of("sub"), ["deep/x.log", "deep", ""]);
        assert_eq!(excerpt_of("a"), [""]);
        let mut seen = Vec::new();
        excerpt(&whole, row(&whole, "sub/deep"), |path| {
            seen.push(path.to_vec());
            false
        })
        .unwrap();
        assert_eq!(seen, [&b"empty"[..], b"x.log", b"y"]);
    }

    /// Full pages of attributes end before the rows of the other columns do.
    #[test]
    fn very_many_extended_attributes() {
        let options = WriteOptions {
            contents: Contents {
                xattrs: true,
                ..Contents::default()
            },
            ..WriteOptions::default()
        };
        let attributes = |file: usize| -> Vec<(Vec<u8>, Vec<u8>)> {
            let number = if file == 5 { 0 } else { 7000 + file };
            let pair = |at| {
                let value = format!("{file} {at}");
                (format!("user.{at}").into_bytes(), value.into_bytes())
            };
            (0..number).map(pair).collect()
        };
        let mut tree = TreeBuilder::new(options);
        let directory = Entry::new(b"", FileType::Directory);
        tree.begin_root(b"/top", &directory).unwrap();
        for file in 0..30 {
            let (name, xattrs) = (format!("{file:02}"), attributes(file));
            let mut entry = Entry::new(name.as_bytes(), FileType::Regular);
            entry.xattrs = &xattrs;
            tree.file(&entry).unwrap();
        }
        tree.end_directory().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("saved");
        tree.finish(Info::default(), &path).unwrap();
        let whole = Snapshot::open(&path).unwrap();
        let expected: Vec<_> = (0..30).map(attributes).chain([Vec::new()]).collect();
        assert!(xattrs(&whole) == expected);
        let part = excerpt(&whole, row(&whole, ""), |path| path.ends_with(b"7")).unwrap();
        let expected: Vec<_> = [7, 17, 27]
            .map(attributes)
            .into_iter()
            .chain([Vec::new()])
            .collect();
        assert!(xattrs(&part) == expected);
    }

    #[test]
    fn extended_attributes_behind_the_first_page() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir_all(top.join("b")).unwrap();
        for file in 0..9000 {
            fs::write(top.join(format!("a{file}")), "").unwrap();
        }
        fs::write(top.join("b/file"), "").unwrap();
        let set = setxattr(
            top.join("b/file"),
            "user.colour",
            b"blue",
            XattrFlags::empty(),
        );
        if set == Err(rustix::io::Errno::OPNOTSUPP) {
            println!("SKIPPED: the temporary folder has no extended attributes");
            return;
        }
        set.unwrap();
        let contents = Contents {
            atime: true,
            xattrs: true,
            ..Contents::default()
        };
        let whole = captured(&top, contents);
        let excerpt = excerpt(&whole, row(&whole, "b"), |_| true).unwrap();
        assert!(excerpt.has(Column::Atime));
        let blue = (b"user.colour".to_vec(), b"blue".to_vec());
        assert_eq!(xattrs(&excerpt), [vec![blue], vec![]]);
    }

    #[test]
    fn failures_of_what_is_not_kept_stay_in_the_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("whole.parquet");
        let mut builder = crate::TreeBuilder::new(WriteOptions::default());
        let mut unread = crate::Entry::new(b"unread", FileType::Directory);
        unread.failure = Some(crate::Failure {
            operation: crate::FailedOperation::Open,
            errno: ringwalk::Errno::ACCESS,
        });
        let top = crate::Entry::new(b"", FileType::Directory);
        builder.begin_root(b"/data", &top).unwrap();
        builder.file(&unread).unwrap();
        builder.end_directory().unwrap();
        builder.finish(Info::default(), &file).unwrap();
        let whole = Snapshot::open(&file).unwrap();
        let excerpt = excerpt(&whole, row(&whole, ""), |_| false).unwrap();
        assert_eq!(paths(&excerpt), [""]);
        assert_eq!(excerpt.info().verdict.errors, 1);
        assert!(!excerpt.info().verdict.complete);
    }

    #[test]
    fn failures_without_a_row_stay_in_the_verdict() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("whole.parquet");
        let mut builder = crate::TreeBuilder::new(WriteOptions::default());
        let directory = |name| crate::Entry::new(name, FileType::Directory);
        builder.begin_root(b"/data", &directory(b"")).unwrap();
        builder.begin_directory(&directory(b"sub")).unwrap();
        builder.end_directory().unwrap();
        builder.end_directory().unwrap();
        let mut info = Info::default();
        info.verdict.errors = 2;
        builder.finish(info, &file).unwrap();
        let whole = Snapshot::open(&file).unwrap();
        let excerpt = excerpt(&whole, row(&whole, "sub"), |_| true).unwrap();
        assert_eq!(excerpt.info().verdict.errors, 2);
        assert!(!excerpt.info().verdict.complete);
        assert_eq!(excerpt.info().roots[0].path.0, b"/data/sub");
    }

    #[test]
    fn hashes_of_contents_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.parquet");
        let mut options = WriteOptions::default();
        options.contents.hash = true;
        let mut builder = crate::TreeBuilder::new(options);
        let directory = |name| crate::Entry::new(name, FileType::Directory);
        builder.begin_root(b"/data", &directory(b"")).unwrap();
        builder.begin_directory(&directory(b"sub")).unwrap();
        for (name, hash) in [(b"a", Some([5; 32])), (b"b", None)] {
            let mut file = crate::Entry::new(name, FileType::Regular);
            file.attributes.hash = hash;
            builder.file(&file).unwrap();
        }
        builder.end_directory().unwrap();
        builder.end_directory().unwrap();
        builder.finish(Info::default(), &path).unwrap();
        let whole = Snapshot::open(&path).unwrap();
        let excerpt = excerpt(&whole, row(&whole, "sub"), |_| true).unwrap();
        let mut scan = excerpt.scan(0..excerpt.rows(), &[Column::Hash]).unwrap();
        let chunk = scan.next_chunk().unwrap().unwrap();
        let hashes: Vec<_> = (0..chunk.len()).map(|at| chunk.hash(at)).collect();
        assert_eq!(hashes, [Some(&[5; 32]), None, None]);
    }
}
