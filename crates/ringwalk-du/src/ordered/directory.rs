//! The state that a walk keeps with a directory.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ringwalk::ordered::Place;

use crate::linked_files::LinkedFiles;
use crate::location::{Located, Location};
use crate::totals::Totals;

/// The state of a directory.
#[derive(Debug)]
pub(crate) struct DirectoryState {
    /// The place of its events in the order. `None` if the directory is merged.
    pub(super) place: Option<Place>,
    /// The sums of the directory, or of the one that it is merged into.
    pub(super) sums: Arc<Mutex<DirectorySums>>,
    pub(super) location: Location,
    /// The directory was opened.
    pub(super) entered: AtomicBool,
    /// The directory was seen before, and does not count.
    pub(super) repeated: AtomicBool,
    /// An operand that has entries.
    pub(super) occupied: AtomicBool,
}

/// The sums over the files of a directory.
#[derive(Debug, Default)]
pub(super) struct DirectorySums {
    /// The files that count each time.
    pub(super) totals: Totals,
    /// The files that count once.
    pub(super) links: LinkedFiles,
}

impl Default for DirectoryState {
    fn default() -> Self {
        Self::new(None, Arc::default(), Location::default())
    }
}

impl DirectoryState {
    pub(super) fn new(
        place: Option<Place>,
        sums: Arc<Mutex<DirectorySums>>,
        location: Location,
    ) -> Self {
        Self {
            place,
            sums,
            location,
            entered: AtomicBool::new(false),
            repeated: AtomicBool::new(false),
            occupied: AtomicBool::new(false),
        }
    }
}

impl Located for DirectoryState {
    fn location(&self) -> &Location {
        &self.location
    }
}
