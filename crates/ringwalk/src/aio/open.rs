//! Opening a directory.

use super::dir::Dir;
use super::driver::{self, DriverRequest, Fault, OpenTarget, Opened, Pending, answer_slot};
use super::fault::failed;
use super::reading::Reading;
use crate::pull::directory::Directory;
use crate::visit::error::Operation;
use crate::visit::metadata::Fields;
use rustix::io::Errno;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A future that opens a directory, made by [`Dir::open`] or [`Dir::open_at`]. Nothing is done
/// before the first poll. If it is dropped later, the directory is closed as soon as it is open.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Open {
    /// The path of the directory.
    path: Arc<Path>,
    /// The path is not known: `path` is relative to a directory without one, and is for errors
    /// only.
    pathless: bool,
    state: OpenState,
}

#[derive(Debug)]
enum OpenState {
    /// Not asked for yet.
    New(Result<OpenTarget, Errno>),
    Asked {
        opened: Pending<Result<Opened, Fault>>,
        /// The fields of the entries that are read along with opening.
        first: Option<Fields>,
    },
    Done,
}

impl Open {
    /// Creates a future that opens `path` relative to `at`, whose own path is `below`.
    pub(super) fn new(
        at: Option<(Arc<Directory>, Option<&Path>)>,
        path: &Path,
        follow: bool,
    ) -> Self {
        let below = at.as_ref().map(|(_, below)| *below);
        let full = match below.flatten() {
            Some(below) => Arc::from(below.join(path)),
            None => Arc::from(path),
        };
        let place = CString::new(path.as_os_str().as_bytes()).map(|path| OpenTarget {
            at: at.map(|(directory, _)| directory),
            path,
            follow,
            first: None,
            refused: false,
        });
        Self {
            path: full,
            pathless: below == Some(None) && path.is_relative(),
            state: OpenState::New(place.map_err(|_| Errno::INVAL)),
        }
    }

    /// Has the first entries read in the same request, which saves one wake-up: for a directory
    /// that is read at once.
    pub fn read_ahead(self) -> Self {
        self.read_plus(Fields::empty())
    }

    /// Has the first entries read as [`read_ahead`](Self::read_ahead) does, with these fields, as
    /// if [`Dir::read_plus`] had been called.
    pub fn read_plus(mut self, fields: Fields) -> Self {
        if let OpenState::New(Ok(place)) = &mut self.state {
            place.first = Some(fields);
        }
        self
    }

    fn done(&self, opened: Opened, fields: Option<Fields>) -> Dir {
        let Opened { directory, first } = opened;
        let path = (!self.pathless).then(|| Arc::clone(&self.path));
        Dir::new(Reading::new(directory, first.zip(fields)), path)
    }
}

impl Future for Open {
    type Output = io::Result<Dir>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let OpenState::New(place) = &mut self.state {
            let place = std::mem::replace(place, Err(Errno::INVAL));
            self.state = OpenState::Done;
            let place = match place {
                Ok(place) => place,
                Err(errno) => {
                    let path = Some(&*self.path);
                    return Poll::Ready(Err(failed(Operation::Open, path, errno.into())));
                }
            };
            let (answer, opened) = answer_slot();
            let first = place.first;
            driver::submit(DriverRequest::Open { place, answer });
            self.state = OpenState::Asked { opened, first };
        }
        let OpenState::Asked { opened, first } = &mut self.state else {
            panic!("polled after its end");
        };
        let fields = *first;
        let answer = ready!(opened.poll_answer(cx));
        self.state = OpenState::Done;
        Poll::Ready(match answer {
            Ok(opened) => Ok(self.done(opened, fields)),
            Err(fault) => Err(failed(Operation::Open, Some(&self.path), fault)),
        })
    }
}
