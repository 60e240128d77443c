//! `ringwalk.walk`: what `os.walk` gives, from [`OrderedWalk`], which reads ahead.
//!
//! Threads read directories while Python holds the GIL; only [`Walk::__next__`] makes Python
//! objects. The generator around this iterator is in `python/ringwalk/_walk.py`.

mod edit;

use crate::errors::os_error;
use crate::names::NameKind;
use crate::waiting::{self, SLICE};
use edit::Edited;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use ringwalk::{Listing, OrderedWalk, Turn};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The iterator of a walk. `ringwalk.walk` makes one.
#[pyclass(module = "ringwalk._ringwalk", frozen)]
pub(crate) struct Walk(std::sync::Mutex<Option<Walking>>);

/// A walk that has not ended.
struct Walking {
    preorder: OrderedWalk,
    /// As it was given.
    top: Py<PyAny>,
    kind: NameKind,
    /// True if the iterator also returns errors.
    tells: bool,
    order: Order,
}

enum Order {
    /// The last directory, whose list of subdirectories the caller may edit.
    TopDown(Option<edit::GivenDirectory>),
    /// Directories that come after everything below them, with their depths.
    BottomUp(Vec<(usize, Py<PyTuple>)>),
}

#[pymethods]
impl Walk {
    #[new]
    fn new(
        py: Python<'_>,
        top: Py<PyAny>,
        topdown: bool,
        tells: bool,
        followlinks: bool,
    ) -> PyResult<Self> {
        let kind = NameKind::of(top.bind(py))?;
        let path = kind.encode(top.bind(py))?;
        let preorder = OrderedWalk::new(OsStr::from_bytes(&path)).follow_links(followlinks);
        let order = if topdown {
            Order::TopDown(None)
        } else {
            Order::BottomUp(Vec::new())
        };
        Ok(Self(std::sync::Mutex::new(Some(Walking {
            preorder,
            top,
            kind,
            tells,
            order,
        }))))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Returns the tuple of the next directory, or a task for the generator, since code in Python
    /// does not run below frames of Rust. A task is to pass an exception to `onerror`, or to
    /// convert a list of objects to names and call `rename` with these.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Ok(mut guard) = self.0.try_lock() else {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "walk already executing",
            ));
        };
        let Some(walking) = guard.as_mut() else {
            return Ok(None);
        };
        let next = walking.next(py);
        if !matches!(next, Ok(Some(_))) {
            // As with any generator, nothing follows an exception.
            let ended = guard.take();
            drop(guard);
            end(py, ended);
        }
        next
    }

    /// Uses these names as the last list of subdirectories.
    fn rename(&self, names: Py<PyList>) {
        if let Ok(mut guard) = self.0.try_lock()
            && let Some(walking) = guard.as_mut()
            && let Order::TopDown(Some(given)) = &mut walking.order
        {
            given.replace(names);
        }
    }

    /// Ends the walk and its threads.
    fn close(&self, py: Python<'_>) {
        let ended = self.0.try_lock().map(|mut guard| guard.take());
        end(py, ended.unwrap_or_default());
    }

    /// A walk that only its own lists refer to is garbage.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A locked walk is in use.
        let Ok(guard) = self.0.try_lock() else {
            return Ok(());
        };
        let Some(walking) = guard.as_ref() else {
            return Ok(());
        };
        visit.call(&walking.top)?;
        match &walking.order {
            Order::TopDown(given) => given
                .as_ref()
                .map_or(Ok(()), |given| given.traverse(&visit)),
            Order::BottomUp(held) => held.iter().try_for_each(|(_, tuple)| visit.call(tuple)),
        }
    }
}

/// Waits a moment, without the interpreter's lock, for the threads of a walk, which may be reading
/// a slow directory.
fn end(py: Python<'_>, walking: Option<Walking>) {
    if let Some(Walking { preorder, .. }) = walking {
        py.detach(|| preorder.end_within(SLICE));
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        let walking = self.0.get_mut().map(Option::take);
        if let Ok(Some(Walking { preorder, .. })) = walking {
            waiting::detached(|| preorder.end_within(SLICE));
        }
    }
}

impl Walking {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            match &mut self.order {
                Order::TopDown(given) => {
                    let edited = match given {
                        Some(given) => given.edited(py, &self.kind)?,
                        None => Edited::Unchanged,
                    };
                    match edited {
                        Edited::Unchanged => {}
                        Edited::Chosen(chosen) => self.preorder.choose(chosen),
                        // The generator asks again after `rename`.
                        Edited::Odd(list) => return Ok(Some(list.into_any())),
                    }
                    *given = None;
                }
                Order::BottomUp(held) => {
                    let next = self.preorder.next_depth();
                    if let Some((depth, _)) = held.last()
                        && next.is_none_or(|next| next <= *depth)
                    {
                        return Ok(held.pop().map(|(_, tuple)| tuple.into_any()));
                    }
                }
            }
            if self.preorder.next_depth().is_none() {
                return Ok(None);
            }
            let preorder = &mut self.preorder;
            let mut raised = None;
            let advanced =
                py.detach(|| preorder.advance_while(&mut || waiting::goes_on(&mut raised)));
            if let Some(raised) = raised {
                return Err(raised);
            }
            match advanced {
                Ok(true) => {}
                Err(error) if self.tells => {
                    let path = self.kind.object(py, error.path().as_os_str().as_bytes())?;
                    let exception = os_error(error.errno(), &path).into_value(py);
                    return Ok(Some(exception.into_any()));
                }
                // Python, which notices signals otherwise, may not run for a long time.
                Ok(false) | Err(_) => {
                    py.check_signals()?;
                    continue;
                }
            }
            let Some(turn) = self.preorder.turn() else {
                continue;
            };
            let given = give(py, turn, &self.kind, &self.top)?;
            match &mut self.order {
                Order::TopDown(last) => {
                    *last = Some(edit::GivenDirectory::new(
                        given.directories,
                        given.path,
                        turn,
                    ));
                    return Ok(Some(given.tuple.into_any()));
                }
                Order::BottomUp(held) => held.push((turn.listing().depth(), given.tuple)),
            }
        }
    }
}

/// Returns the objects of one directory.
struct Objects<'py> {
    tuple: Py<PyTuple>,
    path: Bound<'py, PyAny>,
    directories: Bound<'py, PyList>,
}

fn give<'py>(
    py: Python<'py>,
    turn: &Turn,
    kind: &NameKind,
    top: &Py<PyAny>,
) -> PyResult<Objects<'py>> {
    let listing = turn.listing();
    let path = if listing.depth() == 0 {
        top.bind(py).clone()
    } else {
        kind.object(py, listing.path())?
    };
    let directories = names(py, turn, kind, true)?;
    let others = names(py, turn, kind, false)?;
    let tuple = PyTuple::new(py, [path.as_any(), directories.as_any(), others.as_any()])?;
    Ok(Objects {
        tuple: tuple.unbind(),
        path,
        directories,
    })
}

/// Returns the list of all directories, or of all other entries, in the order of the listing.
fn names<'py>(
    py: Python<'py>,
    turn: &Turn,
    kind: &NameKind,
    directories: bool,
) -> PyResult<Bound<'py, PyList>> {
    let listing = turn.listing();
    let count = if directories {
        turn.directories()
    } else {
        listing.len() - turn.directories()
    };
    if count == 0 {
        return Ok(PyList::empty(py));
    }
    let mut failed = None;
    let matching = (0..listing.len()).filter(|&index| turn.is_directory(index) == directories);
    let objects = matching.map(|index| {
        name(py, listing, index, kind).unwrap_or_else(|error| {
            failed = Some(error);
            py.None().into_bound(py)
        })
    });
    let list = PyList::new(
        py,
        WithLength {
            objects,
            left: count,
        },
    )?;
    failed.map_or(Ok(list), Err)
}

#[inline]
fn name<'py>(
    py: Python<'py>,
    listing: &Listing,
    index: usize,
    kind: &NameKind,
) -> PyResult<Bound<'py, PyAny>> {
    match listing.text(index) {
        Some(text) if kind.is_utf8_text() => Ok(PyString::new(py, text).into_any()),
        _ => kind.object(py, listing.name(index)),
    }
}

/// An iterator of known length, so that Python makes the list at its final size.
struct WithLength<I> {
    objects: I,
    left: usize,
}

impl<I: Iterator> Iterator for WithLength<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let next = self.objects.next()?;
        self.left -= 1;
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for WithLength<I> {}
