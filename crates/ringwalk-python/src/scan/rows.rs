//! The walk of a scan: each worker fills columns and hands them on as a batch.
//!
//! Columns are made where the entries are read, by all workers at once, and nothing is copied in between.

use super::columns::{Filling, Row};
use super::errors::{Log, Raised};
use super::fields::Column;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use ringwalk::{Batch, Dir, Errno, Error, Flow, Sender, Summary, Visitor, Walk};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What workers hand on. Columns that do not make a batch are a mistake of ours, but not one to be lost.
pub(super) type Item = Result<RecordBatch, ArrowError>;

/// Rows wait no longer than this for more of them, if something comes at all.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// What all workers share.
pub(super) struct Shared {
    pub(super) columns: Vec<Column>,
    pub(super) schema: Arc<Schema>,
    /// Most rows of a batch.
    pub(super) batch_size: usize,
    pub(super) log: Arc<Log>,
    pub(super) raised: Raised,
}

/// Walks, and hands on batches of rows.
pub(super) fn walk(walk: Walk, shared: &Shared, sender: &Sender<Item>) -> Summary {
    let outcome = walk.run(|_| Rows {
        shared,
        sender,
        filling: shared.filling(),
        since: None,
        directory: Vec::new(),
    });
    for mut rows in outcome.visitors {
        // If nobody takes them, nobody misses them.
        let _ = rows.hand_on();
    }
    outcome.summary
}

impl Shared {
    fn filling(&self) -> Filling {
        Filling::new(&self.columns, self.batch_size)
    }
}

/// One worker's part.
struct Rows<'s> {
    shared: &'s Shared,
    sender: &'s Sender<Item>,
    filling: Filling,
    /// When the first row came.
    since: Option<Instant>,
    /// Path of the directory at hand, with a slash behind it.
    directory: Vec<u8>,
}

impl Rows<'_> {
    /// Hands on what there is.
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
            // What is not there has no row: listed, then gone, or a root of which nothing can be found out. Its error has been told.
            let failed = entry.stat_error();
            if failed == Some(Errno::NOENT) || failed.is_some() && batch.dir().is_none() {
                continue;
            }
            let name = entry.name();
            if self.filling.rows() == self.shared.batch_size
                || self.filling.is_full(self.directory.len() + name.len())
            {
                if self.hand_on() == Flow::Stop {
                    return Flow::Stop;
                }
                self.filling.enter(&self.directory);
            }
            self.filling.push(&Row {
                directory: &self.directory,
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
