//! Runs a command for as many files at once as fit: `-exec ... {} +`, `-execdir ... {} +`.
//!
//! ```text
//!  worker 0 ── push ──┐                                     one at a time, in the order
//!  worker 1 ── push ──┼─> pending (a lock) ── full ──────>  in which they were filled
//!  worker n ── push ──┘      │                                 running (a lock)
//!                            └── a new, empty one is put in its place
//! ```
//!
//! The worker that finds `pending` full takes it out and runs it. It locks `running` before it
//! unlocks `pending`, so full batches cannot overtake each other. Other workers go on collecting
//! until the next batch is full too; then they wait. So there are at most two batches.
//!
//! With `-execdir` one command cannot hold files of different directories, so each worker has a
//! [`FileBatch`] of its own.

use super::launch::{launch, of_many, too_long};
use super::limit::Limit;
use super::place::{Place, argument};
use super::template::no_directory;
use super::{CommandTemplate, Console, Ran};
use ringwalk_sys::sync::lock;
use ringwalk_sys::{Arguments, Spawn};
use rustix::io::Errno;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard};

/// Collects files, and runs a command for as many at once as fit. All workers may use it at once.
#[derive(Debug)]
pub struct Collector {
    /// The command and what precedes the files.
    command: Arguments,
    limit: Limit,
    pending: Mutex<FileBatch>,
    /// Held while a command runs.
    running: Mutex<()>,
}

/// Files of one directory and one worker that a command has not run for yet: `-execdir ... {} +`.
#[derive(Clone, Debug)]
pub struct FileBatch(Arguments);

impl Collector {
    /// Creates the collector of a command whose [`many`](CommandTemplate::many) is set.
    pub fn new(template: &CommandTemplate) -> Self {
        Self::with_limit(template, Limit::here())
    }

    fn with_limit(template: &CommandTemplate, limit: Limit) -> Self {
        let mut command = Arguments::new();
        for word in &template.words {
            command.push(word.as_bytes());
        }
        Self {
            pending: Mutex::new(FileBatch(command.clone())),
            command,
            limit,
            running: Mutex::new(()),
        }
    }

    /// `-exec`: adds a file by its path. If the file does not fit any more, first runs the command
    /// for the files collected so far.
    ///
    /// Returns `None` if no command ran and nothing failed. The action is true for the file in any
    /// case.
    pub fn push(&self, path: &[u8], console: &mut dyn Console) -> Option<Ran> {
        let Some(cost) = self.cost(path) else {
            return Some(unfit(path));
        };
        let mut pending = lock(&self.pending);
        if self.fits(&pending, cost) {
            pending.0.push(path);
            return None;
        }
        let full = mem::replace(&mut *pending, self.batch());
        pending.0.push(path);
        let running = lock(&self.running);
        drop(pending);
        Some(self.run(&full, None, running, console))
    }

    /// `-exec`: runs the command for the remaining files, if any. The caller calls this when the
    /// search ends, for whatever reason, after the last [`push`](Self::push) has returned.
    pub fn finish(&self, console: &mut dyn Console) -> Option<Ran> {
        let mut pending = lock(&self.pending);
        if self.is_empty(&pending) {
            return None;
        }
        let rest = mem::replace(&mut *pending, self.batch());
        let running = lock(&self.running);
        drop(pending);
        Some(self.run(&rest, None, running, console))
    }

    /// `-execdir`: returns an empty batch for one worker.
    pub fn batch(&self) -> FileBatch {
        FileBatch(self.command.clone())
    }

    /// `-execdir`: adds a file to a worker's batch by its name in the open directory `dir`. All
    /// files of the batch are in that directory. If the file does not fit any more, first runs the
    /// command for the files of the batch.
    pub fn add(
        &self,
        batch: &mut FileBatch,
        dir: BorrowedFd<'_>,
        name: &[u8],
        console: &mut dyn Console,
    ) -> Option<Ran> {
        let argument = argument(name);
        let Some(cost) = self.cost(&argument) else {
            return Some(unfit(&argument));
        };
        let ran = if self.fits(batch, cost) {
            None
        } else {
            self.flush(batch, dir, console)
        };
        batch.0.push(&argument);
        ran
    }

    /// `-execdir`: runs the command in `dir` for the files of a worker's batch, if any, and empties
    /// the batch. The caller calls this when there are no more files of that directory.
    pub fn flush(
        &self,
        batch: &mut FileBatch,
        dir: BorrowedFd<'_>,
        console: &mut dyn Console,
    ) -> Option<Ran> {
        if self.is_empty(batch) {
            return None;
        }
        let ran = self.run(batch, Some(dir), lock(&self.running), console);
        batch.0.truncate(self.command.len());
        Some(ran)
    }

    /// `-execdir`: runs the command for a starting point, in the directory that its path names. GNU
    /// find never combines a starting point with another file.
    pub fn run_at_start(&self, path: &[u8], console: &mut dyn Console) -> Ran {
        let place = Place::of(path);
        if self.cost(&place.argument).is_none() {
            return unfit(path);
        }
        let dir = match place.open() {
            Ok(dir) => dir,
            Err(errno) => return no_directory(path, errno),
        };
        let mut batch = self.batch();
        batch.0.push(&place.argument);
        let dir = dir.as_ref().map(AsFd::as_fd);
        self.run(&batch, dir, lock(&self.running), console)
    }

    /// Returns the bytes that an argument takes. None if it would not fit even alone.
    fn cost(&self, argument: &[u8]) -> Option<usize> {
        let cost = self.limit.cost(argument)?;
        (self.command.size() + cost <= self.limit.all).then_some(cost)
    }

    fn fits(&self, batch: &FileBatch, cost: usize) -> bool {
        batch.0.size() + cost <= self.limit.all
    }

    fn is_empty(&self, batch: &FileBatch) -> bool {
        batch.0.len() == self.command.len()
    }

    /// Runs the command for all files of a batch.
    fn run(
        &self,
        batch: &FileBatch,
        directory: Option<BorrowedFd<'_>>,
        running: MutexGuard<'_, ()>,
        console: &mut dyn Console,
    ) -> Ran {
        console.flush();
        let ran = self.run_parts(&batch.0, directory, console);
        drop(running);
        ran
    }

    /// Runs the command once for all files. If the kernel refuses that many after all, runs it for
    /// halves of them, as deep as the logarithm of their number.
    fn run_parts(
        &self,
        arguments: &Arguments,
        directory: Option<BorrowedFd<'_>>,
        console: &mut dyn Console,
    ) -> Ran {
        let spawn = Spawn {
            arguments,
            directory,
            null_input: false,
        };
        let how = launch(spawn, console);
        if how != Err(Errno::TOOBIG) {
            return of_many(arguments, how);
        }
        let Some([first, second]) = self.halves(arguments) else {
            let file = arguments.iter().last().unwrap_or_default();
            return unfit(file.to_bytes());
        };
        let mut ran = self.run_parts(&first, directory, console);
        if !ran.ends {
            ran.add(self.run_parts(&second, directory, console));
        }
        ran
    }

    /// Returns two batches with half of the files each. None for one file.
    fn halves(&self, arguments: &Arguments) -> Option<[Arguments; 2]> {
        let (begin, end) = (self.command.len(), arguments.len());
        if end - begin < 2 {
            return None;
        }
        let middle = begin + (end - begin) / 2;
        Some([begin..middle, middle..end].map(|range| {
            let mut half = self.command.clone();
            half.extend(arguments, range);
            half
        }))
    }
}

fn unfit(path: &[u8]) -> Ran {
    let what = "cannot fit single argument within argument list size limit";
    too_long(what, path, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};
    use std::fs;
    use std::path::Path;
    use std::thread;

    struct Silent;

    impl Console for Silent {
        fn flush(&mut self) {}
    }

    /// A command that appends the number of its arguments, and then each, to a file.
    const APPEND: &str = r#"{ echo "$#"; printf '%s\n' "$@"; } >> "$0""#;

    fn template(log: &Path) -> CommandTemplate {
        let words = ["sh", "-c", APPEND].into_iter().map(Into::into);
        CommandTemplate {
            words: words.chain([log.into()]).collect(),
            in_directory: false,
            many: true,
            ask: false,
        }
    }

    /// What the commands were given, one list for each.
    fn commands(log: &Path) -> Vec<Vec<String>> {
        let text = fs::read_to_string(log).unwrap_or_default();
        let mut lines = text.lines();
        let mut commands = Vec::new();
        while let Some(count) = lines.next() {
            let count = count.parse().unwrap();
            commands.push(lines.by_ref().take(count).map(Into::into).collect());
        }
        commands
    }

    /// Room for so many files with names of two bytes.
    fn room(template: &CommandTemplate, files: usize) -> Limit {
        let words: usize = template.words.iter().map(|word| word.len() + 9).sum();
        Limit {
            all: words + files * 11,
            one: 1000,
        }
    }

    const GOOD: Ran = Ran {
        succeeded: true,
        messages: Vec::new(),
        find_fails: false,
        ends: false,
    };

    #[test]
    fn a_command_runs_when_the_next_file_does_not_fit() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let template = template(&log);
        let collector = Collector::with_limit(&template, room(&template, 2));
        let push = |name: &str| collector.push(name.as_bytes(), &mut Silent);
        assert_eq!((push("aa"), push("bb")), (None, None));
        assert_eq!(commands(&log).len(), 0);
        assert_eq!(push("cc"), Some(GOOD));
        assert_eq!(commands(&log), [["aa", "bb"]]);
        assert_eq!(collector.finish(&mut Silent), Some(GOOD));
        assert_eq!(commands(&log), [vec!["aa", "bb"], vec!["cc"]]);
        assert_eq!(collector.finish(&mut Silent), None, "nothing is left");
    }

    #[test]
    fn arguments_that_do_not_fit_are_reported_and_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let template = template(&log);
        let collector = Collector::with_limit(&template, room(&template, 2));
        assert_eq!(collector.push(b"aa", &mut Silent), None);
        let too_long = [b'x'; 14];
        let ran = collector.push(&too_long, &mut Silent).unwrap();
        assert!(ran.succeeded && ran.find_fails && !ran.ends);
        assert!(ran.messages[0].contains("xxxxxxxxxxxxxx"));
        assert_eq!(collector.push(b"bb", &mut Silent), None);
        assert_eq!(collector.finish(&mut Silent), Some(GOOD));
        assert_eq!(commands(&log), [["aa", "bb"]]);
    }

    #[test]
    fn a_limit_that_is_wrong_is_found_out() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let template = template(&log);
        let all = 64 << 20;
        let collector = Collector::with_limit(&template, Limit { all, one: all });
        let names: Vec<String> = (10..80)
            .map(|number| number.to_string().repeat(50_000))
            .collect();
        for name in &names {
            assert_eq!(collector.push(name.as_bytes(), &mut Silent), None);
        }
        // Longer than any one argument may be.
        assert_eq!(collector.push(&vec![b'y'; 200_000], &mut Silent), None);
        let ran = collector.finish(&mut Silent).unwrap();
        assert!(ran.find_fails && ran.messages.len() == 1);
        assert!(ran.messages[0].contains("yyyyyyyyyy"));
        let found = commands(&log);
        assert!(found.len() > 1, "7 MB do not fit into one command");
        assert_eq!(found.concat(), names);
    }

    #[test]
    fn all_workers_together() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let template = template(&log);
        let collector = Collector::with_limit(&template, room(&template, 40));
        let names = |worker: u8| (0..26).map(move |file| [b'a' + worker, b'a' + file]);
        thread::scope(|scope| {
            for worker in 0..8 {
                let collector = &collector;
                scope.spawn(move || {
                    for name in names(worker) {
                        assert!(
                            collector
                                .push(&name, &mut Silent)
                                .is_none_or(|ran| ran == GOOD)
                        );
                    }
                });
            }
        });
        assert_eq!(collector.finish(&mut Silent), Some(GOOD));
        let found = commands(&log);
        assert_eq!(found.len(), (8 * 26_usize).div_ceil(40));
        let found = found.concat();
        for worker in 0..8 {
            let expected: Vec<_> = names(worker).map(|name| name.to_vec()).collect();
            let first = [b'a' + worker];
            let own: Vec<_> = found
                .iter()
                .map(|name| name.as_bytes().to_vec())
                .filter(|name| name.starts_with(&first))
                .collect();
            assert_eq!(own, expected, "each worker's files stay in order");
        }
        assert_eq!(found.len(), 8 * 26);
    }

    #[test]
    fn directories_have_commands_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut template = template(&log);
        template.in_directory = true;
        template.words[2] = format!(r#"set "$(basename "$PWD")" "$@"; {APPEND}"#).into();
        let collector = Collector::new(&template);
        let mut batch = collector.batch();
        for name in ["one", "two"] {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            let opened = open(&path, OFlags::PATH, Mode::empty()).unwrap();
            for file in [b"x", b"y"] {
                let ran = collector.add(&mut batch, opened.as_fd(), file, &mut Silent);
                assert_eq!(ran, None);
            }
            let ran = collector.flush(&mut batch, opened.as_fd(), &mut Silent);
            assert_eq!(ran, Some(GOOD));
            let ran = collector.flush(&mut batch, opened.as_fd(), &mut Silent);
            assert_eq!(ran, None);
        }
        let start = dir.path().join("one/");
        let start = start.as_os_str().as_bytes();
        assert_eq!(collector.run_at_start(start, &mut Silent), GOOD);
        let parent = dir.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(
            commands(&log),
            [
                vec!["one", "./x", "./y"],
                vec!["two", "./x", "./y"],
                vec![parent, "./one/"]
            ]
        );
    }
}
