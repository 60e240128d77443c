//! The browser between tree and terminal: what keys do, and when the screen is drawn.
//!
//! ```text
//!   event_loop.rs ── keys ──> act.rs ──> state of the App <── answers of workers ── update.rs
//!        ^                                      |
//!        └───────────── frames ────── screen/ <─┘
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `act.rs` | what the keys of the table do |
//! | `prompt.rs` | a line of text that somebody types |
//! | `choosing.rs` | filter, search and marks |
//! | `unshared.rs` | what a deletion frees without extents that other files share |
//! | `deleting.rs` | the question before a deletion, and the deletion |
//! | `panes.rs` | rows of the pane |
//! | `update.rs` | answers of workers, changes of the tree, times of drawing |
//! | `words.rs` | a line as the words of an expression |
//! | `once.rs` | keys from a text in place of a terminal |
//! | `event_loop.rs` | the loop on a terminal |
//! | `input.rs` | bytes of the terminal as keys |
//! | `terminal.rs` | taking the terminal, and giving it back |
//! | `signals.rs` | signals that end or stop the program |

mod act;
mod choosing;
mod deleting;
mod event_loop;
mod input;
mod once;
mod panes;
mod prompt;
mod signals;
mod terminal;
mod unshared;
mod update;
mod words;

pub(crate) use deleting::{Asking, Running};
pub use event_loop::End;
pub(crate) use prompt::{Asked, Prompt};
pub(crate) use unshared::in_words;

use crate::service::{Matches, Services, Unshared};
use crate::tree::{Id, Tree, Weight};
use crate::view::{
    List, ListOrder, Listing, MarkTotals, Marks, Matching, Owners, Pace, Pane, PaneKind, Slot,
    State, Worker,
};
use jiff::tz::TimeZone;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// How the browser shows things.
#[derive(Clone, Debug)]
pub struct Options {
    /// Colours are used.
    pub colour: bool,
    /// The time zone of shown times.
    pub zone: TimeZone,
}

impl Options {
    /// Returns the options that the environment asks for: no colours if
    /// [`NO_COLOR`](https://no-color.org) is set, and the time zone of the system.
    pub fn from_environment() -> Self {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self {
            colour,
            zone: TimeZone::system(),
        }
    }
}

/// A browser of one tree.
///
/// [`run`](Self::run) shows it on a terminal, [`once`](Self::once) without one.
pub struct App {
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) services: Services,
    pub(crate) options: Options,
    pub(crate) list: List,
    pub(crate) order: ListOrder,
    pub(crate) weight: Weight,
    /// What covers the list.
    pub(crate) pane: Option<Pane>,
    pub(crate) mode: Mode,
    pub(crate) marks: Marks,
    pub(crate) mark_totals: Option<MarkTotals>,
    pub(crate) filter: Option<ActiveFilter>,
    /// Why entries could not be deleted.
    pub(crate) kept: HashMap<Id, String>,
    pub(crate) message: Option<Message>,
    pub(crate) owners: Owners,
    /// Entries a second, while the tree is read.
    pub(crate) rate: Option<u64>,
    /// The entry of each visited directory that the cursor was on.
    remembered: HashMap<Id, Id>,
    searched: String,
    wish: Option<Wish>,
    /// Listings and searches.
    quick: Worker,
    /// Totals and panes.
    slow: Worker,
    /// What may take minutes: extents, what a deletion would do.
    long: Worker,
    /// Exports.
    exporter: Worker,
    answers: Answers,
    seen: Seen,
}

/// What the keyboard is for.
pub(crate) enum Mode {
    /// The keys of the table.
    Browse,
    /// The help, from this line on.
    Help(usize),
    /// The details of an entry, from this line on.
    Info(Id, usize),
    /// A line of text.
    Prompt(Prompt),
    /// The question before a deletion.
    Asking(Asking),
    /// A deletion that runs.
    Deleting(Running),
}

/// A filter that is shown.
pub(crate) struct ActiveFilter {
    /// The expression as it was typed.
    pub(crate) text: String,
    /// Its matches.
    pub(crate) matches: Arc<dyn Matches>,
}

/// A message on the last line, until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// The text. It may hold any characters.
    pub(crate) text: String,
    /// True if something failed.
    pub(crate) is_error: bool,
}

/// What the loop on the terminal must do, since it owns the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    /// Ends.
    Quit,
    /// Stops until the shell continues the program.
    Suspend,
    /// Runs a shell in the directory with this path.
    Shell(Vec<u8>),
    /// Draws everything anew.
    Redraw,
}

/// Questions to workers.
#[derive(Default)]
struct Answers {
    listing: Slot<io::Result<Listing>>,
    marks: Slot<io::Result<MarkTotals>>,
    search: Slot<io::Result<Option<Id>>>,
    /// What was exported, and what is missing in it.
    export: Slot<Result<(String, Option<String>), String>>,
    unshared: Slot<Result<Unshared, String>>,
    /// What the question about extents is about, in words.
    unshared_of: String,
    /// The search whose matches will be marked, and the question for them.
    marking: Option<Marking>,
}

/// Matches that will be marked.
struct Marking {
    matches: Arc<dyn Matches>,
    directory: Id,
    path: Vec<u8>,
    answer: Slot<io::Result<Matching>>,
}

/// What was asked and drawn last, and when.
struct Seen {
    list: Pace<State>,
    /// The generations of the marks and of the tree.
    marks: Pace<(u64, u64)>,
    /// The entries at the begin of the current measurement of the rate.
    rate: Option<(Instant, u64)>,
    drawn_at: Option<Instant>,
    draw: Draw,
}

/// When the screen must be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Draw {
    /// It shows everything.
    Never,
    /// Something has changed without a key.
    Soon,
    /// A key was pressed.
    Now,
}

impl App {
    /// Returns a browser of a tree. Nothing is drawn yet.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn new(tree: Arc<dyn Tree>, services: Services, options: Options) -> io::Result<Self> {
        let top = tree.top();
        let mut app = Self {
            tree,
            services,
            options,
            list: List::open(top, Vec::new(), None, &List::default()),
            order: ListOrder::default(),
            weight: Weight::Alloc,
            pane: None,
            mode: Mode::Browse,
            marks: Marks::default(),
            mark_totals: None,
            filter: None,
            kept: HashMap::new(),
            message: None,
            owners: Owners::default(),
            rate: None,
            remembered: HashMap::new(),
            searched: String::new(),
            wish: None,
            quick: Worker::start("browse-list")?,
            slow: Worker::start("browse-sums")?,
            long: Worker::start("browse-long")?,
            exporter: Worker::start("browse-export")?,
            answers: Answers::default(),
            seen: Seen {
                list: Pace::default(),
                marks: Pace::default(),
                rate: None,
                drawn_at: None,
                draw: Draw::Now,
            },
        };
        app.ask_listing(Instant::now());
        Ok(app)
    }

    /// Returns the entry under the cursor.
    pub(crate) fn current_id(&self) -> Option<Id> {
        match &self.pane {
            Some(pane) => pane.current_id(),
            None => self.list.current_id(),
        }
    }

    /// Returns the matches of the filter.
    pub(crate) fn matches(&self) -> Option<&Arc<dyn Matches>> {
        self.filter.as_ref().map(|filter| &filter.matches)
    }

    /// Returns true if the treemap is shown.
    pub(crate) fn is_treemap(&self) -> bool {
        self.pane
            .as_ref()
            .is_some_and(|pane| pane.kind == PaneKind::Treemap)
    }

    /// Shows a message until the next key.
    fn tell(&mut self, text: impl Into<String>) {
        self.message = Some(Message {
            text: text.into(),
            is_error: false,
        });
    }

    /// Shows what failed, until the next key.
    fn complain(&mut self, text: impl Into<String>) {
        self.message = Some(Message {
            text: text.into(),
            is_error: true,
        });
    }
}

#[cfg(test)]
mod tests;
