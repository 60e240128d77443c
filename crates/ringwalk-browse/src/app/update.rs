//! Answers of workers, changes of the tree, times of drawing.

use super::{App, Draw, Marking, Wish};
use crate::tree::Progress;
use crate::view::{Content, PaneQuestion, Question, matching, totals_of_marks};
use std::fmt::Write as _;
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
        self.refresh(&progress, now);
        self.update_pane();
        self.update_marks(&progress);
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
        // Both before the question: what changes from here on is asked again.
        self.seen.listed = Some(self.tree.progress().generation);
        self.seen.filtered = self.filtered();
        self.seen.listed_at = Some(now);
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
                self.seen.took = listing.took;
                self.list.replace(listing);
            }
            Ok(_) => {}
            Err(error) => {
                self.list.is_loaded = true;
                self.complain(format!("cannot list the directory: {error}"));
            }
        }
        self.seen.listed_at = Some(now);
        self.draw_soon();
    }

    /// Asks for a new listing if the tree or the matches have changed. A listing that takes long is
    /// asked for less often, so that sorting takes at most a fifth of a processor.
    fn refresh(&mut self, progress: &Progress, now: Instant) {
        let is_old =
            self.seen.listed != Some(progress.generation) || self.seen.filtered != self.filtered();
        let pause = FRAME.max(self.seen.took * 4);
        let is_due = self
            .seen
            .listed_at
            .is_none_or(|at| now.saturating_duration_since(at) >= pause);
        if is_old && is_due && !self.answers.listing.is_pending() {
            self.start_listing(now);
            self.reload_pane();
            self.draw_soon();
        }
        if let Some(error) = self.matches().and_then(|matches| matches.error())
            && self.message.is_none()
            && is_old
        {
            self.complain(format!("the filter is not complete: {error}"));
        }
    }

    /// Returns how far the filter has come.
    fn filtered(&self) -> (u64, bool) {
        self.matches().map_or((0, true), |matches| {
            let progress = matches.progress();
            (progress.entries, progress.finished)
        })
    }

    /// Asks for the rows of the pane, if one is open.
    pub(super) fn reload_pane(&mut self) {
        let matches = self.matches().cloned();
        let Some(pane) = &mut self.pane else { return };
        let question = PaneQuestion {
            tree: Arc::clone(&self.tree),
            kind: pane.kind,
            directory: self.list.directory,
            path: self.list.path.clone(),
            weight: self.weight,
            matches,
        };
        if pane.content.is_none() || !pane.answer.is_pending() {
            pane.answer.ask(&self.slow, || question.answer());
        }
    }

    fn update_pane(&mut self) {
        let Some(pane) = &mut self.pane else { return };
        match pane.answer.take() {
            None => return,
            Some(Ok(content)) => pane.replace(content),
            Some(Err(error)) => {
                if pane.content.is_none() {
                    pane.content = Some(Content::Groups(Vec::new()));
                }
                self.complain(format!("cannot show this: {error}"));
            }
        }
        self.draw_soon();
    }

    fn update_marks(&mut self, progress: &Progress) {
        if let Some(answer) = self.answers.marks.take() {
            self.mark_totals = answer.ok();
            self.draw_soon();
        }
        if self.marks.is_empty() {
            self.mark_totals = None;
            self.answers.marks.forget();
            return;
        }
        let wanted = (self.marks.generation, progress.generation);
        if self.seen.marks != wanted && !self.answers.marks.is_pending() {
            self.seen.marks = wanted;
            let (tree, ids) = (Arc::clone(&self.tree), self.marks.ids());
            self.answers
                .marks
                .ask(&self.slow, move || totals_of_marks(tree.as_ref(), &ids));
        }
    }

    /// Marks what matches, once the search for it has ended.
    fn update_marking(&mut self) {
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
                            "; {} directories match but hold something that does not: not marked",
                            found.partial
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

    fn update_answers(&mut self) {
        match self.answers.search.take() {
            None => {}
            Some(Ok(Some(id))) => {
                if let Some(row) = self.list.row_of(id) {
                    self.list.cursor.set(row, self.list.len());
                }
                self.draw_now();
            }
            Some(Ok(None)) => {
                self.tell(format!("no name here holds {}", self.searched));
                self.draw_now();
            }
            Some(Err(error)) => {
                self.complain(format!("cannot search: {error}"));
                self.draw_now();
            }
        }
        match self.answers.export.take() {
            None => return,
            Some(Ok(file)) => self.tell(format!("exported to {file}")),
            Some(Err(reason)) => self.complain(format!("cannot export: {reason}")),
        }
        self.draw_soon();
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
        self.tree.progress().finished && self.filtered().1 && !is_marking && self.is_idle()
    }

    /// Returns true if everything that is known is shown, and no answer is awaited.
    pub(crate) fn is_idle(&self) -> bool {
        let progress = self.tree.progress();
        self.seen.listed == Some(progress.generation)
            && self.seen.filtered == self.filtered()
            && (self.marks.is_empty()
                || self.seen.marks == (self.marks.generation, progress.generation))
            && !self.answers.listing.is_pending()
            && !self.answers.marks.is_pending()
            && !self.answers.search.is_pending()
            && !self.answers.export.is_pending()
            && !self
                .pane
                .as_ref()
                .is_some_and(|pane| pane.answer.is_pending())
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
