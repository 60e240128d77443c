//! The walk of a scan: each worker fills columns and sends them as a batch.
//!
//! Each worker makes columns where it reads the entries, so nothing is copied in between.

use super::columns::{Filling, Row};
use super::errors::{Log, Raised};
use super::fields::Column;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use ringwalk::{Batch, Dir, Errno, Error, Flow, Sender, Summary, Visitor, Walk};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The messages of workers. Columns that do not form a batch are a bug, whose error must not be
/// lost.
pub(super) type Item = Result<RecordBatch, ArrowError>;

/// The longest time that a row waits for more rows, if any entry comes.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The data that all workers share.
pub(super) struct SharedScan {
    pub(super) columns: Vec<Column>,
    pub(super) schema: Arc<Schema>,
    /// The largest number of rows in a batch.
    pub(super) batch_size: usize,
    pub(super) log: Arc<Log>,
    pub(super) raised: Raised,
    /// What the walk has left over, when it has ended.
    pub(super) leftovers: OnceLock<Vec<ringwalk::Leftover>>,
}

/// Runs the walk and sends batches of rows.
pub(super) fn walk(walk: Walk, shared: &SharedScan, sender: &Sender<Item>) -> Summary {
    let outcome = walk.run(|_| Rows {
        shared,
        sender,
        filling: shared.filling(),
        since: None,
        directory: Vec::new(),
    });
    for mut rows in outcome.visitors {
        // If the receiver was dropped, no code needs the rows.
        let _ = rows.hand_on();
    }
    // A scan walks once.
    let _ = shared.leftovers.set(outcome.leftovers);
    outcome.summary
}

impl SharedScan {
    fn filling(&self) -> Filling {
        Filling::new(&self.columns, self.batch_size)
    }
}

/// The visitor of one worker.
struct Rows<'s> {
    shared: &'s SharedScan,
    sender: &'s Sender<Item>,
    filling: Filling,
    /// The time of the first row.
    since: Option<Instant>,
    /// The path of the current directory, with a slash at its end.
    directory: Vec<u8>,
}

impl Rows<'_> {
    /// Sends the rows so far.
    fn hand_on(&mut self) -> Flow {
        let rows = self.filling.rows();
        if rows == 0 {
            return Flow::Continue;
        }
        let filling = std::mem::replace(&mut self.filling, self.shared.filling());
        self.since = None;
        let schema = Arc::clone(&self.shared.schema);
        let batch = filling
            .finish()
            .and_then(|columns| RecordBatch::try_new(schema, columns));
        match self.sender.send([batch], rows) {
            Ok(()) => Flow::Continue,
            Err(_) => Flow::Stop,
        }
    }
}

impl Visitor for Rows<'_> {
    type State = ();

    fn enter(&mut self, _: &Dir<()>) -> Flow {
        if self.sender.is_closed() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        self.directory.clear();
        if let Some(dir) = batch.dir() {
            dir.path_into(&mut self.directory);
            if !self.directory.ends_with(b"/") {
                self.directory.push(b'/');
            }
        }
        self.filling.enter(&self.directory);
        for entry in batch.entries() {
            // An entry that does not exist has no row: it vanished, or it is a root that cannot be
            // read. Its error has been reported.
            let failed = entry.stat_error();
            if failed == Some(Errno::NOENT) || failed.is_some() && batch.dir().is_none() {
                continue;
            }
            let name = entry.name();
            if self.filling.rows() == self.shared.batch_size || self.filling.is_full(name) {
                if self.hand_on() == Flow::Stop {
                    return Flow::Stop;
                }
                self.filling.enter(&self.directory);
            }
            self.filling.push(&Row {
                name,
                depth: entry.depth(),
                root: entry.root_index(),
                file_type: entry.file_type(),
                metadata: entry.metadata(),
            });
        }
        let now = Instant::now();
        if now - *self.since.get_or_insert(now) > LONGEST_WAIT {
            return self.hand_on();
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        self.shared.log.push(error.clone());
    }
}
