//! What a search needs of the program it runs in, of which there is none: it writes into an iterator.

use super::{Piece, Shared};
use crate::given::Engine;
use ringwalk::{Monitor, Sender, Summary, Walk};
use ringwalk_find::Host;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Paths in this many bytes weigh as one entry where a search may be only so far ahead.
const BYTES: usize = 64;

pub(super) struct Library<'s> {
    pub(super) sender: &'s Sender<Piece>,
    pub(super) shared: &'s Arc<Shared>,
    pub(super) engine: Engine,
}

impl Host for Library<'_> {
    fn tell(&self, message: &str) {
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
            self.tell(&error.to_string());
            return None;
        }
        // A search that finds nothing would not see otherwise that nobody waits for it.
        Some(walk.filter(move |_| !shared.closed.load(Ordering::Relaxed)))
    }

    fn watch(&self, _: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        run();
    }

    fn explains(&self) -> bool {
        false
    }
}
