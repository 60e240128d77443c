//! Exchange with other programs: ncdu's two formats, NDJSON and CSV.
//!
//! `docs/exchange.md` says what each format keeps and loses.
//!
//! | file | contents |
//! |---|---|
//! | `import.rs` | import: the format of a file, and the snapshot made from it |
//! | `item.rs` | an entry as ncdu's formats describe it, and the trait that receives entries |
//! | `entries.rs` | the entries of ncdu's formats as entries of a snapshot |
//! | `totals.rs` | sizes of directories in files of gdu |
//! | `error.rs` | errors of an import, with the place in the file |
//! | `scanner/` | JSON from a stream, with strings of any bytes |
//! | `ncdu_json_import.rs` | ncdu's JSON, read |
//! | `cbor.rs` | the values of CBOR |
//! | `blocks.rs` | the blocks of ncdu's binary format, and a cache of them |
//! | `ncdu_binary_import.rs` | ncdu's binary format, read |
//! | `pages.rs` | rows of a snapshot in any order |
//! | `ncdu_object.rs` | a row as an object of ncdu's JSON |
//! | `ncdu_json_export.rs` | ncdu's JSON, written |
//! | `table.rs` | the rows of a snapshot as values |
//! | `ndjson_export.rs` | NDJSON, written |
//! | `csv_export.rs` | CSV, written |
//! | `json_text.rs` | strings and numbers of JSON, written |

mod blocks;
mod cbor;
mod csv_export;
mod entries;
mod error;
mod import;
mod item;
mod json_text;
mod ncdu_binary_import;
mod ncdu_json_export;
mod ncdu_json_import;
mod ncdu_object;
mod ndjson_export;
mod pages;
mod scanner;
mod table;
mod totals;

pub use csv_export::write_csv;
pub use error::{ImportError, Place, Refused};
pub use import::{import, import_unnamed, may_be_ncdu};
pub use item::{Events, Excluded, Fields, Header};
pub use ncdu_binary_import::read as read_ncdu_binary;
pub use ncdu_json_export::write_ncdu_json;
pub use ncdu_json_import::read as read_ncdu_json;
pub use ndjson_export::write_ndjson;
pub use ringwalk_snapshot::{ExportError, ImportFormat};

#[cfg(test)]
mod recorder;
#[cfg(test)]
mod tests;
