//! The event loop of a program without a runtime: one thread, and a ring of the `io-uring` crate.
//!
//! Ringwalk's threads wake the loop by an eventfd, which the ring polls beside the loop's requests.
//! So the thread waits in one place, for both:
//!
//! ```text
//!  +-> poll the tasks --> submit, and wait for completions --+
//!  |                         |                   |           |
//!  |                   a STATX is done     the bell rang     |
//!  |                         |                   |           |
//!  +------------- answer its caller       reset the bell <---+
//! ```

use futures::StreamExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use io_uring::{IoUring, opcode, squeue, types};
use rustix::event::{EventfdFlags, eventfd};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// The user data of the poll of the bell. Requests count from 0.
const BELL: u64 = u64::MAX;

/// The eventfd that ends the loop's wait.
struct Bell(OwnedFd);

impl Bell {
    fn reset(&self) {
        rustix::io::read(&self.0, &mut [0; 8]).expect("an eventfd that was polled can be read");
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        rustix::io::write(&self.0, &1_u64.to_ne_bytes()).expect("an eventfd counts to 2^64");
    }
}

/// Starts tasks from any thread.
#[derive(Clone)]
pub struct Spawner {
    bell: Arc<Bell>,
    started: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
}

impl Spawner {
    pub fn start(&self, task: BoxFuture<'static, ()>) {
        self.started.lock().unwrap().push(task);
        Arc::clone(&self.bell).wake();
    }
}

/// A request of the loop. The kernel reads the path and writes to the buffer until it is complete.
struct Request {
    _path: CString,
    buffer: Box<libc::statx>,
    answer: oneshot::Sender<io::Result<Box<libc::statx>>>,
}

/// The ring, and what is in flight on it.
struct Flight {
    ring: IoUring,
    bell_is_polled: bool,
    requests: HashMap<u64, Request>,
    next: u64,
}

impl Flight {
    /// Queues an entry. Submits the queue if it is full.
    ///
    /// # Safety
    ///
    /// What the entry points to stays valid until its completion.
    #[expect(unsafe_code, reason = "the crate's interface to the queue")]
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller promises it.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }
}

pub struct EventLoop {
    flight: RefCell<Flight>,
    spawner: Spawner,
}

impl EventLoop {
    /// Creates the loop. Fails where the system refuses rings.
    pub fn new() -> io::Result<Self> {
        let flight = Flight {
            ring: IoUring::new(8)?,
            bell_is_polled: false,
            requests: HashMap::new(),
            next: 0,
        };
        let spawner = Spawner {
            bell: Arc::new(Bell(eventfd(0, EventfdFlags::CLOEXEC)?)),
            started: Arc::default(),
        };
        Ok(Self {
            flight: RefCell::new(flight),
            spawner,
        })
    }

    pub fn spawner(&self) -> Spawner {
        self.spawner.clone()
    }

    /// Asks for the metadata of a file on the loop's ring: a request that Ringwalk knows nothing
    /// of.
    #[expect(unsafe_code, reason = "the crate's interface to the queue")]
    pub async fn statx(&self, path: &Path) -> io::Result<Box<libc::statx>> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a struct of integers may be all zeros.
        let mut buffer = Box::new(unsafe { std::mem::zeroed::<libc::statx>() });
        let at: *mut libc::statx = &raw mut *buffer;
        let entry = opcode::Statx::new(types::Fd(libc::AT_FDCWD), path.as_ptr(), at.cast());
        let entry = entry
            .mask(libc::STATX_BASIC_STATS)
            .flags(libc::AT_SYMLINK_NOFOLLOW);
        let (answer, answered) = oneshot::channel();
        {
            let mut flight = self.flight.borrow_mut();
            let number = flight.next;
            flight.next += 1;
            // SAFETY: `requests` keeps path and buffer until the completion was taken. `drop` waits
            // for that, too.
            unsafe { flight.push(&entry.build().user_data(number)) }?;
            let request = Request {
                _path: path,
                buffer,
                answer,
            };
            flight.requests.insert(number, request);
        }
        answered.await.expect("the loop answers each request")
    }

    /// Runs a task and those that it starts, until the first one has a result.
    pub fn block_on<T>(&self, task: impl Future<Output = T>) -> T {
        let waker = Waker::from(Arc::clone(&self.spawner.bell));
        let mut cx = Context::from_waker(&waker);
        let mut task = pin!(task);
        let mut started = FuturesUnordered::new();
        loop {
            if let Poll::Ready(result) = task.as_mut().poll(&mut cx) {
                return result;
            }
            started.extend(self.spawner.started.lock().unwrap().drain(..));
            while let Poll::Ready(Some(())) = started.poll_next_unpin(&mut cx) {}
            self.wait().expect("the ring works");
        }
    }

    /// Waits for completions, of the bell or of requests, and handles them.
    #[expect(unsafe_code, reason = "the crate's interface to the queue")]
    fn wait(&self) -> io::Result<()> {
        let bell = &self.spawner.bell;
        let mut flight = self.flight.borrow_mut();
        if !flight.bell_is_polled {
            let fd = types::Fd(bell.0.as_raw_fd());
            let readable = u32::from(libc::POLLIN.unsigned_abs());
            let entry = opcode::PollAdd::new(fd, readable).build().user_data(BELL);
            // SAFETY: the entry points to nothing.
            unsafe { flight.push(&entry) }?;
            flight.bell_is_polled = true;
        }
        while let Err(error) = flight.ring.submit_and_wait(1) {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let Flight {
            ring,
            bell_is_polled,
            requests,
            ..
        } = &mut *flight;
        for completion in ring.completion() {
            if completion.user_data() == BELL {
                *bell_is_polled = false;
                bell.reset();
            } else {
                let request = requests.remove(&completion.user_data());
                let Request { buffer, answer, .. } = request.expect("a request has one completion");
                let errno = -completion.result();
                let result = if errno > 0 {
                    Err(io::Error::from_raw_os_error(errno))
                } else {
                    Ok(buffer)
                };
                // Nobody waits for the answer if the future was dropped.
                let _ = answer.send(result);
            }
        }
        Ok(())
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        while !self.flight.borrow().requests.is_empty() {
            self.wait().expect("the ring works");
        }
    }
}
