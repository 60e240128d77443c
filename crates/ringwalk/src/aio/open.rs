//! Opening a directory.

use super::dir::Dir;
use super::driver::{self, Fault, Opened, Pending, Place, Request, slot};
use super::fault::failed;
use super::reading::Reading;
use crate::directory::Directory;
use crate::error::Operation;
use crate::metadata::Fields;
use rustix::io::Errno;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The opening of a directory, by [`Dir::open`] or [`Dir::open_at`]. Nothing is done before it is first polled. Dropped later, the
/// directory is closed again as soon as it is open.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Open {
    /// Of the directory, as far as it is known.
    path: Option<Arc<Path>>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Not asked yet.
    New(Result<Place, Errno>),
    Asked {
        opened: Pending<Result<Opened, Fault>>,
        /// Fields of what is read along with it.
        first: Option<Fields>,
    },
    Done,
}

impl Open {
    /// `path` relative to `at`, whose own path is `below`.
    pub(super) fn new(
        at: Option<(Arc<Directory>, Option<&Path>)>,
        path: &Path,
        follow: bool,
    ) -> Self {
        let full = match &at {
            None => Some(Arc::from(path)),
            Some((_, Some(below))) => Some(Arc::from(below.join(path))),
            // Better than nothing in an error.
            Some((_, None)) => Some(Arc::from(path)),
        };
        let place = CString::new(path.as_os_str().as_bytes()).map(|path| Place {
            at: at.map(|(directory, _)| directory),
            path,
            follow,
            first: None,
            refused: false,
        });
        Self {
            path: full,
            state: State::New(place.map_err(|_| Errno::INVAL)),
        }
    }

    /// Has the first entries read in the same request, which takes one wake-up less: for a directory that is to be read at once.
    pub fn read_ahead(self) -> Self {
        self.read_plus(Fields::empty())
    }

    /// As [`read_ahead`](Self::read_ahead), and as if [`Dir::read_plus`] were called with these fields.
    pub fn read_plus(mut self, fields: Fields) -> Self {
        if let State::New(Ok(place)) = &mut self.state {
            place.first = Some(fields);
        }
        self
    }

    fn done(&mut self, opened: Opened, fields: Option<Fields>) -> Dir {
        let Opened { directory, first } = opened;
        Dir::new(Reading::new(directory, first.zip(fields)), self.path.take())
    }
}

impl Future for Open {
    type Output = io::Result<Dir>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::New(place) = &mut self.state {
            let place = std::mem::replace(place, Err(Errno::INVAL));
            self.state = State::Done;
            let place = match place {
                Ok(place) => place,
                Err(errno) => {
                    let path = self.path.as_deref();
                    return Poll::Ready(Err(failed(Operation::Open, path, errno.into())));
                }
            };
            let (answer, opened) = slot();
            let first = place.first;
            driver::submit(Request::Open { place, answer });
            self.state = State::Asked { opened, first };
        }
        let State::Asked { opened, first } = &mut self.state else {
            panic!("polled after its end");
        };
        let fields = *first;
        let answer = ready!(opened.poll(cx));
        self.state = State::Done;
        Poll::Ready(match answer.map_err(Fault::from).flatten() {
            Ok(opened) => Ok(self.done(opened, fields)),
            Err(fault) => Err(failed(Operation::Open, self.path.as_deref(), fault)),
        })
    }
}
