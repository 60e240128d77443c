//! Writes Parquet files: the part of the format that Ringwalk needs.
//!
//! The format is described in `parquet.thrift` and `Encodings.md` of
//! <https://github.com/apache/parquet-format>. Files have data pages of the first version, which
//! zstd compresses, with checksums, bounds of the values of each page, and an index of the pages.
//! `read/` reads them, and so do all readers of Parquet. The tests read them with the `parquet`
//! crate. It is not used for writing: building the program with it would take a quarter longer.
//!
//! | file | contents |
//! |---|---|
//! | `cells.rs` | the cells of a page of one column |
//! | `bits.rs` | numbers packed into bits |
//! | `values.rs` | values of a page as bytes |
//! | `dictionary.rs` | the different values of a column |
//! | `bounds.rs` | the least and the largest value |
//! | `column.rs` | a column of a row group: its pages |
//! | `file.rs` | the file: row groups, indexes, footer |
//! | `thrift.rs` | Thrift's compact protocol |

mod bits;
mod bounds;
mod cells;
mod column;
mod dictionary;
mod file;
mod thrift;
mod values;

pub use cells::{ATTRIBUTE, Cells};
pub use column::{Chunk, ColumnWriter, Settings, compressor};
pub use file::FileWriter;
pub(crate) use file::{MAGIC, ZSTD};

/// How values are stored, with the numbers of `parquet.thrift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// One value after the other.
    Plain = 0,
    /// The indexes of a dictionary, in files of other writers.
    PlainDictionary = 2,
    /// Levels.
    Rle = 3,
    /// Numbers as differences, packed into bits.
    DeltaBinaryPacked = 5,
    /// Texts, each as what it shares with the text before it and the rest.
    DeltaByteArray = 7,
    /// The indexes of a dictionary.
    RleDictionary = 8,
}

impl Encoding {
    /// Returns the encoding of values with this number.
    pub fn of_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Plain,
            2 => Self::PlainDictionary,
            5 => Self::DeltaBinaryPacked,
            7 => Self::DeltaByteArray,
            8 => Self::RleDictionary,
            _ => return None,
        })
    }
}

/// The type of stored values, with the numbers of `parquet.thrift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Physical {
    /// One bit.
    Boolean = 0,
    /// 32 bits.
    Int32 = 1,
    /// 64 bits.
    Int64 = 2,
    /// A fraction in 64 bits.
    Double = 5,
    /// Bytes of any number.
    ByteArray = 6,
}

/// The meaning of stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    /// UTF-8.
    String,
    /// Keys and values, as `LogicalTypes.md` defines it.
    Map,
    /// An unsigned number with as many bits as are stored.
    Unsigned,
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    Nanoseconds,
}

/// How often a field occurs, with the numbers of `parquet.thrift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Once in each row.
    Required = 0,
    /// Once or not at all.
    Optional = 1,
    /// Any number of times.
    Repeated = 2,
}

/// A column, or a group of columns.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name in the schema of the file.
    pub name: String,
    /// `None` for the whole file.
    pub repetition: Option<Repetition>,
    /// `None` for a group.
    pub physical: Option<Physical>,
    /// `None` if the stored values say it all.
    pub logical: Option<Logical>,
    /// The fields of a group.
    pub fields: Vec<Field>,
}

impl Field {
    /// Creates a group.
    pub fn group(name: &str, repetition: Option<Repetition>, fields: Vec<Self>) -> Self {
        Self {
            name: name.to_owned(),
            repetition,
            physical: None,
            logical: None,
            fields,
        }
    }

    /// Creates a column.
    pub fn column(
        name: &str,
        repetition: Repetition,
        physical: Physical,
        logical: Option<Logical>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            repetition: Some(repetition),
            physical: Some(physical),
            logical,
            fields: Vec::new(),
        }
    }

    /// Returns the columns of a group, in the order of the file.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for field in &self.fields {
            let definition = u8::from(field.repetition != Some(Repetition::Required));
            let repetition = u8::from(field.repetition == Some(Repetition::Repeated));
            if let Some(physical) = field.physical {
                leaves.push(Leaf {
                    path: vec![field.name.clone()],
                    physical,
                    is_unsigned: field.logical == Some(Logical::Unsigned),
                    definition,
                    repetition,
                });
            }
            // Groups are nested two deep.
            leaves.extend(field.leaves().into_iter().map(|mut leaf| {
                leaf.path.insert(0, field.name.clone());
                leaf.definition += definition;
                leaf.repetition += repetition;
                leaf
            }));
        }
        leaves
    }
}

/// A column of a file.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The names of its groups, and its own.
    path: Vec<String>,
    physical: Physical,
    is_unsigned: bool,
    /// The level of a value: how many of the fields of the path may be missing.
    definition: u8,
    /// How many of the fields of the path may occur several times.
    repetition: u8,
}

#[cfg(test)]
mod tests;
