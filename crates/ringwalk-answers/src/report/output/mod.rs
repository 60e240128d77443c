//! Reports as JSON, CSV and Parquet. `docs/report.md` describes the shapes.
//!
//! | file | contents |
//! |---|---|
//! | `cells.rs` | the columns of a report, and the cells of a row |
//! | `csv.rs` | CSV |
//! | `json.rs` | JSON |
//! | `parquet.rs` | Parquet |

mod cells;
mod csv;
mod json;
mod parquet;

pub use csv::csv;
pub use json::json;
pub use parquet::parquet;
