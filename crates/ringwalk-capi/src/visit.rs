//! The walk with a callback: a visitor that calls C.

use crate::abi::{
    RINGWALK_CONTINUE, RINGWALK_LEAVE, RINGWALK_PRUNE, RINGWALK_STOP, RingwalkBatch, RingwalkEntry,
    RingwalkVisit,
};
use crate::cancel::Ticket;
use crate::current::{self, Current};
use crate::held::{Failure, c_string, entries_view};
use crate::summary::Ended;
use ringwalk::{Batch, Dir, EntryRef, Error, Flow, Left, Visitor, Walk};
use rustix::process::getpid;
use rustix::thread::gettid;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::thread::Thread;

type Function =
    unsafe extern "C" fn(*const RingwalkBatch, *mut RingwalkVisit, *mut c_void) -> c_int;

/// A callback of C, and its result.
#[derive(Debug)]
pub(crate) struct Callback<'a> {
    function: Function,
    data: *mut c_void,
    leaves: bool,
    ticket: &'a Ticket,
    stopped: AtomicBool,
    /// The first answer that is an error, or 0.
    answer: AtomicI32,
}

// SAFETY: `data` is only passed on. The caller of `ringwalk_run` promises that the callback may get
// it on any thread, and on several at a time, unless the walk has one worker, which is the calling
// thread.
#[allow(unsafe_code, reason = "C says that its pointer may be shared")]
unsafe impl Sync for Callback<'_> {}

impl<'a> Callback<'a> {
    pub(crate) fn new(
        function: Function,
        data: *mut c_void,
        leaves: bool,
        ticket: &'a Ticket,
    ) -> Self {
        Self {
            function,
            data,
            leaves,
            ticket,
            stopped: AtomicBool::new(false),
            answer: AtomicI32::new(0),
        }
    }

    fn is_over(&self) -> bool {
        self.stopped.load(Relaxed) || self.ticket.is_cancelled()
    }

    /// Calls C, unless the walk has ended.
    fn call(&self, batch: &RingwalkBatch, of: &Current<'_>) -> Flow {
        if self.is_over() {
            return Flow::Stop;
        }
        // SAFETY: `function` is of that type and may be called with `data` on this thread (the
        // promise of `ringwalk_run`'s caller). The batch, and all that it points to, lives until
        // after the call.
        #[allow(unsafe_code, reason = "calls C")]
        let answer = current::with(of, |visit| unsafe {
            (self.function)(batch, visit, self.data)
        });
        match answer {
            RINGWALK_CONTINUE => Flow::Continue,
            RINGWALK_PRUNE => Flow::Prune,
            _ => {
                let error = match answer {
                    RINGWALK_STOP => 0,
                    error if error < 0 => error,
                    _ => -libc::EINVAL,
                };
                let _ = self.answer.compare_exchange(0, error, Relaxed, Relaxed);
                self.stopped.store(true, Relaxed);
                Flow::Stop
            }
        }
    }
}

/// Keeps what the standard library stores of the main thread when that runs a walk.
///
/// It frees that at the end of a thread, but not at the end of the process, and has only a pointer
/// into the middle of it. Tools that look for lost memory would report it.
fn keep_main_thread() {
    static MAIN: OnceLock<Thread> = OnceLock::new();
    if gettid() == getpid() {
        MAIN.get_or_init(std::thread::current);
    }
}

/// Runs a walk with a callback. Returns how it has ended, and 0 or the negative number that ended
/// it: any answer of the callback, or -errno.
pub(crate) fn run(walk: Walk, callback: &Callback<'_>) -> (Ended, c_int) {
    keep_main_thread();
    let outcome = walk.run(|worker| Calling {
        callback,
        worker,
        path: Vec::new(),
        views: Vec::new(),
    });
    let mut summary = outcome.summary;
    summary.stopped |= callback.is_over();
    let result = match callback.answer.load(Relaxed) {
        0 if callback.ticket.is_cancelled() => -libc::ECANCELED,
        answer => answer,
    };
    let leftovers = (!summary.stopped).then_some(&outcome.leftovers[..]);
    (Ended::new(summary, leftovers), result)
}

/// The visitor of one worker.
struct Calling<'a> {
    callback: &'a Callback<'a>,
    worker: usize,
    /// A buffer for the path of a directory, with its NUL.
    path: Vec<u8>,
    /// The entries that C sees. The list is emptied after each call, so that no dangling pointer
    /// remains.
    views: Vec<RingwalkEntry>,
}

impl Visitor for Calling<'_> {
    type State = ();

    fn enter(&mut self, _: &Dir<()>) -> Flow {
        if self.callback.is_over() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        let directory = batch.dir().map(|dir| {
            dir.path_into(&mut self.path);
            c_string(&self.path)
        });
        let root = batch.entries().next().map_or(0, |first| first.root_index());
        let root = batch.dir().map_or(root, Dir::root_index);
        let entries = batch.entries().map(EntryRef::from);
        self.views.extend(entries.map(RingwalkEntry::from));
        let view = entries_view(directory.as_deref(), batch.depth(), root, &self.views);
        let flow = self
            .callback
            .call(&view, &Current::new(self.worker, Some(batch)));
        self.views.clear();
        flow
    }

    fn leave(&mut self, left: &Left<'_, ()>) {
        if !self.callback.leaves {
            return;
        }
        left.path_into(&mut self.path);
        let path = c_string(&self.path);
        let view = RingwalkBatch {
            kind: RINGWALK_LEAVE,
            ..entries_view(Some(&path), left.depth(), left.root_index(), &[])
        };
        self.callback.call(&view, &Current::new(self.worker, None));
    }

    fn error(&mut self, error: &Error) {
        let failure = Failure::from(error);
        self.callback
            .call(&failure.view(), &Current::new(self.worker, None));
    }
}
