//! Actions on one file.

use super::evaluate::Evaluator;
use super::file::File;
use super::output::Writer;
use super::shared::Shared;
use crate::execute::{CommandTemplate, Console, Ran};
use crate::expression::{Action, Debug, Sink, SinkIndex};
use crate::facts::Facts;
use crate::format::{self, Format};
use ringwalk::FileType;
use ringwalk_gnu::terminal_safe;
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// Does `action`. Returns its value in the expression.
pub(super) fn act(evaluator: &mut Evaluator<'_>, action: &Action, file: &File<'_>) -> bool {
    match action {
        Action::Print { sink, end } => print(evaluator, *sink, *end, file),
        // Nothing is written when a fact that the format needs is unknown, and the action is false.
        Action::Printf { format, .. } if !can_be_written(format, file) => return false,
        Action::Printf { sink, format } => printf(evaluator, *sink, format, file),
        Action::Ls { .. } if file.metadata().is_err() => return false,
        Action::Ls { sink } if evaluator.shared.outputs.is_terminal(*sink) => {
            format::write_ls_to_terminal(file, text_of(evaluator, *sink));
        }
        Action::Ls { sink } => format::write_ls(file, text_of(evaluator, *sink)),
        Action::Execute(template) => return execute(evaluator, template, file),
        Action::Delete => return delete(evaluator, file),
        Action::Found => evaluator.shared.host.found(file),
        Action::Prune => evaluator.pruned = true,
        Action::Quit => {
            evaluator.end();
        }
    }
    true
}

/// Returns the text that is gathered for a sink.
fn text_of<'e>(evaluator: &'e mut Evaluator<'_>, sink: SinkIndex) -> &'e mut Vec<u8> {
    let index = evaluator.shared.outputs.text_of(sink);
    &mut evaluator.writer.texts[index]
}

fn print(evaluator: &mut Evaluator<'_>, sink: SinkIndex, end: u8, file: &File<'_>) {
    let shared = evaluator.shared;
    // As in GNU find, paths that end with a zero byte are for programs, even at a terminal.
    let terminal = end != 0 && shared.outputs.is_terminal(sink);
    let stdout = matches!(shared.command.sinks[sink.0], Sink::Stdout);
    let colors = shared.colors.filter(|_| end != 0 && stdout);
    let text = text_of(evaluator, sink);
    match colors {
        Some(colors) if terminal => colors.write_path_to_terminal(file, text),
        Some(colors) => colors.write_path(file, text),
        None if terminal => terminal_safe(file.path(), text),
        None => text.extend_from_slice(file.path()),
    }
    text.push(end);
}

fn can_be_written(format: &Format, file: &File<'_>) -> bool {
    let metadata = format.fields().is_empty() || file.metadata().is_ok();
    metadata && (!format.asks_type() || file.file_type() != FileType::Unknown)
}

fn printf(evaluator: &mut Evaluator<'_>, sink: SinkIndex, format: &Format, file: &File<'_>) {
    let shared = evaluator.shared;
    // Names must not command a terminal.
    let terminal = shared.outputs.is_terminal(sink);
    let text = text_of(evaluator, sink);
    if terminal {
        format.write_to_terminal(file, text);
    } else {
        format.write(file, text);
    }
}

/// Lets a command write its worker's lines before it starts.
struct Desk<'d, 's> {
    shared: &'d Shared<'s>,
    writer: &'d mut Writer,
}

impl Console for Desk<'_, '_> {
    fn flush(&mut self) {
        // Results that are put into order come out in that order, whatever commands run meanwhile.
        if self.shared.line.is_none() {
            self.writer.hand_over(self.shared.outputs);
            self.shared.outputs.write_all();
        }
    }

    fn traces(&self) -> bool {
        self.shared.command.options.debug.contains(Debug::EXEC)
    }

    fn trace(&mut self, line: &str) {
        self.shared.host.report(line);
    }
}

/// Runs a command for one file.
fn execute(evaluator: &mut Evaluator<'_>, template: &CommandTemplate, file: &File<'_>) -> bool {
    let directory = match file.directory() {
        Ok(directory) => directory,
        Err(errno) => return report_unopened(evaluator.shared, file, errno),
    };
    let mut desk = Desk {
        shared: evaluator.shared,
        writer: &mut evaluator.writer,
    };
    let ran = template.run(file.path(), directory, file.c_name.to_bytes(), &mut desk);
    evaluator.shared.report_ran(&ran)
}

/// Reports that the directory of a file cannot be opened. Returns false.
fn report_unopened(shared: &Shared<'_>, file: &File<'_>, errno: Errno) -> bool {
    let path = ringwalk_gnu::quote::value(file.path());
    let reason = ringwalk_gnu::reason(&errno.into());
    shared.fail(&format!("cannot open the directory of {path}: {reason}"));
    false
}

/// Adds a file to the files that a command is run for.
pub(super) fn gather(evaluator: &mut Evaluator<'_>, number: usize, file: &File<'_>) -> bool {
    let shared = evaluator.shared;
    let collector = &shared.collectors[number];
    let in_directory = shared.plan.gathering[number].in_directory;
    let directory = if in_directory {
        match file.directory() {
            Ok(directory) => directory,
            Err(errno) => return report_unopened(shared, file, errno),
        }
    } else {
        None
    };
    let may_wait = directory.is_none_or(|dir| turn_to_directory(evaluator, dir));
    let mut desk = Desk {
        shared,
        writer: &mut evaluator.writer,
    };
    let report = |ran: Option<Ran>| {
        if let Some(ran) = ran {
            shared.report_ran(&ran);
        }
    };
    match directory {
        None if in_directory => report(Some(collector.run_at_start(file.path(), &mut desk))),
        None => report(collector.push(file.path(), &mut desk)),
        Some(dir) => {
            let batch = &mut evaluator.batches[number];
            report(collector.add(batch, dir, file.c_name.to_bytes(), &mut desk));
            if !may_wait {
                report(collector.flush(batch, dir, &mut desk));
            }
        }
    }
    true
}

/// Runs the commands that wait for files of a directory other than the current one, which is open
/// as `dir`. Returns true if `dir` can be kept open, so that commands can wait for more of its
/// files.
fn turn_to_directory(evaluator: &mut Evaluator<'_>, dir: BorrowedFd<'_>) -> bool {
    let number = evaluator.directory;
    let waits = |waiting: &(u64, OwnedFd)| waiting.0 == number;
    if !evaluator.waiting.as_ref().is_some_and(waits) {
        run_waiting(evaluator);
        // When descriptors are scarce, the command runs for this file at once.
        evaluator.waiting = keep_open(dir).map(|fd| (number, fd));
    }
    evaluator.waiting.is_some()
}

/// Returns a duplicate of `dir`, if the walk can still open two more descriptors: one for the next
/// directory, one for its parent.
fn keep_open(dir: BorrowedFd<'_>) -> Option<OwnedFd> {
    let one = || fcntl_dupfd_cloexec(dir, 0).ok();
    let kept = one()?;
    let (_next, _parent) = (one()?, one()?);
    Some(kept)
}

/// Runs the commands that wait for more files of one directory.
pub(super) fn run_waiting(evaluator: &mut Evaluator<'_>) {
    let Some((_, dir)) = evaluator.waiting.take() else {
        return;
    };
    let dir = dir.as_fd();
    let shared = evaluator.shared;
    let mut desk = Desk {
        shared,
        writer: &mut evaluator.writer,
    };
    for (collector, batch) in shared.collectors.iter().zip(&mut evaluator.batches) {
        if let Some(ran) = collector.flush(batch, dir, &mut desk) {
            shared.report_ran(&ran);
        }
    }
}

/// Runs the commands that wait for the last files.
pub(super) fn finish(shared: &Shared<'_>) {
    let mut desk = Desk {
        shared,
        writer: &mut Writer::new(shared.outputs, 0),
    };
    for collector in shared.collectors {
        if let Some(ran) = collector.finish(&mut desk) {
            shared.report_ran(&ran);
        }
    }
}

/// Removes a file, or a directory with nothing in it.
fn delete(evaluator: &Evaluator<'_>, file: &File<'_>) -> bool {
    // find(1) does not remove the working directory either.
    if file.depth() == 0 && file.path() == b"." {
        return true;
    }
    // A followed link to a directory counts as a directory, and stays: find(1) does not remove it
    // either.
    let flags = if file.file_type() == FileType::Directory {
        AtFlags::REMOVEDIR
    } else {
        AtFlags::empty()
    };
    let remove = |at| unlinkat(at, file.c_name, flags);
    match file.at().and_then(remove) {
        Ok(()) => true,
        Err(Errno::NOENT) if evaluator.shared.command.options.ignore_readdir_race => true,
        Err(errno) => {
            evaluator.shared.fail(&format!(
                "cannot delete {}: {}",
                ringwalk_gnu::quote::value(file.path()),
                ringwalk_gnu::reason(&errno.into())
            ));
            false
        }
    }
}
