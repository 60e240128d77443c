//! Rows of the pane.

use super::App;
use crate::view::{Content, Pane, PaneKind, PaneQuestion};
use std::sync::Arc;
use std::time::Instant;

impl App {
    /// Opens a pane, or closes it if it is open.
    pub(super) fn open_pane(&mut self, kind: PaneKind) {
        let is_open = self.pane.as_ref().is_some_and(|pane| pane.kind == kind);
        self.pane = (!is_open).then(|| Pane::open(kind));
        self.ask_pane(Instant::now());
    }

    /// Drops the rows of the pane, since they are about something else, and asks for others.
    pub(super) fn renew_pane(&mut self) {
        if let Some(pane) = &mut self.pane {
            *pane = Pane::open(pane.kind);
        }
        self.ask_pane(Instant::now());
    }

    fn ask_pane(&mut self, now: Instant) {
        let state = self.state();
        let matches = self.matches().cloned();
        let Some(pane) = &mut self.pane else { return };
        pane.pace.asked(state, now);
        let question = PaneQuestion {
            tree: Arc::clone(&self.tree),
            kind: pane.kind,
            directory: self.list.directory,
            path: self.list.path.clone(),
            weight: self.weight,
            matches,
        };
        pane.answer.ask(&self.slow, || question.answer());
    }

    /// Takes rows that are there, and asks again if the tree has changed.
    pub(super) fn update_pane(&mut self, now: Instant) {
        let state = self.state();
        let Some(pane) = &mut self.pane else { return };
        if let Some(answer) = pane.answer.take() {
            pane.pace.answered(now);
            match answer {
                Ok(content) => pane.replace(content),
                Err(error) => {
                    pane.content.get_or_insert(Content::Groups(Vec::new()));
                    self.complain(format!("cannot show this: {error}"));
                }
            }
            return self.draw_soon();
        }
        if !pane.answer.is_pending() && pane.pace.is_due(&state, now) {
            self.ask_pane(now);
        }
    }

    /// Returns true if the rows of the pane show the current state of the tree.
    pub(super) fn is_pane_current(&self) -> bool {
        let state = self.state();
        self.pane
            .as_ref()
            .is_none_or(|pane| !pane.answer.is_pending() && pane.pace.is_current(&state))
    }
}
