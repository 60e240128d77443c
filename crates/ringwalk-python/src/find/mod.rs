//! `find`: the language of find(1), for the paths that an expression is true for.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the iterator of paths |
//! | `allowed.rs` | what of the language makes sense here |
//! | `host.rs` | what the search writes to: this iterator, and nothing of the process |

mod allowed;
mod host;

use crate::given::{Engine, Given, number_or_none, raises};
use crate::names::NameKind;
use crate::waiting::{self, wait};
use host::Library;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};
use ringwalk::sync::{IgnorePoison, lock};
use ringwalk::{Background, Next};
use ringwalk_find::Command;
use ringwalk_find::parse::{Context, Refusal, parse_expression};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The data that the search and its iterator share.
#[derive(Default)]
struct SharedSearch {
    /// True if the iterator needs no more paths.
    closed: AtomicBool,
    /// The errors, as messages of find.
    messages: Mutex<Vec<String>>,
}

impl SharedSearch {
    fn messages(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.messages)
    }
}

/// Paths in one buffer, each of which ends with NUL.
type Piece = Vec<u8>;

/// The states of a search.
enum SearchState {
    Ready(Box<(Command, Engine)>),
    Running {
        search: Background<Piece, ()>,
        paths: VecDeque<Box<[u8]>>,
    },
    Ended,
    Closed,
}

impl SearchState {
    fn end(self) {
        if let Self::Running { search, .. } = self {
            waiting::end(search);
        }
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Found.txt"))]
#[pyclass(frozen, module = "ringwalk", weakref)]
pub(crate) struct Found {
    kind: NameKind,
    raises: bool,
    shared: Arc<SharedSearch>,
    state: Mutex<SearchState>,
    /// The process that made the search: a fork of it has no threads.
    process: u32,
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/find.txt"))]
#[pyfunction]
#[pyo3(signature = (path, *expression, workers=None, source="auto", on_error="raise"))]
pub(crate) fn find(
    path: &Bound<'_, PyAny>,
    expression: &Bound<'_, PyTuple>,
    #[pyo3(from_py_with = number_or_none)] workers: Option<usize>,
    source: &str,
    on_error: &str,
) -> PyResult<Found> {
    let given = Given::new(path)?;
    let raises = raises(on_error)?;
    let engine = Engine::new(source, workers)?;
    let words = expression.iter().map(|word| self::word(&word));
    let words = words.collect::<PyResult<Vec<_>>>()?;
    let context = Context::from_environment();
    let command = parse_expression(&context, words, vec![given.path]).map_err(refused)?;
    let command = allowed::paths_only(command).map_err(PyValueError::new_err)?;
    Ok(Found {
        kind: given.kind,
        raises,
        shared: Arc::default(),
        state: Mutex::new(SearchState::Ready(Box::new((command, engine)))),
        process: std::process::id(),
    })
}

/// A word of an expression.
fn word(word: &Bound<'_, PyAny>) -> PyResult<OsString> {
    if !word.is_instance_of::<PyString>() && !word.is_instance_of::<PyBytes>() {
        let name = word.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "words of an expression are str or bytes, not {name}"
        )));
    }
    Ok(OsString::from_vec(NameKind::of(word)?.encode(word)?))
}

fn refused(refusal: Refusal) -> PyErr {
    PyValueError::new_err(match refusal {
        Refusal::Wrong(messages) => messages.join("; "),
        Refusal::Help(_) | Refusal::Version => "-help and -version are for the program".to_owned(),
    })
}

impl Found {
    fn lock(&self) -> MutexGuard<'_, SearchState> {
        lock(&self.state)
    }

    fn start(&self, command: Command, engine: Engine) -> std::io::Result<Background<Piece, ()>> {
        let shared = Arc::clone(&self.shared);
        Background::start("ringwalk-find", move |sender| {
            let library = Library {
                sender,
                shared: &shared,
                engine,
            };
            // The result is true if there were messages.
            ringwalk_find::search(&command, &library);
        })
    }

    fn take_within(&self, time: Duration) -> Next<PyResult<Box<[u8]>>> {
        let mut state = self.lock();
        if matches!(*state, SearchState::Ready(_))
            && let SearchState::Ready(ready) = std::mem::replace(&mut *state, SearchState::Closed)
        {
            let (command, engine) = *ready;
            match self.start(command, engine) {
                Ok(search) => {
                    let paths = VecDeque::new();
                    *state = SearchState::Running { search, paths };
                }
                Err(error) => return Next::Item(Err(error.into())),
            }
        }
        match &mut *state {
            SearchState::Running { search, paths } => loop {
                if let Some(path) = paths.pop_front() {
                    return Next::Item(Ok(path));
                }
                match search.next_within(time) {
                    Next::Item(piece) => {
                        let pieces = piece.split(|byte| *byte == 0);
                        // Behind the last zero byte there is nothing.
                        paths.extend(pieces.filter(|path| !path.is_empty()).map(Box::from));
                    }
                    Next::End => {
                        *state = SearchState::Ended;
                        return Next::End;
                    }
                    Next::Pending => return Next::Pending,
                }
            },
            SearchState::Closed => {
                let closed = "this search has been closed";
                Next::Item(Err(PyValueError::new_err(closed)))
            }
            SearchState::Ready(_) | SearchState::Ended => Next::End,
        }
    }

    /// Returns a path if one is there, without waiting.
    fn take_now(&self) -> Option<Box<[u8]>> {
        match &mut *self.state.try_lock().ok()? {
            SearchState::Running { paths, .. } => paths.pop_front(),
            SearchState::Ready(_) | SearchState::Ended | SearchState::Closed => None,
        }
    }

    fn check_process(&self) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let process = self.process;
        Err(PyRuntimeError::new_err(format!(
            "this search was made by process {process} before fork(): its threads are not in this process; make another one"
        )))
    }

    fn verdict(&self, py: Python<'_>) -> PyResult<()> {
        let messages = self.shared.messages().clone();
        if !self.raises || messages.is_empty() {
            return Ok(());
        }
        let error = py.import("ringwalk._errors")?.getattr("SearchError")?;
        Err(PyErr::from_value(error.call1((messages,))?))
    }
}

#[pymethods]
impl Found {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.check_process()?;
        let taken = match self.take_now() {
            Some(path) => Some(path),
            None => wait(py, |time| self.take_within(time))?.transpose()?,
        };
        match taken {
            Some(path) => self.kind.object(py, &path).map(Some),
            None => self.verdict(py).map(|()| None),
        }
    }

    /// The errors so far, as messages of find(1).
    #[getter]
    fn errors(&self) -> Vec<String> {
        self.shared.messages().clone()
    }

    /// Ends the search; reading more is an error. Does nothing if the search has ended.
    fn close(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            return;
        }
        self.shared.closed.store(true, Ordering::Relaxed);
        py.detach(|| {
            let mut state = self.lock();
            if !matches!(*state, SearchState::Ended) {
                let search = std::mem::replace(&mut *state, SearchState::Closed);
                drop(state);
                search.end();
            }
        });
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[classmethod]
    #[pyo3(signature = (item, /))]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // `Found[str]` in annotations.
        let types = class.py().import("types")?;
        types.call_method1("GenericAlias", (class, item))
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        let state = self.state.get_mut().ignore_poison();
        let state = std::mem::replace(state, SearchState::Closed);
        if self.process != std::process::id() {
            // The threads to wait for are in the parent.
            std::mem::forget(state);
        } else if matches!(state, SearchState::Running { .. }) {
            self.shared.closed.store(true, Ordering::Relaxed);
            waiting::detached(|| state.end());
        }
    }
}
