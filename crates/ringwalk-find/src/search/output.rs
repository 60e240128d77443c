//! The output of all workers: whole lines, each directory's line before the lines of its entries
//! (after them with `-depth`).
//!
//! Each worker gathers its lines and writes 64 KiB at a time, so lines of several workers come in
//! pieces. Yet scripts rely on `mkdir` coming before the files in the directory. So a worker that
//! takes over a directory checks whether the directory's line is written. If another worker still
//! has that line, it is written before any line of an entry is gathered:
//!
//! ```text
//! worker A:  gathers "./a" in its piece 7, hands the piece over, then gives directory ./a away
//! worker B:  takes ./a: "A has its line in piece 7; is that written? no: write what A handed over"
//!            gathers "./a/x" ...
//! ```
//!
//! This check matters only for directories that change hands, which are few in a depth-first walk
//! with stealing. With `-depth` the order is reversed: the worker that leaves a directory has all
//! lines written that other workers gathered below it.
//!
//! Locks are taken in one order: first a worker's pieces, then the file to write to.

use super::dir_state::LineAt;
use super::host::Host;
use super::shared::failure_of;
use crate::expression::{Sink, SinkIndex};
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

/// The size of one write: the capacity of a pipe.
const FULL: usize = 64 * 1024;

/// The longest time that lines wait for more lines, as long as lines come at all.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The lines for each sink.
pub(crate) type Texts = Vec<Vec<u8>>;

/// The files that are written to.
pub(crate) struct Outputs<'c> {
    host: &'c dyn Host,
    sinks: Vec<Target>,
    /// True for each sink that is a terminal, by the number of the sink.
    terminals: Vec<bool>,
    workers: RwLock<Vec<Arc<Pieces>>>,
    /// A terminal is written to: lines are written at once.
    watched: bool,
    failed: AtomicBool,
    /// Standard output accepts no more bytes.
    closed: AtomicBool,
    /// The reason is that its reader went away.
    unread: AtomicBool,
}

enum Target {
    Stdout,
    Stderr,
    /// The same file as an earlier sink, under another name.
    Same(usize),
    File {
        name: Vec<u8>,
        file: Mutex<File>,
        failed: AtomicBool,
    },
}

/// The lines that one worker has gathered and handed over.
#[derive(Debug)]
struct Pieces {
    gathered: Mutex<Gathered>,
    /// The last piece that has been written.
    written: AtomicU64,
}

#[derive(Debug)]
struct Gathered {
    texts: Texts,
    /// The last piece handed over.
    piece: u64,
    since: Instant,
}

impl<'c> Outputs<'c> {
    /// Opens the files to write to, and truncates them.
    ///
    /// # Errors
    ///
    /// The message about a file that cannot be opened.
    pub(crate) fn open(sinks: &[Sink], host: &'c dyn Host) -> Result<Self, String> {
        let mut targets = Vec::new();
        let mut opened = Vec::new();
        for sink in sinks {
            let target = match sink {
                Sink::Stdout => Target::Stdout,
                Sink::Stderr => Target::Stderr,
                Sink::File(name) => open_file(name, targets.len(), &mut opened)
                    .map_err(|error| failure_of(name.as_bytes(), &error))?,
            };
            targets.push(target);
        }
        let terminals = targets
            .iter()
            .map(|target| is_terminal(target, &targets, host))
            .collect::<Vec<_>>();
        Ok(Self {
            host,
            sinks: targets,
            workers: RwLock::default(),
            watched: host.is_terminal() || terminals.contains(&true),
            terminals,
            failed: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            unread: AtomicBool::new(false),
        })
    }

    /// Returns the index in [`Texts`] of the text for a sink. A file has one text, under whatever
    /// names it was given.
    pub(crate) fn text_of(&self, sink: SinkIndex) -> usize {
        match self.sinks[sink.0] {
            Target::Same(earlier) => earlier,
            Target::Stdout | Target::Stderr | Target::File { .. } => sink.0,
        }
    }

    /// Returns true if a sink is a terminal, which names must not command.
    pub(crate) fn is_terminal(&self, sink: SinkIndex) -> bool {
        self.terminals[sink.0]
    }

    /// Returns true if something could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Returns true if standard output accepts no more bytes.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Returns true if the reader of standard output went away.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// Returns the pieces of the worker with this number.
    fn pieces(&self, worker: usize) -> Arc<Pieces> {
        if let Some(pieces) = self.read_workers().get(worker) {
            return Arc::clone(pieces);
        }
        let mut workers = self.workers.write().ignore_poison();
        while workers.len() <= worker {
            workers.push(Arc::new(Pieces {
                gathered: Mutex::new(Gathered {
                    texts: vec![Vec::new(); self.sinks.len()],
                    piece: 0,
                    since: Instant::now(),
                }),
                written: AtomicU64::new(0),
            }));
        }
        Arc::clone(&workers[worker])
    }

    fn read_workers(&self) -> std::sync::RwLockReadGuard<'_, Vec<Arc<Pieces>>> {
        self.workers.read().ignore_poison()
    }

    /// Writes a line of another worker, unless it is written or cannot be.
    pub(crate) fn write_line_at(&self, at: LineAt) {
        let pieces = self.pieces(at.worker());
        if pieces.written.load(Ordering::Acquire) < at.piece() {
            self.write_gathered(&pieces, lock(&pieces.gathered));
        }
    }

    /// Writes the lines that the workers in `mask` (by number modulo 64) have handed over, except
    /// the lines of the worker `except`.
    pub(crate) fn write_those(&self, mask: u64, except: usize) {
        let workers = self.read_workers().clone();
        for (number, pieces) in workers.iter().enumerate() {
            if number != except && mask & (1 << (number % 64)) != 0 {
                self.write_gathered(pieces, lock(&pieces.gathered));
            }
        }
    }

    /// Writes the lines that all workers have handed over.
    pub(crate) fn write_all(&self) {
        self.write_those(u64::MAX, usize::MAX);
    }

    fn write_gathered(&self, pieces: &Pieces, mut gathered: MutexGuard<'_, Gathered>) {
        for (target, text) in self.sinks.iter().zip(&mut gathered.texts) {
            self.write_to(target, text);
            text.clear();
        }
        gathered.since = Instant::now();
        pieces.written.store(gathered.piece, Ordering::Release);
    }

    /// Writes the text of each sink, and leaves the texts empty.
    pub(crate) fn write(&self, texts: &mut Texts) {
        for (target, text) in self.sinks.iter().zip(texts) {
            self.write_to(target, text);
            text.clear();
        }
    }

    fn write_to(&self, target: &Target, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        match target {
            Target::Stdout if self.is_closed() => {}
            Target::Stdout => {
                if let Err(error) = self.host.write(text) {
                    self.stdout_failed(&error);
                }
            }
            Target::Stderr => {
                // A failure to write to standard error cannot be reported anywhere.
                if stderr().write_all(text).is_err() {
                    self.failed.store(true, Ordering::Relaxed);
                }
            }
            // No text is gathered for this sink.
            Target::Same(_) => {}
            Target::File { name, file, failed } => {
                let written = lock(file).write_all(text);
                if let Err(error) = written
                    && !failed.swap(true, Ordering::Relaxed)
                {
                    self.fail(name, &error);
                }
            }
        }
    }

    fn stdout_failed(&self, error: &io::Error) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.failed.store(true, Ordering::Relaxed);
        // A reader that went away has read all that it wanted.
        if error.kind() == io::ErrorKind::BrokenPipe {
            self.unread.store(true, Ordering::Relaxed);
        } else {
            self.fail(b"standard output", error);
        }
    }

    fn fail(&self, name: &[u8], error: &io::Error) {
        self.failed.store(true, Ordering::Relaxed);
        self.host.report(&failure_of(name, error));
    }
}

/// The lines of one worker that are not yet handed over.
pub(crate) struct Writer {
    pub(crate) texts: Texts,
    pub(crate) worker: usize,
    pieces: Arc<Pieces>,
    /// The piece that is being gathered.
    piece: u64,
}

impl Writer {
    pub(crate) fn new(outputs: &Outputs<'_>, worker: usize) -> Self {
        let pieces = outputs.pieces(worker);
        let piece = lock(&pieces.gathered).piece + 1;
        Self {
            texts: vec![Vec::new(); outputs.sinks.len()],
            worker,
            pieces,
            piece,
        }
    }

    /// Returns the worker and the piece of the lines gathered last.
    pub(crate) fn line_at(&self) -> Option<LineAt> {
        LineAt::new(self.worker, self.piece)
    }

    /// Hands the lines over, and writes them when there are enough.
    pub(crate) fn hand_over(&mut self, outputs: &Outputs<'_>) {
        let mut gathered = lock(&self.pieces.gathered);
        let mut length = 0;
        for (all, text) in gathered.texts.iter_mut().zip(&mut self.texts) {
            if all.is_empty() {
                std::mem::swap(all, text);
            } else {
                all.extend_from_slice(text);
                text.clear();
            }
            length = length.max(all.len());
        }
        gathered.piece = self.piece;
        self.piece += 1;
        // The clock is read at every eighth piece. A directory from a disk takes milliseconds; a
        // directory from cache takes less time than eight readings of the clock.
        let due = || gathered.piece.is_multiple_of(8) && gathered.since.elapsed() > LONGEST_WAIT;
        if length >= FULL || length > 0 && (outputs.watched || due()) {
            outputs.write_gathered(&self.pieces, gathered);
        } else if length == 0 {
            self.pieces.written.store(gathered.piece, Ordering::Release);
        }
    }
}

fn is_terminal(target: &Target, targets: &[Target], host: &dyn Host) -> bool {
    match target {
        Target::Stdout => host.is_terminal(),
        Target::Stderr => stderr().is_terminal(),
        Target::Same(earlier) => is_terminal(&targets[*earlier], targets, host),
        Target::File { file, .. } => lock(file).is_terminal(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "`-fprint /dev/stderr` writes data there, as it does to files"
)]
fn stderr() -> io::Stderr {
    io::stderr()
}

/// Opens a file to write to, or finds it among the files opened before under another name.
fn open_file(
    name: &OsStr,
    index: usize,
    opened: &mut Vec<(u64, u64, usize)>,
) -> io::Result<Target> {
    let file = File::create(name)?;
    let metadata = file.metadata()?;
    let (dev, ino) = (metadata.dev(), metadata.ino());
    if let Some(earlier) = opened.iter().find(|known| (known.0, known.1) == (dev, ino)) {
        return Ok(Target::Same(earlier.2));
    }
    opened.push((dev, ino, index));
    Ok(Target::File {
        name: name.as_bytes().to_vec(),
        file: Mutex::new(file),
        failed: AtomicBool::new(false),
    })
}
