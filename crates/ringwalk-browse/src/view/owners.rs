//! Names of owners.
//!
//! Looking one up may ask a server on the network. So a worker does it, and the number is shown
//! until then.

use super::{Slot, Worker};
use std::collections::HashMap;

/// The names that are known.
#[derive(Default)]
pub(crate) struct Owners {
    names: HashMap<u32, String>,
    wanted: Vec<u32>,
    answer: Slot<Vec<(u32, String)>>,
}

impl Owners {
    /// Returns the name of an owner, or its number.
    pub(crate) fn name(&mut self, uid: u32) -> String {
        if let Some(name) = self.names.get(&uid) {
            return name.clone();
        }
        if !self.wanted.contains(&uid) {
            self.wanted.push(uid);
        }
        uid.to_string()
    }

    /// Asks for names that were wanted, and takes those that were found. Returns true if there are
    /// new ones.
    pub(crate) fn update(&mut self, worker: &Worker) -> bool {
        let mut is_new = false;
        if let Some(names) = self.answer.take() {
            is_new = true;
            self.names.extend(names);
        }
        let names = &self.names;
        self.wanted.retain(|uid| !names.contains_key(uid));
        if !self.wanted.is_empty() && !self.answer.is_pending() {
            let wanted = std::mem::take(&mut self.wanted);
            self.answer.ask(worker, move || {
                wanted.into_iter().map(|uid| (uid, look_up(uid))).collect()
            });
        }
        is_new
    }

    /// Returns true if names are being looked up.
    pub(crate) fn is_pending(&self) -> bool {
        self.answer.is_pending() || !self.wanted.is_empty()
    }
}

/// Returns the name of a user, or the number if there is none or it cannot be found out.
fn look_up(uid: u32) -> String {
    match ringwalk_sys::user_name(uid) {
        Ok(Some(name)) => String::from_utf8_lossy(&name).into_owned(),
        Ok(None) | Err(_) => uid.to_string(),
    }
}
