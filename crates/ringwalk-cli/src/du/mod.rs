//! `ringwalk du`: a replacement for GNU du, with the same options, numbers, output, messages and exit statuses (those of
//! coreutils 9.7), and lines in an order that is the same on every run.
//!
//! | file | what is in it |
//! |---|---|
//! | `args.rs` | the options as they are given |
//! | `config.rs` | what they mean together, with the environment |
//! | `number.rs`, `block_size.rs` | numbers with units, and counts written in units |
//! | `choice.rs`, `time_style.rs` | which times are shown, and how |
//! | `exclude.rs` | patterns of what is left out |
//! | `exclusive.rs`, `compressed.rs` | space that belongs to a file alone |
//! | `files0.rs`, `operands.rs` | operands: from a list, and which go together |
//! | `messages.rs` | messages about usage |
//! | `scan.rs` | one sum of a whole file system, without a walk |
//! | `measure.rs`, `visitor.rs`, `state.rs` | the walks, what each worker does in them, and what is kept with a directory |
//! | `account.rs`, `totals.rs`, `output.rs` | the books, kept in the order of the tree; lines |
//!
//! What differs from GNU's:
//!
//! - Output is written in blocks, not line by line, unless it goes to a terminal. A reader that
//!   goes away ends the work with status 1, not by a signal.
//! - At a terminal, `?` replaces the control characters of paths, unless `-0` is given.
//! - A directory of more than 10 000 entries is listed in its own order, not by inode number. So of
//!   several links to a file another one may be charged.
//! - `-L` counts what lies below more than 40 links, one below the other. GNU's names the path to
//!   the kernel, which refuses it (ELOOP).
//! - `-L` uses one worker, since it must know in time where a link leads back to. It ignores
//!   `--workers`.
//! - Among several operands, a file that is mounted over another file counts each time it is met.
//! - Names of operands from a list are all read before anything is measured.
//! - `--time=mtime` is understood, and `-d=1` as `-d1`. Of several wrong options only the first is named.
//! - The locale only says whether text is UTF-8: digits are not grouped, names of days and months are English. Leap
//!   seconds (`TZ=right/...`) are not known.

mod account;
mod args;
mod block_size;
mod choice;
mod compressed;
mod config;
mod exclude;
mod exclusive;
mod files0;
mod measure;
mod messages;
mod number;
mod operands;
mod output;
mod scan;
mod state;
mod time_style;
mod totals;
mod visitor;

use std::process::ExitCode;

pub use args::DuArgs;
pub use messages::usage_error;

use crate::console;
use crate::engine_options::EngineOptions;
use config::{Config, Refusal};

/// Measures what `args` name and writes it to standard output.
pub fn run(args: &DuArgs, engine: &EngineOptions) -> ExitCode {
    console::set_program("du");
    match Config::new(args, &mut |text| console::error(text)) {
        Ok(config) => measure::measure(config, engine),
        Err(Refusal::Plain) => ExitCode::FAILURE,
        Err(Refusal::Usage) => {
            messages::point_to_help();
            ExitCode::FAILURE
        }
    }
}
