//! What GNU's programs have in common, for the programs that stand in their place.
//!
//! | file | what is in it |
//! |---|---|
//! | `locale.rs` | the one thing of the locale that matters here: whether text is UTF-8 |
//! | `glob.rs` | patterns as `fnmatch(3)` has them |
//! | `quote.rs` | names in messages |
//! | `terminal.rs` | names and other data made safe for a terminal |
//! | `civil.rs`, `strftime.rs` | a time taken apart in a time zone, and written by a format |
//! | `zone.rs` | time zones |
//! | `reason.rs` | the system's words for an error |
//!
//! What is *not* here: anything of one program only.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod civil;
pub mod glob;
pub mod locale;
pub mod quote;
mod reason;
pub mod strftime;
mod terminal;
mod zone;

pub use reason::reason;
pub use terminal::terminal_safe;
