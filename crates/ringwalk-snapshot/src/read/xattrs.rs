//! Reads extended attributes, which are a column of type MAP.

use super::{ReadError, Snapshot};
use crate::schema::XATTRS;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;

/// The level of an attribute; 1 is a file without any, 0 one whose attributes are not known.
const ATTRIBUTE: i16 = 2;

/// Names and values of the attributes of a file.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Reads the attributes of rows in order, from the first row on.
pub(crate) struct XattrReader<'s> {
    snapshot: &'s Snapshot,
    file: SerializedFileReader<File>,
    /// The indexes of the columns of names and values.
    leaves: [usize; 2],
    group: usize,
    /// The columns of names and values of the row group.
    open: Option<[ColumnReader; 2]>,
}

impl<'s> XattrReader<'s> {
    /// Returns `None` for a file without extended attributes.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub(crate) fn of(snapshot: &'s Snapshot) -> Result<Option<Self>, ReadError> {
        let file = snapshot.file().try_clone();
        let file = file.map_err(|error| ParquetError::External(error.into()));
        let file = file.and_then(SerializedFileReader::new);
        let file = file.map_err(|error| damaged(snapshot, &error))?;
        let (Some(names), Some(values)) = (leaf(&file, "key"), leaf(&file, "value")) else {
            return Ok(None);
        };
        Ok(Some(Self {
            snapshot,
            file,
            leaves: [names, values],
            group: 0,
            open: None,
        }))
    }

    /// Goes to a row of a row group. The rows before it in the group are read.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub(crate) fn go_to(&mut self, group: usize, row: u64) -> Result<(), ReadError> {
        (self.group, self.open) = (group, None);
        let skipped = usize::try_from(row).unwrap_or(usize::MAX);
        self.next(skipped).map(drop)
    }

    /// Returns the attributes of the next rows. They must be in one row group.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub(crate) fn next(&mut self, rows: usize) -> Result<Vec<Pairs>, ReadError> {
        let read = self.read(rows);
        read.map_err(|error| damaged(self.snapshot, &error))
    }

    fn read(&mut self, rows: usize) -> Result<Vec<Pairs>, ParquetError> {
        let mut readers = match self.open.take() {
            Some(readers) => readers,
            None => self.open_group()?,
        };
        let [names, values] = &mut readers;
        let names = read(names, rows)?;
        let values = read(values, rows)?;
        let unequal = || ParquetError::General("names and values differ in number".to_owned());
        let mut all = Vec::with_capacity(rows);
        for (names, values) in names.into_iter().zip(values) {
            if names.len() != values.len() {
                return Err(unequal());
            }
            all.push(names.into_iter().zip(values).collect());
        }
        if all.len() != rows {
            return Err(unequal());
        }
        self.open = Some(readers);
        Ok(all)
    }

    /// Ends the row group. The next rows are in the one behind it.
    pub(crate) fn end_group(&mut self) {
        self.open = None;
        self.group += 1;
    }

    fn open_group(&self) -> Result<[ColumnReader; 2], ParquetError> {
        let group = self.file.get_row_group(self.group)?;
        let [names, values] = self.leaves;
        Ok([
            group.get_column_reader(names)?,
            group.get_column_reader(values)?,
        ])
    }
}

fn damaged(snapshot: &Snapshot, error: &ParquetError) -> ReadError {
    snapshot.damaged(&format!("extended attributes: {error}"))
}

/// Returns the index of a column of the map.
fn leaf(file: &SerializedFileReader<File>, name: &str) -> Option<usize> {
    let schema = file.metadata().file_metadata().schema_descr();
    let path = [XATTRS, "key_value", name];
    let mut columns = schema.columns().iter();
    columns.position(|column| column.path().parts() == path)
}

/// Reads a column of so many rows. Returns the texts of each row.
fn read(column: &mut ColumnReader, rows: usize) -> Result<Vec<Vec<Vec<u8>>>, ParquetError> {
    let ColumnReader::ByteArrayColumnReader(column) = column else {
        let what = "extended attributes are no bytes";
        return Err(ParquetError::General(what.to_owned()));
    };
    let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
    let mut values: Vec<ByteArray> = Vec::new();
    let mut got = 0;
    while got < rows {
        let wanted = rows - got;
        let (more, _, _) = column.read_records(
            wanted,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        )?;
        if more == 0 {
            break;
        }
        got += more;
    }
    let mut all: Vec<Vec<Vec<u8>>> = Vec::with_capacity(rows);
    let mut values = values.into_iter();
    for (definition, repetition) in definitions.iter().zip(&repetitions) {
        if *repetition == 0 {
            all.push(Vec::new());
        }
        if *definition == ATTRIBUTE
            && let (Some(row), Some(value)) = (all.last_mut(), values.next())
        {
            row.push(value.data().to_vec());
        }
    }
    Ok(all)
}
