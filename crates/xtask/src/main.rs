//! Makes the files that are installed beside the program (`cargo run -p xtask -- assets DIR`), and
//! the header of the C library (`cargo run -p xtask -- header`).
//!
//! ```text
//! DIR/man/ringwalk.1, ringwalk-count.1, ...     man pages of the program
//! DIR/man/ringwalk.3, ringwalk_open.3, ...      man pages of the C library
//! DIR/completions/ringwalk.bash, _ringwalk, ringwalk.fish
//! crates/ringwalk-capi/include/ringwalk.h
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `main.rs` | the tasks and their arguments |
//! | `man.rs` | man pages of the program |
//! | `library/` | man pages of the C library |
//! | `header.rs`, `header_introduction.h` | the C header |
//! | `find/` | words on the man page of `find`, and its completions |
//! | `prose.rs` | text of man pages |
//!
//! Files for the program come from the definition of the command line in `ringwalk-cli`, and for
//! `find` from the table of its language. Text that a command line cannot express, such as exit
//! statuses and the shape of JSON, is in `man.md` beside the code of each command.

mod find;
mod header;
mod library;
mod man;
mod prose;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use clap_complete::Shell;
use ringwalk_cli::cli;

/// Tasks of the project that are not part of the program
#[derive(Debug, Parser)]
#[command(name = "xtask")]
enum Task {
    /// Write man pages and completions below a directory, which is created if necessary
    Assets {
        /// The directory
        directory: std::path::PathBuf,
    },
    /// Write ringwalk.h, the header of the C library, to its place in the repository
    Header,
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Assets { directory } => assets(&directory),
        Task::Header => header::write(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn assets(directory: &Path) -> Result<()> {
    let man = directory.join("man");
    make(&man)?;
    let pages = man::pages(cli::definition())?;
    for (name, page) in pages.into_iter().chain(library::pages()?) {
        let path = man.join(name);
        std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let completions = directory.join("completions");
    make(&completions)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut cli::definition(), "ringwalk", &completions)
            .with_context(|| {
                format!(
                    "cannot write the completion for {shell} to {}",
                    completions.display()
                )
            })?;
    }
    find::extend(&completions)
}

fn make(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))
}

#[cfg(test)]
mod tests;
