//! The `ringwalk` program; everything is in the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ringwalk_cli::run(std::env::args_os().collect())
}
