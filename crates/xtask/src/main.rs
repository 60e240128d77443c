//! Makes what is installed beside the program, `cargo run -p xtask -- assets DIR`, and the header of the C library, `cargo run -p xtask -- header`.
//!
//! ```text
//! DIR/man/ringwalk.1, ringwalk-count.1, ...     man pages
//! DIR/completions/ringwalk.bash, _ringwalk, ringwalk.fish
//! crates/ringwalk-capi/include/ringwalk.h
//! ```
//!
//! Everything of the program comes from the definition of the command line in `ringwalk-cli`, and for `find` from the table of its language; only what a command line cannot express
//! (exit statuses, the shape of JSON) is written here, in `sections.rs`.

mod find;
mod header;
mod man;
mod sections;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use ringwalk_cli::cli::Cli;

/// Tasks of the project that are not part of the program
#[derive(Debug, Parser)]
#[command(name = "xtask")]
enum Task {
    /// Write man pages and completions below a directory, which is made if needed
    Assets {
        /// The directory
        directory: std::path::PathBuf,
    },
    /// Write ringwalk.h, the header of the C library, where it is kept
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
    for (name, page) in man::pages(Cli::command())? {
        let path = man.join(name);
        std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let completions = directory.join("completions");
    make(&completions)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), "ringwalk", &completions)
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
mod tests {
    use super::*;

    #[test]
    fn every_asset_is_written_and_not_empty() {
        let directory =
            std::env::temp_dir().join(format!("ringwalk-assets-{}", std::process::id()));
        assets(&directory).unwrap();
        let names = [
            "man/ringwalk.1",
            "man/ringwalk-count.1",
            "man/ringwalk-du.1",
            "man/ringwalk-doctor.1",
            "man/ringwalk-find.1",
            "completions/ringwalk.bash",
            "completions/_ringwalk",
            "completions/ringwalk.fish",
        ];
        let sizes =
            names.map(|name| std::fs::metadata(directory.join(name)).map_or(0, |file| file.len()));
        std::fs::remove_dir_all(&directory).unwrap();
        for (name, size) in names.iter().zip(sizes) {
            assert!(size > 500, "{name} has {size} bytes");
        }
    }
}
