//! `ringwalk du`: a replacement for GNU du, with the same options, numbers, output, messages and
//! exit statuses (those of coreutils 9.10), and lines in an order that is the same on every run.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options in the order in which they are given |
//! | `config.rs` | the settings that follow from options and environment |
//! | `number.rs`, `block_size.rs` | numbers with units, and counts written in units |
//! | `choice.rs`, `time_style.rs` | the times that are shown, and their formats |
//! | `exclude.rs` | patterns of the files that are left out |
//! | `files0.rs` | operands from a list |
//! | `messages.rs` | messages about usage |
//! | `program.rs`, `output.rs` | lines, and standard output |
//!
//! The crate `ringwalk-du` measures: it decides which files count and adds them up.
//!
//! Differences from GNU's du:
//!
//! - Output is written in blocks, not line by line, unless it goes to a terminal. If the reader
//!   closes the pipe, the program ends with status 1, not by a signal.
//! - At a terminal, `?` replaces the control characters of paths, unless `-0` is given.
//! - A directory of more than 10 000 entries is listed in its own order, not by inode number. So of
//!   several links to a file another one may be charged.
//! - `-L` also counts files below more than 40 links, one below the other. GNU's du gives the path
//!   to the kernel, which refuses it (ELOOP).
//! - `-L` uses one worker, since that worker must know in time that a link leads back into the
//!   tree. `-L` ignores `--workers`.
//! - With several operands, a file that is mounted over another file counts each time that it is
//!   reached.
//! - The program reads all names of a list of operands before it measures the first one.
//! - `--time=mtime` is accepted, and `-d=1` means `-d1`. If several options are wrong, the message
//!   names only the first.
//! - Only the encoding of the locale matters: digits are not grouped, and names of days and months
//!   are English. Leap seconds (`TZ=right/...`) are not supported.

mod args;
mod block_size;
mod choice;
mod config;
mod exclude;
mod files0;
mod messages;
mod number;
mod output;
mod program;
mod time_style;

use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

pub use args::DuArgs;
pub use messages::usage_error;

use crate::console;
use crate::engine_options::{EngineOptions, Lacks};
use crate::from;
use crate::quote::quoted;
use crate::status::{Ended, GNU_USAGE};
use config::{Config, Refusal};

/// Advises a person at a terminal who wants the size of one file, which is a snapshot.
///
/// For du it is a file like any other. Its name is looked at first, so that du opens no other file.
fn advise(config: &Config) {
    let ([name], None) = (&config.operands[..], &config.from) else {
        return;
    };
    let is_usual = name.as_bytes().ends_with(b".parquet");
    let at_terminal = console::stdout_is_terminal() && console::stderr_is_terminal();
    if is_usual && at_terminal && from::is_snapshot(name.as_ref()) {
        let name = quoted(name);
        console::note(format_args!(
            "{name} is a snapshot; --from {name} adds up the files in it"
        ));
    }
}

/// Measures the operands of `args` and writes their lines to standard output.
///
/// # Errors
///
/// If nothing can be measured.
pub fn run(args: &DuArgs, engine: &EngineOptions) -> Result<ExitCode, Ended> {
    console::set_program("du");
    let config = Config::new(args, &mut |text| console::error(text)).map_err(|refusal| {
        if let Refusal::Usage = refusal {
            messages::point_to_help();
        }
        Ended::with(GNU_USAGE)
    })?;
    if config.from.is_some()
        && let Err(message) = engine.refuse(Lacks::Directories, "with --from")
    {
        console::error(message);
        return Err(Ended::with(GNU_USAGE));
    }
    let measured = program::measure(&config, engine);
    advise(&config);
    measured
}
