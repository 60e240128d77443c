//! Filter, search and marks.

use super::words::words;
use super::{ActiveFilter, App, Marking};
use crate::keys::Key;
use crate::service::Matches;
use crate::tree::{Id, Progress, Tree};
use crate::view::{matching, totals_of_marks};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A key waits this long for a search that was begun before it.
const LONGEST_SEARCH: Duration = Duration::from_secs(2);

/// Entries are searched in groups of this many.
const GROUP: usize = 1024;

impl App {
    /// Starts a filter; without an expression ends it. Returns false if the expression is no good.
    pub(super) fn start_filter(&mut self, text: &str) -> bool {
        match self.start_matches(text) {
            Ok(matches) => {
                self.filter = matches.map(|matches| ActiveFilter {
                    text: text.to_owned(),
                    matches,
                });
                self.ask_listing(Instant::now());
                true
            }
            Err(reason) => {
                self.complain(reason);
                false
            }
        }
    }

    /// Starts to look for what will be marked. Returns false if the expression is no good.
    pub(super) fn start_marking(&mut self, text: &str) -> bool {
        match self.start_matches(text) {
            Ok(matches) => {
                self.answers.marking = matches.map(|matches| Marking {
                    matches,
                    directory: self.list.directory,
                    path: self.list.path.clone(),
                    answer: super::Slot::default(),
                });
                if self.answers.marking.is_some() {
                    self.tell("looking for what matches");
                }
                true
            }
            Err(reason) => {
                self.complain(reason);
                false
            }
        }
    }

    /// Starts to look for what matches; `None` without an expression.
    fn start_matches(&self, text: &str) -> Result<Option<Arc<dyn Matches>>, String> {
        let words = words(text)?;
        if words.is_empty() {
            return Ok(None);
        }
        self.services.filter.clone()?.start(&words).map(Some)
    }

    /// Takes totals of marks that are there, and asks again if the marks or the tree have changed.
    pub(super) fn update_marks(&mut self, progress: &Progress, now: Instant) {
        if let Some(answer) = self.answers.marks.take() {
            self.seen.marks.answered(now);
            match answer {
                Ok(totals) => self.mark_totals = Some(totals),
                Err(error) => self.complain(format!("cannot add up the marks: {error}")),
            }
            self.draw_soon();
        }
        if self.marks.is_empty() {
            self.mark_totals = None;
            self.answers.marks.forget();
            return;
        }
        let wanted = (self.marks.generation, progress.generation);
        // Another mark does not wait for its turn.
        let is_other = self.seen.marks.seen().is_none_or(|seen| seen.0 != wanted.0);
        let is_due = is_other || self.seen.marks.is_due(&wanted, now);
        if is_due && !self.answers.marks.is_pending() {
            self.seen.marks.asked(wanted, now);
            let (tree, ids) = (Arc::clone(&self.tree), self.marks.ids());
            self.answers
                .marks
                .ask(&self.slow, move || totals_of_marks(tree.as_ref(), &ids));
        }
    }

    /// Marks what matches, once the search for it has ended.
    pub(super) fn update_marking(&mut self) {
        let Some(marking) = &mut self.answers.marking else {
            return;
        };
        if let Some(answer) = marking.answer.take() {
            let error = marking.matches.error();
            self.answers.marking = None;
            match answer {
                Ok(found) => {
                    self.marks.add(&found.ids);
                    let mut text = format!("{} marked", found.ids.len());
                    if found.partial > 0 {
                        let _ = write!(
                            text,
                            "; not marked: {} that match but hold something that does not",
                            directories(found.partial)
                        );
                    }
                    match error {
                        Some(error) => self.complain(format!("{text}; not complete: {error}")),
                        None => self.tell(text),
                    }
                }
                Err(error) => self.complain(format!("cannot mark: {error}")),
            }
            return self.draw_soon();
        }
        if marking.answer.is_pending() || !marking.matches.progress().finished {
            return;
        }
        let (tree, matches) = (Arc::clone(&self.tree), Arc::clone(&marking.matches));
        let (directory, path) = (marking.directory, marking.path.clone());
        marking.answer.ask(&self.slow, move || {
            matching(tree.as_ref(), directory, path, matches.as_ref())
        });
    }

    /// Moves the cursor to the next name that holds the searched text.
    pub(super) fn search(&mut self) {
        if self.searched.is_empty() {
            return self.tell("nothing was searched for yet: \\ asks for a part of a name");
        }
        let ids = self.list.ids();
        let behind = (self.list.cursor.at + 1).min(ids.len());
        let mut rest = ids[behind..].to_vec();
        rest.extend_from_slice(&ids[..behind]);
        let tree = Arc::clone(&self.tree);
        let text = self.searched.clone();
        self.answers
            .search
            .ask(&self.quick, move || first_with(tree.as_ref(), &rest, &text));
    }

    /// Waits for a search: keys that were typed behind it are about the entry that it finds.
    /// Returns false if the key is used up: nothing was found, Escape gives up the search, or it
    /// takes too long.
    pub(super) fn end_search(&mut self, key: Key) -> bool {
        // The answer may be there, and nobody has looked at it yet.
        if let Some(answer) = self.answers.search.take() {
            return self.take_search(answer);
        }
        if !self.answers.search.is_pending() {
            return true;
        }
        if key == Key::Escape {
            self.answers.search.forget();
            self.tell("the search was given up");
            return false;
        }
        if let Some(answer) = self.answers.search.wait(LONGEST_SEARCH) {
            return self.take_search(answer);
        }
        self.complain("still searching: the key was ignored, Esc gives up the search");
        false
    }

    /// Returns the marked entries, or the one under the cursor, and what they are in words. Says so
    /// if there is none.
    pub(super) fn chosen(&mut self) -> Option<(Vec<Id>, String)> {
        if self.marks.is_empty() {
            let item = self.current()?;
            let name = String::from_utf8_lossy(&item.name).into_owned();
            return Some((vec![item.id], name));
        }
        let ids = self.marks.ids();
        let words = format!("{} marked", ids.len());
        Some((ids, words))
    }

    pub(super) fn mark(&mut self) {
        if let Some(item) = self.current() {
            self.marks.invert(&[item.id]);
            match &mut self.pane {
                Some(pane) => {
                    let count = pane.len();
                    pane.cursor.step(1, count);
                }
                None => self.list.cursor.step(1, self.list.len()),
            }
        }
    }

    pub(super) fn invert(&mut self) {
        self.marks.invert(self.list.ids());
    }
}

/// Returns the first of the entries whose name holds a text. Small letters also stand for capital
/// ones, unless the text has a capital letter.
fn first_with(tree: &dyn Tree, ids: &[Id], text: &str) -> io::Result<Option<Id>> {
    let is_exact = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let text = text.as_bytes();
    let is_same = |window: &[u8]| {
        if is_exact {
            window == text
        } else {
            window.eq_ignore_ascii_case(text)
        }
    };
    for group in ids.chunks(GROUP) {
        for item in tree.items(group)? {
            if item.name.windows(text.len()).any(is_same) {
                return Ok(Some(item.id));
            }
        }
    }
    Ok(None)
}

fn directories(count: u64) -> String {
    if count == 1 {
        "1 directory".to_owned()
    } else {
        format!("{count} directories")
    }
}
