//! What a search has found, in formats for other programs.
//!
//! All formats have the groups in the order of [`Found::groups`](crate::Found::groups), and in each
//! group the copy to keep first. Paths that are not UTF-8 are given as in the other output of
//! Ringwalk: as text with `\xHH` for each byte that is not UTF-8, and as bytes beside it. fdupes'
//! format has the bytes of the paths only.
//!
//! | file | contents |
//! |---|---|
//! | `totals.rs` | sums over all groups |
//! | `fdupes.rs` | the format of fdupes and jdupes |
//! | `json.rs` | JSON |
//! | `rows.rs` | a row for each name, and its columns |
//! | `csv.rs` | the rows as CSV |
//! | `parquet.rs` | the rows as a Parquet file |

mod csv;
mod fdupes;
mod json;
mod parquet;
mod rows;
mod totals;

pub use csv::csv;
pub use fdupes::fdupes;
pub use json::json;
pub use parquet::parquet;
pub use totals::Totals;

#[cfg(test)]
mod tests;
