//! What a deletion frees without extents that other files share.

use super::{App, Mode};
use crate::screen::amount::bytes;
use crate::service::Unshared;
use crate::tree::Id;
use std::sync::Arc;

impl App {
    /// Looks at the marked entries, or at the one under the cursor.
    pub(super) fn look_for_shared(&mut self) {
        let Some((ids, words)) = self.chosen() else {
            return;
        };
        self.answers.unshared_of = words;
        self.ask_unshared(ids);
        if self.answers.unshared.is_pending() {
            self.tell("looking at the extents of each file; Esc ends that");
        }
    }

    /// Asks for the space that these entries do not share.
    pub(super) fn ask_unshared(&mut self, ids: Vec<Id>) {
        match &self.services.actions {
            Ok(actions) => {
                let actions = Arc::clone(actions);
                self.answers.unshared.ask_long(&self.long, move |wanted| {
                    actions.unshared(&ids, &|| wanted.is_wanted())
                });
            }
            Err(reason) => {
                let reason = reason.clone();
                self.show_unshared(Err(reason));
            }
        }
    }

    /// Takes the answer, if it is there.
    pub(super) fn update_unshared(&mut self) {
        if let Some(answer) = self.answers.unshared.take() {
            self.show_unshared(answer);
        }
    }

    fn show_unshared(&mut self, answer: Result<Unshared, String>) {
        self.draw_soon();
        if let Mode::Asking(asking) = &mut self.mode {
            asking.unshared = Some(answer);
            return;
        }
        match answer {
            Ok(found) => {
                let text = format!("{}: {}", self.answers.unshared_of, in_words(&found));
                if found.unknown == 0 {
                    self.tell(text);
                } else {
                    self.complain(text);
                }
            }
            Err(reason) => self.complain(format!("cannot look at extents: {reason}")),
        }
    }

    /// Returns true while the answer is awaited.
    pub(crate) fn is_looking_at_extents(&self) -> bool {
        self.answers.unshared.is_pending()
    }

    /// Gives up the question. Returns true if there was one.
    pub(super) fn forget_unshared(&mut self) -> bool {
        let was_pending = self.answers.unshared.is_pending();
        self.answers.unshared.forget();
        was_pending
    }
}

/// Says what a deletion frees.
pub(crate) fn in_words(found: &Unshared) -> String {
    let freed = bytes(found.freed);
    match &found.reason {
        None => format!("frees {freed} without shared extents"),
        Some(reason) => format!(
            "frees at least {freed} without shared extents; {} not known: {reason}",
            found.unknown
        ),
    }
}
