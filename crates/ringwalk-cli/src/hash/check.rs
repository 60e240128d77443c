//! `--check`: the files of a list, with the answers of sha256sum and b3sum.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ringwalk::Errno;
use ringwalk_hash::check_list::{CheckLine, Line, escape, parse_line};
use ringwalk_hash::{Algorithm, Digest, Fault, FileToHash, OpenRoot, hash_files, hash_reader};
use ringwalk_sys::StandardInput;

use super::{HashArgs, file_error, go_on, hash_options, no_thread};
use crate::console;
use crate::engine_options::EngineOptions;
use crate::progress::Progress;
use crate::quote::quoted;
use crate::status::{Ended, answered, failed, trouble};

/// The longest line of a list in bytes, so that a file without line feeds does not fill the memory.
/// No path of a file that `hash` lists comes near.
const LONGEST_LINE: u64 = 1 << 20;

/// The numbers of files and lines that failed.
#[derive(Default)]
struct Failures {
    different: u64,
    unread: u64,
    malformed: u64,
}

/// Checks the files that the list names.
pub(super) fn run(
    list: &OsString,
    args: &HashArgs,
    options: &EngineOptions,
) -> Result<ExitCode, Ended> {
    let input: Box<dyn BufRead> = if list == "-" {
        Box::new(BufReader::new(StandardInput))
    } else {
        let file = File::open(list);
        let file = file.map_err(|error| failed(list, console::reason(&error)))?;
        Box::new(BufReader::new(file))
    };
    let mut lines = Lines {
        input,
        is_standard_input: list == "-",
        algorithm: args.algo.into(),
        malformed: 0,
        files: 0,
        error: None,
    };
    let root = Arc::new(OpenRoot::Working);
    let files = std::iter::from_fn(|| {
        let line = lines.next_file()?;
        let of_input = (line.name == b"-").then(|| hash_standard_input(lines.algorithm));
        let path = if of_input.is_some() {
            // No regular file: its own result does not count.
            b"/dev/null"
        } else {
            line.name.as_slice()
        };
        Some(FileToHash {
            root: Arc::clone(&root),
            path: PathBuf::from(OsStr::from_bytes(path)),
            ino: 0,
            only: None,
            context: (line, of_input),
        })
    });
    let mut failures = Failures::default();
    let mut output = Vec::new();
    let mut written = Ok(());
    let done = Arc::new(AtomicU64::new(0));
    let progress = Progress::of_files(options.progress, Arc::clone(&done));
    let hashed = hash_files(files, &hash_options(args, options), |results| {
        done.fetch_add(results.len() as u64, Ordering::Relaxed);
        output.clear();
        for ((line, of_input), result) in results.drain(..) {
            let answer = match of_input.unwrap_or(result) {
                Ok(digest) if digest == line.digest => {
                    if args.quiet {
                        continue;
                    }
                    "OK"
                }
                Ok(_) => {
                    failures.different += 1;
                    "FAILED"
                }
                Err(fault) => {
                    failures.unread += 1;
                    let path = OsStr::from_bytes(&line.name);
                    console::error(file_error(path.as_ref(), fault));
                    "FAILED open or read"
                }
            };
            push_answer(&mut output, &line, answer);
        }
        written = console::print_lines(&output);
        go_on(&written)
    });
    drop(progress);
    hashed.map_err(|error| no_thread(&error))?;
    if let Some(error) = lines.error {
        return Err(trouble(format_args!(
            "cannot read {}: {}",
            quoted(list),
            console::reason(&error)
        )));
    }
    if lines.files == 0 {
        return Err(failed(
            list,
            "no line is a hash of this function; --algo names another one",
        ));
    }
    failures.malformed = lines.malformed;
    let status = finish(list, &failures);
    written?;
    Ok(status)
}

/// Hashes standard input, which lists name `-`.
fn hash_standard_input(algorithm: Algorithm) -> Result<Digest, Fault> {
    hash_reader(StandardInput, algorithm)
        .map_err(|error| Fault::Read(Errno::from_io_error(&error).unwrap_or(Errno::IO)))
}

fn push_answer(output: &mut Vec<u8>, line: &CheckLine, answer: &str) {
    let name = escape(&line.name);
    if matches!(name, std::borrow::Cow::Owned(_)) {
        output.push(b'\\');
    }
    output.extend_from_slice(&name);
    output.extend_from_slice(b": ");
    output.extend_from_slice(answer.as_bytes());
    output.push(b'\n');
}

fn finish(list: &OsStr, failures: &Failures) -> ExitCode {
    let list = quoted(list);
    let mut has_failed = false;
    for (count, one, more) in [
        (
            failures.malformed,
            "line is not a hash of this function",
            "lines are not hashes of this function",
        ),
        (
            failures.unread,
            "file could not be read",
            "files could not be read",
        ),
        (
            failures.different,
            "file has other contents",
            "files have other contents",
        ),
    ] {
        if count > 0 {
            let what = if count == 1 { one } else { more };
            console::error(format_args!("{list}: {count} {what}"));
            has_failed = true;
        }
    }
    answered(!has_failed)
}

/// The lines of a list.
struct Lines {
    input: Box<dyn BufRead>,
    is_standard_input: bool,
    algorithm: Algorithm,
    malformed: u64,
    files: u64,
    error: Option<io::Error>,
}

impl Lines {
    /// Returns the next line that names a file.
    fn next_file(&mut self) -> Option<CheckLine> {
        let mut line = Vec::new();
        while self.error.is_none() {
            line.clear();
            let mut limited = io::Read::take(&mut self.input, LONGEST_LINE);
            match limited.read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if text.len() as u64 == LONGEST_LINE {
                // The rest of the line is not a line of its own.
                if let Err(error) = self.input.skip_until(b'\n') {
                    self.error = Some(error);
                    return None;
                }
                if !text.starts_with(b"#") {
                    self.malformed += 1;
                }
                continue;
            }
            match parse_line(text, self.algorithm) {
                // Standard input cannot be the list and a file in it.
                Line::File(file) if self.is_standard_input && file.name == b"-" => {
                    self.malformed += 1;
                }
                Line::File(file) => {
                    self.files += 1;
                    return Some(file);
                }
                Line::Nothing => {}
                Line::Malformed => self.malformed += 1,
            }
        }
        None
    }
}
