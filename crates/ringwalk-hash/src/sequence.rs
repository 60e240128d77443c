//! Results of many files, in the order of the files.

use crate::hash_files::Hashed;
use crate::{Digest, Fault};
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex};

/// The most files whose results are awaited or held. A file takes some 200 bytes meanwhile.
pub(crate) const WINDOW: u64 = 16_384;

/// Brings results into the order of the files.
pub(crate) struct Sequence<C, D> {
    state: Mutex<SequenceState<C, D>>,
    moved: Condvar,
}

struct SequenceState<C, D> {
    /// The number of results that were given to `done`.
    next: u64,
    later: BTreeMap<u64, Hashed<C>>,
    /// Those that are given to `done` next.
    ready: Vec<Hashed<C>>,
    is_over: bool,
    done: D,
}

impl<C, D: FnMut(&mut Vec<Hashed<C>>) -> ControlFlow<()>> Sequence<C, D> {
    pub(crate) fn new(done: D) -> Self {
        let state = SequenceState {
            next: 0,
            later: BTreeMap::new(),
            ready: Vec::new(),
            is_over: false,
            done,
        };
        Self {
            state: Mutex::new(state),
            moved: Condvar::new(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        lock(&self.state).is_over
    }

    pub(crate) fn give(&self, number: u64, context: C, result: Result<Digest, Fault>) {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        state.later.insert(number, (context, result));
        while let Some(hashed) = state.later.remove(&state.next) {
            state.next += 1;
            state.ready.push(hashed);
        }
        if state.ready.is_empty() {
            return;
        }
        if !state.is_over && (state.done)(&mut state.ready).is_break() {
            state.is_over = true;
        }
        state.ready.clear();
        drop(guard);
        self.moved.notify_one();
    }

    /// Waits until the file behind `number` may be begun; `before_waiting` is called first, if it
    /// has to wait. Returns false if there is nothing more to do.
    pub(crate) fn wait_for_room(&self, number: u64, mut before_waiting: impl FnMut()) -> bool {
        let mut state = lock(&self.state);
        if !state.is_over && number >= state.next + WINDOW {
            drop(state);
            before_waiting();
            state = lock(&self.state);
        }
        while !state.is_over && number >= state.next + WINDOW {
            state = self.moved.wait(state).ignore_poison();
        }
        !state.is_over
    }
}
