//! Functions that GNU's programs share, for the programs that replace them.
//!
//! | file | contents |
//! |---|---|
//! | `locale.rs` | the settings of the locale that matter here: whether text is UTF-8 |
//! | `glob/`, `glob/` | patterns as in `fnmatch(3)` |
//! | `quote.rs` | names in messages |
//! | `terminal.rs` | names and other data made safe for a terminal; terminals without colours |
//! | `civil.rs`, `strftime.rs` | calendar and clock in a time zone, and their output by a format |
//! | `zone.rs` | time zones |
//! | `reason.rs` | the system's text for an error |
//!
//! Code for a single program is *not* here.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod civil;
pub mod glob;
pub mod locale;
pub mod quote;
mod reason;
pub mod strftime;
mod terminal;
mod zone;

pub use reason::{no_thread, reason};
pub use terminal::{is_dumb_terminal, terminal_safe};
