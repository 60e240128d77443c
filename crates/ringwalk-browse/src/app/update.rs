//! Answers of workers, changes of the tree, times of drawing.

use super::{App, Draw, Marking, Wish};
use crate::tree::Id;
use crate::tree::Progress;
use crate::view::{Question, State};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Changes without a key are drawn this far apart: 20 times a second.
const FRAME: Duration = Duration::from_millis(50);
/// A key waits this long for a listing, so that most directories appear at once. A key must reach
/// the screen within 16 ms.
const PATIENCE: Duration = Duration::from_millis(8);
/// The pause between two looks at the tree and at signals when nothing happens.
const IDLE: Duration = Duration::from_millis(200);
/// The pause while an answer is awaited.
const AWAITING: Duration = Duration::from_millis(10);
/// The rate is measured over at least this time.
const RATE_WINDOW: Duration = Duration::from_secs(1);

impl App {
    /// Takes answers that are there, and asks again for what has changed.
    pub(crate) fn update(&mut self, now: Instant) {
        let progress = self.tree.progress();
        self.measure(&progress, now);
        if let Some(answer) = self.answers.listing.take() {
            self.take_listing(answer, now);
        }
        self.refresh(now);
        self.update_pane(now);
        self.update_marks(&progress, now);
        self.update_marking();
        self.update_answers();
        if self.update_deletion() || self.owners.update(&self.slow) {
            self.draw_soon();
        }
    }

    /// Asks for the listing of the current directory, and waits for it a short time.
    pub(super) fn ask_listing(&mut self, now: Instant) {
        self.start_listing(now);
        if let Some(answer) = self.answers.listing.wait(PATIENCE) {
            self.take_listing(answer, now);
        }
    }

    fn start_listing(&mut self, now: Instant) {
        // This comes before the question, so that later changes are asked for again.
        let state = self.state();
        self.seen.list.asked(state, now);
        let question = Question {
            tree: Arc::clone(&self.tree),
            directory: self.list.directory,
            path: self.list.path.clone(),
            order: self.order,
            weight: self.weight,
            matches: self.matches().cloned(),
            comparison: self.services.comparison.clone().ok(),
        };
        self.answers.listing.ask(&self.quick, || question.answer());
    }

    fn take_listing(&mut self, answer: std::io::Result<crate::view::Listing>, now: Instant) {
        match answer {
            Ok(listing) if listing.directory == self.list.directory => {
                self.list.replace(listing);
                let comparison = self.services.comparison.as_ref().ok();
                if let Some(error) = comparison.and_then(|comparison| comparison.error()) {
                    self.complain(format!("growth is not known everywhere: {error}"));
                }
            }
            Ok(_) => {}
            Err(error) => {
                self.list.is_loaded = true;
                self.complain(format!("cannot list the directory: {error}"));
            }
        }
        self.seen.list.answered(now);
        self.draw_soon();
    }

    /// Asks for a new listing if the tree or the matches have changed.
    fn refresh(&mut self, now: Instant) {
        let state = self.state();
        if self.seen.list.is_due(&state, now) && !self.answers.listing.is_pending() {
            self.leave_deleted();
            self.start_listing(now);
            // Totals at the top and at the bottom have changed too.
            self.draw_soon();
        }
    }

    /// Goes to the nearest directory above that is still there, if the current one is gone.
    fn leave_deleted(&mut self) {
        let is_there = |id| self.tree.items(&[id]).is_ok_and(|items| !items.is_empty());
        if is_there(self.list.directory) {
            return;
        }
        let mut at = self.list.directory;
        while let Ok(Some(above)) = self.tree.parent(at) {
            at = above;
            if is_there(at) {
                break;
            }
        }
        let at = if is_there(at) { at } else { self.tree.top() };
        self.enter(at, None);
        self.tell("the directory is gone");
    }

    /// Returns what is known of the tree and of the matches.
    pub(super) fn state(&self) -> State {
        let matches = self.matches().map(|matches| matches.progress());
        State {
            generation: self.tree.progress().generation,
            filtered: matches.map_or(0, |progress| progress.entries),
            is_filtered: matches.is_none_or(|progress| progress.finished),
        }
    }

    /// Moves the cursor to what a search has found. Returns false if there is nothing.
    pub(super) fn take_search(&mut self, answer: std::io::Result<Option<Id>>) -> bool {
        self.draw_now();
        let row = match answer {
            Ok(found) => found.and_then(|id| self.list.row_of(id)),
            Err(error) => {
                self.complain(format!("cannot search: {error}"));
                return false;
            }
        };
        let Some(row) = row else {
            self.tell(format!("no name here holds {}", self.searched));
            return false;
        };
        self.list.cursor.set(row, self.list.len());
        true
    }

    fn update_answers(&mut self) {
        if let Some(answer) = self.answers.search.take() {
            self.take_search(answer);
        }
        if let Some(answer) = self.answers.export.take() {
            match answer {
                Ok((done, None)) => self.tell(done),
                Ok((done, Some(missing))) => {
                    self.complain(format!("{done}, but it is not complete: {missing}"));
                }
                Err(reason) => self.complain(format!("cannot export: {reason}")),
            }
            self.draw_soon();
        }
        self.update_unshared();
    }

    /// Measures how many entries are read in a second.
    fn measure(&mut self, progress: &Progress, now: Instant) {
        if progress.finished {
            self.rate = None;
            self.seen.rate = None;
            return;
        }
        let (begin, entries) = *self.seen.rate.get_or_insert((now, progress.entries));
        let passed = now.saturating_duration_since(begin);
        if passed >= RATE_WINDOW {
            let read = u128::from(progress.entries.saturating_sub(entries));
            let rate = read * 1000 / passed.as_millis().max(1);
            self.rate = u64::try_from(rate).ok();
            self.seen.rate = Some((now, progress.entries));
        }
    }

    /// Returns true if nothing more will change without a key.
    pub(super) fn is_settled(&self) -> bool {
        let is_marking = self.answers.marking.is_some();
        self.tree.progress().finished && self.state().is_filtered && !is_marking && self.is_idle()
    }

    /// Returns true if everything that is known is shown, and no answer is awaited.
    pub(crate) fn is_idle(&self) -> bool {
        let progress = self.tree.progress();
        let marks = (self.marks.generation, progress.generation);
        self.seen.list.is_current(&self.state())
            && (self.marks.is_empty() || self.seen.marks.is_current(&marks))
            && self.is_pane_current()
            && !self.answers.listing.is_pending()
            && !self.answers.marks.is_pending()
            && !self.answers.search.is_pending()
            && !self.answers.export.is_pending()
            && !self.answers.unshared.is_pending()
            && !self.is_deletion_pending()
            && !is_ready(self.answers.marking.as_ref())
            && !self.owners.is_pending()
    }

    /// Returns true if the screen must be drawn now.
    pub(crate) fn must_draw(&self, now: Instant) -> bool {
        match self.seen.draw {
            Draw::Never => false,
            Draw::Now => true,
            Draw::Soon => self
                .seen
                .drawn_at
                .is_none_or(|at| now.saturating_duration_since(at) >= FRAME),
        }
    }

    /// Remembers that the screen was drawn.
    pub(crate) fn was_drawn(&mut self, now: Instant) {
        self.seen.drawn_at = Some(now);
        self.seen.draw = Draw::Never;
    }

    /// Returns how long the loop may wait for a key.
    pub(super) fn pause(&self) -> Duration {
        match self.seen.draw {
            Draw::Now => Duration::ZERO,
            _ if !self.is_idle() => AWAITING,
            Draw::Soon => AWAITING,
            Draw::Never if !self.is_settled() => FRAME,
            Draw::Never => IDLE,
        }
    }

    /// Draws within a frame.
    pub(super) fn draw_soon(&mut self) {
        self.seen.draw = self.seen.draw.max(Draw::Soon);
    }

    /// Draws at once.
    pub(super) fn draw_now(&mut self) {
        self.seen.draw = Draw::Now;
    }

    /// Returns what the loop must do.
    pub(super) fn take_wish(&mut self) -> Option<Wish> {
        self.wish.take()
    }
}

/// Returns true if matches are about to be marked, since the search for them has ended.
fn is_ready(marking: Option<&Marking>) -> bool {
    marking.is_some_and(|marking| marking.matches.progress().finished)
}
