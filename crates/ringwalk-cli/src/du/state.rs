//! What workers share, what is kept with a directory, and what the options mean for both.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ringwalk::ordered::{Ordered, Place};
use ringwalk::{Fields, Metadata, Stay};
use ringwalk_sums::{Location, Met, allocated_size, apparent_size};

use super::account::Event;
use super::config::{Config, Links};
use super::exclusive::Devices;
use super::time_style::TimeKind;
use super::totals::{Links as LinkedFiles, Totals};

/// The line of events, with the books at its end.
pub(crate) type Events<'a> = Ordered<Event, Box<dyn FnMut(Event) + Send + 'a>>;

/// What all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) config: &'a Config,
    pub(crate) events: Events<'a>,
    /// Operands that are files with one link, where files can be met twice.
    pub(crate) operand_files: &'a Met,
    /// Directories entered, where links are followed: these are known as the walk goes, by one worker.
    pub(crate) entered: &'a Mutex<Met>,
    /// What has been met: that of the books; or if there is one sum for everything, and so no order, that of the workers.
    pub(crate) met: Arc<Mutex<Met>>,
    /// Devices met, where only what belongs to files alone counts.
    pub(crate) devices: &'a Devices,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) failed: &'a AtomicBool,
}

/// What is kept with a directory.
#[derive(Debug)]
pub(crate) struct State {
    /// Its place among the events; none if it is merged.
    pub(super) place: Option<Place>,
    /// What has been added up of it, or of the directory it is merged into.
    pub(super) sums: Arc<Mutex<Sums>>,
    pub(super) location: Location,
    pub(super) entered: AtomicBool,
    /// Met before: not counted.
    pub(super) repeated: AtomicBool,
    /// Of an operand: there is something in it.
    pub(super) occupied: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) totals: Totals,
    pub(super) links: LinkedFiles,
}

impl Default for State {
    fn default() -> Self {
        Self::new(None, Arc::default(), Location::default())
    }
}

impl State {
    pub(super) fn new(place: Option<Place>, sums: Arc<Mutex<Sums>>, location: Location) -> Self {
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

impl Config {
    /// The metadata needed of every file.
    pub(crate) fn fields(&self) -> Fields {
        let mut fields = Fields::TYPE | Fields::INO;
        if !self.inodes {
            fields |= if self.apparent {
                Fields::SIZE
            } else {
                Fields::BLOCKS
            };
        }
        if !self.count_links {
            fields |= Fields::NLINK;
        }
        match self.time {
            Some((TimeKind::Modified, _)) => fields | Fields::MTIME,
            Some((TimeKind::Accessed, _)) => fields | Fields::ATIME,
            Some((TimeKind::Changed, _)) => fields | Fields::CTIME,
            None => fields,
        }
    }

    pub(super) fn totals(&self, metadata: &Metadata) -> Totals {
        let size = if self.inodes {
            0
        } else if self.apparent {
            apparent_size(metadata)
        } else {
            allocated_size(metadata)
        };
        Totals {
            size,
            inodes: 1,
            time: self.time.as_ref().map(|(kind, _)| match kind {
                TimeKind::Modified => metadata.mtime,
                TimeKind::Accessed => metadata.atime,
                TimeKind::Changed => metadata.ctime,
            }),
        }
    }

    /// Whether something with only one link may be met again, and then does not count.
    pub(crate) fn meets_again(&self) -> bool {
        self.repeats && !self.count_links
    }

    /// Whether a directory is known to have been met by the order of events.
    pub(super) fn enters(&self) -> bool {
        self.meets_again() && self.links != Links::Always
    }

    /// Whether a directory is known to have been met when it is entered.
    pub(crate) fn enters_at_once(&self) -> bool {
        !self.count_links && self.links == Links::Always
    }

    /// The depth of directories from which on all below is merged into them.
    pub(super) fn merges_from(&self) -> usize {
        if self.separate || self.meets_again() {
            usize::MAX
        } else {
            self.max_depth
        }
    }

    /// Where a walk does not go on.
    pub(super) fn stay(&self) -> Stay {
        if self.one_file_system {
            Stay::Device
        } else {
            Stay::Anywhere
        }
    }

    /// Whether everything comes to one sum.
    pub(super) fn is_one_sum(&self) -> bool {
        self.merges_from() == 0 && !self.repeats
    }
}
