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
mod tests;
