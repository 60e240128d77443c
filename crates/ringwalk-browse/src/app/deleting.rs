//! The question before a deletion, and the deletion.

use super::{App, Mode};
use crate::keys::Key;
use crate::screen::amount::{bytes, entries};
use crate::service::{Deletion, DeletionProgress, Description, Unshared};
use crate::tree::Id;
use crate::view::Slot;
use std::fmt::Write as _;

/// From this many entries on, their number must be typed.
const TYPED_ABOVE: u64 = 1000;

/// The question before a deletion.
pub(crate) struct Asking {
    /// The entries.
    pub(crate) ids: Vec<Id>,
    /// True if they are moved into the trash.
    pub(crate) into_trash: bool,
    /// What the deletion would do; `None` until it is known.
    pub(crate) description: Option<Description>,
    /// The digits that were typed so far.
    pub(crate) typed: String,
    /// What happens until the description is there, in words.
    pub(crate) preparation: &'static str,
    /// What the deletion frees without shared extents, once that is known.
    pub(crate) unshared: Option<Result<Unshared, String>>,
    answer: Slot<Result<Description, String>>,
}

impl Asking {
    /// Returns true if the number of entries must be typed.
    pub(crate) fn must_type(&self) -> bool {
        self.description
            .as_ref()
            .is_some_and(|description| description.entries > TYPED_ABOVE)
    }

    /// Returns the entries that are not refused.
    pub(crate) fn allowed(&self) -> Vec<Id> {
        let refusals = self.description.as_ref().map_or(&[][..], |it| &it.refusals);
        let is_refused = |id: &Id| refusals.iter().any(|(refused, _)| refused == id);
        self.ids
            .iter()
            .copied()
            .filter(|id| !is_refused(id))
            .collect()
    }

    /// Returns true if the key says yes. Enter alone says no.
    fn is_agreed(&mut self, key: Key) -> bool {
        let Some(description) = &self.description else {
            return false;
        };
        let number = description.entries.to_string();
        if !self.must_type() {
            return key == Key::Char('y') && !self.allowed().is_empty();
        }
        key == Key::Enter && self.typed == number && !self.allowed().is_empty()
    }

    /// Takes a digit of the number. Returns false if the key is not a digit and ends the question.
    fn edit(&mut self, key: Key) -> bool {
        match key {
            Key::Char(digit) if digit.is_ascii_digit() && self.must_type() => {
                if self.typed.len() < 20 {
                    self.typed.push(digit);
                }
                true
            }
            Key::Backspace if self.must_type() => {
                self.typed.pop();
                true
            }
            // A slip of the finger must not close a question that needs a number.
            Key::Char(_) => self.must_type(),
            _ => false,
        }
    }
}

/// A deletion that runs.
pub(crate) struct Running {
    deletion: Box<dyn Deletion>,
    /// The number of entries that shall be deleted.
    pub(crate) total: u64,
    /// How far it has come.
    pub(crate) progress: DeletionProgress,
    /// True if it was cancelled.
    pub(crate) is_cancelled: bool,
    /// True if the entries go into the trash.
    pub(crate) into_trash: bool,
}

impl App {
    /// Asks whether the marked entries, or the one under the cursor, shall be deleted.
    pub(super) fn ask_deletion(&mut self) {
        let deleter = match &self.services.deleter {
            Ok(deleter) => deleter.clone(),
            Err(reason) => {
                let text = format!("cannot delete: {reason}");
                return self.complain(text);
            }
        };
        let Some((ids, _)) = self.chosen() else {
            return;
        };
        self.answers.unshared.forget();
        let mut asking = Asking {
            ids: ids.clone(),
            into_trash: deleter.uses_trash(),
            description: None,
            typed: String::new(),
            preparation: deleter.preparation(),
            unshared: None,
            answer: Slot::default(),
        };
        asking.answer.ask_long(&self.long, move |wanted| {
            deleter.describe(&ids, &|| wanted.is_wanted())
        });
        self.mode = Mode::Asking(asking);
    }

    pub(super) fn asking_key(&mut self, key: Key) {
        let Mode::Asking(asking) = &mut self.mode else {
            return;
        };
        if asking.is_agreed(key) {
            self.answers.unshared.forget();
            let (ids, into_trash) = (asking.allowed(), asking.into_trash);
            let total = asking.description.as_ref().map_or(0, |it| it.entries);
            self.mode = Mode::Browse;
            return self.start_deletion(&ids, total, into_trash);
        }
        if key == Key::Char('x') && asking.description.is_some() {
            let ids = asking.allowed();
            return self.ask_unshared(ids);
        }
        if !asking.edit(key) {
            self.answers.unshared.forget();
            self.mode = Mode::Browse;
            self.tell("nothing was deleted");
        }
    }

    fn start_deletion(&mut self, ids: &[Id], total: u64, into_trash: bool) {
        let Ok(deleter) = self.services.deleter.clone() else {
            return;
        };
        match deleter.start(ids) {
            Ok(deletion) => {
                let progress = deletion.progress();
                let running = Running {
                    deletion,
                    total,
                    progress,
                    is_cancelled: false,
                    into_trash,
                };
                self.mode = Mode::Deleting(running);
            }
            Err(reason) => self.complain(format!("cannot delete: {reason}")),
        }
    }

    pub(super) fn deleting_key(&mut self, key: Key) {
        let Mode::Deleting(running) = &mut self.mode else {
            return;
        };
        if matches!(key, Key::Escape | Key::Ctrl('c') | Key::Char('q')) {
            running.is_cancelled = true;
            running.deletion.cancel();
        }
    }

    /// Takes what is known of a deletion. Returns true if something has changed.
    pub(super) fn update_deletion(&mut self) -> bool {
        match &mut self.mode {
            Mode::Asking(asking) => match asking.answer.take() {
                None => false,
                Some(Ok(description)) => {
                    asking.description = Some(description);
                    true
                }
                Some(Err(reason)) => {
                    self.mode = Mode::Browse;
                    self.complain(format!("cannot delete: {reason}"));
                    true
                }
            },
            Mode::Deleting(running) => {
                let progress = running.deletion.progress();
                let is_changed = progress != running.progress;
                running.progress = progress;
                if progress.finished {
                    self.end_deletion();
                }
                is_changed
            }
            _ => false,
        }
    }

    /// Says what was deleted. Entries that still exist keep their marks, and get the reason why.
    fn end_deletion(&mut self) {
        let Mode::Deleting(running) = std::mem::replace(&mut self.mode, Mode::Browse) else {
            return;
        };
        let results = running.deletion.results();
        self.marks.remove(&results.deleted);
        let progress = running.progress;
        let done = if running.into_trash {
            "moved into the trash"
        } else {
            "deleted"
        };
        let mut text = format!("{} {done}", entries(progress.deleted));
        if !running.into_trash {
            let _ = write!(text, ", {} freed", bytes(progress.freed));
        }
        if running.is_cancelled {
            text.push_str("; cancelled");
        }
        let is_error = !results.kept.is_empty();
        if let Some((_, reason)) = results.kept.first() {
            let _ = write!(text, "; {} could not be: {reason}", progress.failed);
        }
        if self.has_any(&results.deleted) {
            text.push_str("; the snapshot still lists them");
        }
        self.kept.extend(results.kept);
        self.message = Some(super::Message { text, is_error });
        self.seen.list.reset();
        self.draw_now();
    }

    /// Returns true if the tree has one of these entries.
    fn has_any(&self, ids: &[Id]) -> bool {
        self.tree.items(ids).is_ok_and(|items| !items.is_empty())
    }

    /// Returns true if the question waits for its numbers, or a deletion runs.
    pub(super) fn is_deletion_pending(&self) -> bool {
        match &self.mode {
            Mode::Asking(asking) => asking.answer.is_pending(),
            Mode::Deleting(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeDeleter, Stage, sample};
    use std::sync::Arc;

    #[test]
    fn deletion_needs_a_yes() {
        for keys in ["d<enter>", "dn", "d<esc>", "dq"] {
            let mut stage = Stage::new(sample(), 80, 24);
            stage.press(keys);
            assert!(
                stage.text().contains("nothing was deleted"),
                "{keys}: {}",
                stage.text()
            );
            assert!(stage.text().contains("/music"), "{keys}");
        }
        let mut stage = Stage::new(sample(), 80, 24);
        stage.press("dy");
        assert!(
            stage.text().contains("1 entry deleted, 4.0K freed"),
            "{}",
            stage.text()
        );
        assert!(!stage.text().contains("/music"), "{}", stage.text());
    }

    #[test]
    fn deletion_of_many_needs_their_number() {
        let many = |into_trash| {
            let tree = sample();
            let deleter = FakeDeleter {
                tree: tree.clone(),
                into_trash,
                entries: Some(1001),
                is_endless: false,
            };
            Stage::with(tree, 80, 24, |services| {
                services.deleter = Ok(Arc::new(deleter));
            })
        };
        for keys in ["d<enter>", "d1000<enter>", "dy1001<backspace><enter>"] {
            let mut stage = many(false);
            stage.press(keys);
            assert!(
                stage.text().contains("nothing was deleted"),
                "{keys}: {}",
                stage.text()
            );
        }
        let mut stage = many(true);
        stage.press("d1001<enter>");
        assert!(
            stage.text().contains("moved into the trash"),
            "{}",
            stage.text()
        );
    }

    #[test]
    fn a_deleted_directory_is_left() {
        let mut stage = Stage::new(sample(), 80, 24);
        // The mark is on the directory that is shown, or above it.
        stage.press("n");
        stage.press("\\src<enter><space>\\src<enter><enter><enter>");
        assert!(
            stage.line(0).starts_with("/srv/data/src/build"),
            "{}",
            stage.text()
        );
        stage.press("dy");
        assert!(stage.line(0).starts_with("/srv/data  "), "{}", stage.text());
    }

    #[test]
    fn what_was_not_deleted_says_why() {
        let mut stage = Stage::new(sample(), 80, 24);
        stage.press("\\keep<enter>dy");
        assert!(
            stage.text().contains("Operation not permitted"),
            "{}",
            stage.text()
        );
        stage.press("jk");
        let line = stage.line(stage.line_of("keep.db").unwrap());
        assert!(line.contains('X'), "{line}");
        assert!(
            stage
                .line(23)
                .contains("not deleted: Operation not permitted"),
            "{}",
            stage.text()
        );
    }

    #[test]
    fn a_deletion_is_cancelled() {
        let tree = sample();
        let deleter = FakeDeleter {
            tree: tree.clone(),
            into_trash: false,
            entries: None,
            is_endless: true,
        };
        let mut stage = Stage::with(tree, 80, 24, |services| {
            services.deleter = Ok(Arc::new(deleter));
        });
        stage.press("d");
        stage.app.key(Key::Char('y'));
        stage.draw();
        assert!(stage.text().contains("Esc cancels"), "{}", stage.text());
        stage.press("<esc>");
        assert!(stage.text().contains("cancelled"), "{}", stage.text());
    }
}
