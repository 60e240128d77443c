//! The program that a search runs in: it has no output of its own, and sends paths to an iterator.

use super::{Piece, SharedSearch};
use crate::given::Engine;
use ringwalk::{Monitor, Sender, Summary, Walk};
use ringwalk_find::Host;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// This many bytes of paths count as one entry in the limit of how far a search may be ahead.
const BYTES: usize = 64;

pub(super) struct Library<'s> {
    pub(super) sender: &'s Sender<Piece>,
    pub(super) shared: &'s Arc<SharedSearch>,
    pub(super) engine: Engine,
}

impl Host for Library<'_> {
    fn report(&self, message: &str) {
        self.shared.messages().push(message.to_owned());
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let sent = self.sender.send([bytes.to_vec()], bytes.len() / BYTES);
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn is_terminal(&self) -> bool {
        false
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        let shared = Arc::clone(self.shared);
        let walk = self.engine.apply(walk);
        if let Err(error) = walk.check_source() {
            self.report(&error.to_string());
            return None;
        }
        // A search that finds nothing notices only here that the receiver was dropped.
        Some(walk.filter(move |_| !shared.closed.load(Ordering::Relaxed)))
    }

    fn watch(&self, _: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        run();
    }

    fn explains(&self) -> bool {
        false
    }
}
