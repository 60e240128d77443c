//! What somebody looks at: a directory, its order, the cursor, marks, panes.
//!
//! Everything that may take longer than a frame runs on a [`Worker`]: sorting listings, adding up
//! marks, collecting panes. So a key press never waits for it.
//!
//! | file | contents |
//! |---|---|
//! | `worker.rs` | work on a background thread |
//! | `cursor.rs` | a cursor in rows of which a part is visible |
//! | `listing.rs` | the sorted and filtered entries of a directory |
//! | `list.rs` | the directory on the screen, whose cursor stays on its entry |
//! | `marks.rs` | marked entries and their totals |
//! | `matching.rs` | the entries that an expression would mark |
//! | `pane.rs` | largest files, groups, what could not be read, tiles of the treemap |
//! | `pace.rs` | when a question about something that changes is asked again |
//! | `squarify.rs` | the rectangles of a treemap |
//! | `owners.rs` | names of owners |

mod cursor;
mod list;
mod listing;
mod marks;
mod matching;
mod owners;
mod pace;
mod pane;
mod squarify;
mod worker;

pub(crate) use cursor::Cursor;
pub(crate) use list::{List, Row};
pub(crate) use listing::{ListOrder, Listing, Question, key_of, narrow, size};
pub(crate) use marks::{MarkTotals, Marks, totals_of_marks};
pub(crate) use matching::{Matching, matching};
pub(crate) use owners::Owners;
pub(crate) use pace::Pace;
pub(crate) use pane::{Content, Pane, PaneKind, PaneQuestion, State, Tile};
pub(crate) use squarify::squarify;
pub(crate) use worker::{Slot, Worker};
