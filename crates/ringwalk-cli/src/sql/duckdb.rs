//! DuckDB: the program `duckdb`, or else the module `duckdb` of `python3`.

use crate::console;
use crate::console::Results;
use crate::status::{Ended, trouble};
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

/// Runs the Python module.
const SCRIPT: &str = include_str!("duckdb.py");

/// The exit status of the script without the module.
const NO_MODULE: i32 = 97;

const MISSING: &str = "\
found neither the program duckdb nor the module duckdb of python3
The program is at https://duckdb.org/install
The module is installed by: python3 -m pip install duckdb";

/// The width of a table if the width of the terminal is not known.
const USUAL_COLUMNS: usize = 80;

/// Defines the views, and runs the query. Without a query, the program reads SQL from standard
/// input; at a terminal it takes the place of this process. Returns true if DuckDB succeeded. It
/// has reported what it could not do.
///
/// # Errors
///
/// If DuckDB cannot be run.
pub(super) fn run(views: &str, query: Option<&str>) -> Result<bool, Ended> {
    console::require_stdout().map_err(|failure| console::write_failed(&failure))?;
    let mut program = program(views, query);
    let has_prompt = has_prompt(query);
    if has_prompt && console::stdout_is_terminal() {
        // Keys such as Ctrl-C are for the program alone.
        let failure = program.exec();
        if failure.kind() != io::ErrorKind::NotFound {
            return Err(cannot_run("duckdb", &failure));
        }
    }
    match finished(program) {
        Ok(status) => return Ok(succeeded(status)),
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => {}
        Err(failure) => return Err(cannot_run("duckdb", &failure)),
    }
    if has_prompt {
        return match module(views, Some("SELECT 1 WHERE false"))?.code() {
            Some(NO_MODULE) => Err(missing()),
            _ => Err(trouble(
                "expected a query: without the program duckdb there is no prompt for queries",
            )),
        };
    }
    let status = module(views, query)?;
    if status.code() == Some(NO_MODULE) {
        return Err(missing());
    }
    Ok(succeeded(status))
}

/// Returns the command that runs the program. Results are boxes on a terminal, else CSV.
fn program(views: &str, query: Option<&str>) -> Command {
    let mut command = Command::new("duckdb");
    command.args(["-cmd", views]);
    match table_columns() {
        // DuckDB knows the width of its own prompt better.
        Some(columns) if !has_prompt(query) => {
            command.args(["-cmd", &format!(".maxwidth {columns}")]);
        }
        Some(_) => {}
        None => {
            command.args(["-csv", "-nullvalue", ""]);
        }
    }
    if let Some(query) = query {
        command.args(["-c", query]);
    }
    command
}

/// Runs the Python module.
fn module(views: &str, query: Option<&str>) -> Result<ExitStatus, Ended> {
    let mut command = Command::new("python3");
    let columns = table_columns().unwrap_or(0).to_string();
    command.args(["-c", SCRIPT, views, &columns]).args(query);
    finished(command).map_err(|failure| {
        if failure.kind() == io::ErrorKind::NotFound {
            return missing();
        }
        cannot_run("python3", &failure)
    })
}

/// Returns true if somebody types the queries.
fn has_prompt(query: Option<&str>) -> bool {
    query.is_none() && io::stdin().is_terminal()
}

/// Returns the width of tables; `None` if results are CSV.
fn table_columns() -> Option<usize> {
    console::stdout_is_terminal().then(|| match console::stdout_columns() {
        0 => USUAL_COLUMNS,
        columns => columns,
    })
}

/// Runs DuckDB to its end. What it writes for a terminal comes through this process: DuckDB escapes
/// some of the control characters in names, and none in its messages.
fn finished(mut command: Command) -> io::Result<ExitStatus> {
    if console::stdout_is_terminal() {
        command.stdout(Stdio::piped());
    }
    if console::stderr_is_terminal() {
        command.stderr(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let (results, messages) = (child.stdout.take(), child.stderr.take());
    let shown = thread::scope(|scope| {
        if let Some(messages) = messages {
            let show = || show_messages(messages);
            thread::Builder::new().spawn_scoped(scope, show)?;
        }
        results.map_or(Ok(()), show_results)
    });
    // The pipes are closed, so a program that still writes ends.
    let status = child.wait()?;
    shown.map(|()| status)
}

fn show_results(mut results: impl Read) -> io::Result<()> {
    let mut output = Results::of_stdout();
    io::copy(&mut results, &mut output)?;
    output.flush()
}

fn show_messages(messages: impl Read) {
    // A line that cannot be read is lost, and the status says that the query failed.
    for line in BufReader::new(messages).split(b'\n').map_while(Result::ok) {
        console::note(String::from_utf8_lossy(&line));
    }
}

fn missing() -> Ended {
    trouble(MISSING)
}

fn cannot_run(program: &str, failure: &io::Error) -> Ended {
    let reason = console::reason(failure);
    trouble(format_args!("cannot run {program}: {reason}"))
}

/// Returns true if the program succeeded. Reports a signal that ended it.
fn succeeded(status: ExitStatus) -> bool {
    if let Some(signal) = status.signal() {
        // The reader of the output has closed the pipe: it has read what it wanted.
        if signal != rustix::process::Signal::PIPE.as_raw() {
            console::error(format_args!("DuckDB was ended by signal {signal}"));
        }
    }
    status.success()
}
