//! Bytes as text: escaped where they are not UTF-8, as hexadecimal digits, as fields of CSV; and
//! sizes for people.
//!
//! Names of files are bytes. JSON, CSV and logs of Ringwalk get them from these functions. So a
//! name looks the same in each.
//!
//! | file | contents |
//! |---|---|
//! | `escape.rs` | text in which bytes that are not UTF-8 are written as `\xHH` |
//! | `hex.rs` | hexadecimal digits, written and read |
//! | `csv.rs` | fields of CSV |
//! | `size.rs` | sizes for people |
//!
//! What a terminal may be sent is *not* decided here, but in `ringwalk::shown`.

mod csv;
mod escape;
mod hex;
mod size;

pub use csv::push_csv;
pub use escape::{escaped, push_escaped};
pub use hex::{from_hex, hex, hex_unless_text, push_hex};
pub use size::{SizeFormat, push_decimal, push_human};

#[cfg(test)]
mod tests;
