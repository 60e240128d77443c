//! Filter, search and marks.

use super::words::words;
use super::{ActiveFilter, App, Marking};
use crate::service::Matches;
use crate::tree::{Id, Tree};
use std::io;
use std::sync::Arc;
use std::time::Instant;

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
