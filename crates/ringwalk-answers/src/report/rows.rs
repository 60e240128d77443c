//! Reading rows into a table, group by group of rows, by several threads.

use super::classes::{AgeClass, SizeClass};
use super::directories::Directories;
use super::key::Key;
use super::links::Candidate;
use super::table::{Code, OVERFLOW, Sums, Table};
use super::value;
use ringwalk_snapshot::{Chunk, Column, PAGE_ROWS, ReadError, Snapshot};
use std::ops::Range;

/// Everything that the threads need to know.
pub(super) struct Plan<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) keys: &'a [Key],
    pub(super) directories: &'a Directories,
    /// When the snapshot began and ended, in nanoseconds since 1970.
    pub(super) start: i64,
    pub(super) end: i64,
    /// Rows that are not charged may have to be charged, as [`Candidate`]s.
    pub(super) links: bool,
}

/// What one piece of the rows adds up to.
pub(super) struct Piece {
    pub(super) table: Table,
    /// Rows that are not charged, with their groups in `table`.
    pub(super) candidates: Vec<Candidate>,
}

impl Plan<'_> {
    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::Size, Column::Alloc, Column::Charged];
        for key in self.keys {
            match key {
                Key::Owner => columns.push(Column::Uid),
                Key::Group => columns.push(Column::Gid),
                Key::Project => columns.push(Column::Projid),
                Key::Age => columns.push(Column::Mtime),
                Key::Type => columns.push(Column::Type),
                Key::Extension => columns.push(Column::Ext),
                Key::Size | Key::Directory => {}
            }
        }
        if self.links {
            columns.extend([Column::Fs, Column::Ino, Column::Skipped]);
        }
        columns
    }

    /// Adds up rows.
    pub(super) fn read(&self, rows: Range<u64>) -> Result<Piece, ReadError> {
        let mut piece = Piece {
            table: Table::new(self.keys.len()),
            candidates: Vec::new(),
        };
        let mut groups = Vec::with_capacity(PAGE_ROWS);
        let mut numbers = Vec::with_capacity(PAGE_ROWS);
        let mut scan = self.snapshot.scan(rows, &self.columns())?;
        while let Some(chunk) = scan.next_chunk()? {
            groups.clear();
            self.numbers(0, chunk, &mut piece.table, &mut groups);
            for key in 1..self.keys.len() {
                numbers.clear();
                self.numbers(key, chunk, &mut piece.table, &mut numbers);
                for (group, number) in groups.iter_mut().zip(&numbers) {
                    *group = piece.table.pair(key, *group, *number);
                }
            }
            sum(chunk, &groups, &mut piece.table);
            if self.links {
                find_candidates(chunk, &groups, &mut piece.candidates);
            }
        }
        Ok(piece)
    }

    /// Appends the number of each row's value of a key.
    fn numbers(&self, at: usize, chunk: &Chunk, table: &mut Table, out: &mut Vec<u32>) {
        let mut each = |code: &dyn Fn(usize) -> Code| {
            out.extend((0..chunk.len()).map(|row| table.value(at, code(row))));
        };
        match self.keys[at] {
            Key::Owner => ids(chunk, Column::Uid, &mut |code| {
                out.push(table.value(at, code));
            }),
            Key::Group => ids(chunk, Column::Gid, &mut |code| {
                out.push(table.value(at, code));
            }),
            Key::Project => ids(chunk, Column::Projid, &mut |code| {
                out.push(table.value(at, code));
            }),
            Key::Age => {
                let times = chunk.integers(Column::Mtime);
                each(&|row| {
                    let time = known(chunk, Column::Mtime, times, row);
                    AgeClass::of(time, self.start, self.end) as Code
                });
            }
            Key::Size => {
                let sizes = chunk.integers(Column::Size);
                each(&|row| {
                    let size = known(chunk, Column::Size, sizes, row);
                    SizeClass::of(size.map(i64::cast_unsigned)) as Code
                });
            }
            Key::Type => each(&|row| value::code_of_type(chunk.file_type(row))),
            Key::Extension => each(&|row| value::code_of_extension(chunk.bytes(Column::Ext, row))),
            Key::Directory => self.directory_numbers(at, chunk, table, out),
        }
    }

    fn directory_numbers(&self, at: usize, chunk: &Chunk, table: &mut Table, out: &mut Vec<u32>) {
        let end = chunk.first_row() + chunk.len() as u64;
        let mut row = chunk.first_row();
        while row < end {
            let (name, next) = self.directories.run_at(row);
            let number = match name {
                OVERFLOW => OVERFLOW,
                name => table.value(at, name.into()),
            };
            let next = next.min(end);
            out.extend((row..next).map(|_| number));
            row = next;
        }
    }
}

/// Calls `each` with the code of each row's owner, group or project.
fn ids(chunk: &Chunk, column: Column, each: &mut dyn FnMut(Code)) {
    let numbers = chunk.integers(column);
    for row in 0..chunk.len() {
        each(value::code_of_id(known(chunk, column, numbers, row)));
    }
}

/// Returns the value of a row. Nulls are 0 among the values.
#[inline]
fn known(chunk: &Chunk, column: Column, values: &[i64], row: usize) -> Option<i64> {
    match number(values, row) {
        0 => chunk.integer(column, row),
        value => Some(value),
    }
}

/// Returns the number of a row; 0 if the file does not have the column.
#[inline]
fn number(values: &[i64], row: usize) -> i64 {
    values.get(row).copied().unwrap_or_default()
}

fn sum(chunk: &Chunk, groups: &[u32], table: &mut Table) {
    let sizes = chunk.integers(Column::Size);
    let allocs = chunk.integers(Column::Alloc);
    let charged = chunk.integers(Column::Charged);
    for (row, group) in groups.iter().enumerate() {
        let charged = number(charged, row) != 0;
        let bytes = |values: &[i64]| {
            if charged {
                number(values, row).cast_unsigned()
            } else {
                0
            }
        };
        table.sums(*group).add(Sums {
            entries: 1,
            size: bytes(sizes),
            alloc: bytes(allocs),
        });
    }
}

/// Appends the rows that are not charged because a file has another name.
pub(super) fn find_candidates(chunk: &Chunk, groups: &[u32], out: &mut Vec<Candidate>) {
    let charged = chunk.integers(Column::Charged);
    for (row, group) in groups.iter().enumerate() {
        if number(charged, row) != 0 || chunk.bytes(Column::Skipped, row).is_some() {
            continue;
        }
        let Some(ino) = chunk.integer(Column::Ino, row) else {
            continue;
        };
        out.push(Candidate {
            row: chunk.first_row() + row as u64,
            fs: chunk.integer(Column::Fs, row),
            ino,
            group: *group,
            sums: Sums {
                entries: 0,
                size: number(chunk.integers(Column::Size), row).cast_unsigned(),
                alloc: number(chunk.integers(Column::Alloc), row).cast_unsigned(),
            },
        });
    }
}
