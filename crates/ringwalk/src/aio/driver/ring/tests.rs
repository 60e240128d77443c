//! The ring over an emulated kernel with the faults of real ones; and over the real kernel, if that
//! reads directories on rings.

use super::*;
use crate::aio::driver::answer::{Pending, answer_slot};
use crate::aio::driver::pool::PoolJob;
use crate::aio::driver::request::{OpenTarget, Opened, ReadAnswer};
use crate::pull::entry_buffer::EntryBuffer;
use crate::sources::Failed;
use crate::sources::{Behaviour, Emulated};
use crate::visit::metadata::Fields;
use crate::walk::descriptors::{At, open_directory};
use futures_lite::future::block_on;
use ringwalk_sys::{Completion, DirectoryFd, DirectoryOpcodes, Filled, Records, What};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::CWD;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::future::poll_fn;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Does requests that come back: by calls, in the thread of the ring.
fn call(request: DriverRequest) {
    request.run();
}

fn emulated(ring: &Ring, request: DriverRequest, behaviour: Behaviour) {
    let shared = ring.0.as_ref().unwrap();
    let accepted = shared.accept(request, move |shared| {
        shared.live(|_| Some((Emulated::new(behaviour), behaviour.available())));
    });
    if let Some(request) = accepted {
        call(request);
    }
}

fn wait<T>(mut pending: Pending<T>) -> T {
    block_on(poll_fn(|cx| pending.poll(cx))).unwrap()
}

/// The way of a request to a ring.
type Submit<'a> = &'a dyn Fn(DriverRequest);

fn open(submit: Submit<'_>, path: &Path, first: Option<Fields>) -> Opened {
    let (answer, opened) = answer_slot();
    let place = OpenTarget {
        at: None,
        path: CString::new(path.as_os_str().as_bytes()).unwrap(),
        follow: true,
        first,
        refused: false,
    };
    submit(DriverRequest::Open { place, answer });
    wait(opened).unwrap()
}

/// Returns names and sizes of all entries.
fn read_all(
    submit: Submit<'_>,
    path: &Path,
    fields: Fields,
    along: bool,
) -> BTreeMap<Vec<u8>, Option<u64>> {
    let opened = open(submit, path, along.then_some(fields));
    let (directory, mut first) = (opened.directory, opened.first);
    assert_eq!(first.is_some(), along);
    let mut found = BTreeMap::new();
    loop {
        let piece = first.take().unwrap_or_else(|| {
            let (answer, piece) = answer_slot();
            submit(DriverRequest::Read {
                directory: Arc::clone(&directory),
                rewind: false,
                refused: false,
                fields,
                entries: EntryBuffer::new(),
                answer,
            });
            wait(piece)
        });
        for entry in piece.entries.iter() {
            let size = entry.metadata().map(|metadata| metadata.size);
            assert_eq!(found.insert(entry.name().to_vec(), size), None);
        }
        if piece.end.unwrap() {
            return found;
        }
    }
}

/// Returns the same by calls.
fn expected(path: &Path, fields: Fields) -> BTreeMap<Vec<u8>, Option<u64>> {
    read_all(&|request| call(request), path, fields, false)
}

fn tree(entries: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..entries {
        std::fs::write(
            dir.path().join(format!("{number:0>30}")),
            vec![b'x'; number % 9],
        )
        .unwrap();
    }
    std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
    dir
}

fn behaviours() -> Vec<Behaviour> {
    let plain = Behaviour::default();
    vec![
        plain,
        Behaviour {
            interrupted: Some(3),
            ..plain
        },
        Behaviour {
            entries: Some(7),
            end_untold: true,
            ..plain
        },
        Behaviour {
            refuses: Some((2, Errno::NOTTY)),
            ..plain
        },
        Behaviour {
            refuses: Some((1, Errno::OPNOTSUPP)),
            ..plain
        },
        Behaviour {
            no_birth_times: true,
            no_mount_ids: true,
            ..plain
        },
        Behaviour {
            entry_error: Some(Errno::INTR),
            ..plain
        },
        Behaviour {
            descriptors: Some(0),
            ..plain
        },
    ]
}

#[test]
fn whatever_the_kernel_does_the_answer_is_that_of_calls() {
    for entries in [0, 5, 3000] {
        let tree = tree(entries);
        for fields in [Fields::empty(), Fields::SIZE, Fields::all()] {
            let expected = expected(tree.path(), fields);
            assert_eq!(expected.len(), entries + 1);
            assert!(
                expected
                    .values()
                    .all(|size| size.is_some() != fields.is_empty())
            );
            for behaviour in behaviours() {
                for along in [false, true] {
                    let ring = Ring::new(call);
                    let submit = |request| emulated(&ring, request, behaviour);
                    let found = read_all(&submit, tree.path(), fields, along);
                    assert_eq!(found, expected, "{behaviour:?} {fields:?} {along}");
                }
            }
        }
    }
}

#[test]
fn many_are_in_flight_and_some_are_given_up() {
    let tree = tree(100);
    let expected = expected(tree.path(), Fields::SIZE);
    let ring = Ring::new(call);
    for behaviour in behaviours() {
        let submit = |request: DriverRequest| emulated(&ring, request, behaviour);
        thread::scope(|scope| {
            for thread in 0..4 {
                let (tree, expected) = (&tree, &expected);
                let submit = &submit;
                scope.spawn(move || {
                    for round in 0..20 {
                        if (round + thread) % 3 == 0 {
                            let (answer, opened) = answer_slot();
                            let place = OpenTarget {
                                at: None,
                                path: CString::new(tree.path().as_os_str().as_bytes()).unwrap(),
                                follow: true,
                                first: Some(Fields::SIZE),
                                refused: false,
                            };
                            submit(DriverRequest::Open { place, answer });
                            drop(opened);
                        }
                        let found = read_all(submit, tree.path(), Fields::SIZE, round % 2 == 0);
                        assert_eq!(&found, expected);
                    }
                });
            }
        });
    }
}

/// Directories that were opened and not read are read by calls. A read under way fails with an
/// error.
#[test]
fn a_ring_that_is_taken_away_loses_nothing_silently() {
    let tree = tree(2000);
    for after in 0..12 {
        for at_once in [false, true] {
            let ring = Ring::new(call);
            let behaviour = Behaviour {
                ring_lost_after: Some(after),
                at_once,
                ..Behaviour::default()
            };
            let submit = |request| emulated(&ring, request, behaviour);
            let opened = open(&submit, tree.path(), None);
            let mut count = 0;
            let result = loop {
                let (answer, piece) = answer_slot();
                let directory = Arc::clone(&opened.directory);
                submit(DriverRequest::Read {
                    directory,
                    rewind: false,
                    refused: false,
                    fields: Fields::empty(),
                    entries: EntryBuffer::new(),
                    answer,
                });
                let ReadAnswer { entries, end } = wait(piece);
                count += entries.len();
                match end {
                    Ok(false) => {}
                    end => break end,
                }
            };
            match result {
                Ok(_) => assert_eq!(count, 2001),
                Err(fault) => assert_eq!(fault, super::super::Fault::Kernel(Errno::IO)),
            }
            let shared = ring.0.as_ref().unwrap();
            let given_up = shared.given_up.load(Ordering::Relaxed);
            assert!(given_up || after > 1, "{after}");
        }
    }
}

/// A real ring, of a kernel that opens directories on it and refuses to read them. Threads wake it
/// while it sleeps in the kernel.
#[test]
fn a_kernel_that_only_opens_costs_nothing_but_time() {
    let tree = tree(50);
    let expected = expected(tree.path(), Fields::SIZE);
    let ring = Ring::new(call);
    let nothing = DirectoryOpcodes {
        getdents: 255,
        readdirplus: None,
    };
    let submit = |request: DriverRequest| {
        let accepted = ring.0.as_ref().unwrap().accept(request, move |shared| {
            let reader = DirectoryReader::Opcodes(nothing);
            shared.live(|_| Some((KernelTransport::new(reader), u32::MAX)));
        });
        if let Some(request) = accepted {
            call(request);
        }
    };
    thread::scope(|scope| {
        for thread in 0..4 {
            let (tree, expected, submit) = (&tree, &expected, &submit);
            scope.spawn(move || {
                for round in 0..50 {
                    let along = (round + thread) % 2 == 0;
                    let found = read_all(submit, tree.path(), Fields::SIZE, along);
                    assert_eq!(&found, expected);
                }
            });
        }
    });
}

/// A kernel that finishes a request only when it is given the next.
#[derive(Default)]
struct Late(Vec<(u32, CString)>);

impl DirectoryTransport for Late {
    fn set_up(&mut self, _: u32) -> bool {
        true
    }

    fn read(&mut self, _: &Arc<DirectoryFd>, _: &What, _: &mut Records) -> Result<Filled, Failed> {
        unreachable!("nothing is called")
    }

    fn start_open(&mut self, slot: u32, _: &At, name: &CStr, _: bool) {
        self.0.push((slot, name.to_owned()));
    }

    fn start_read(&mut self, _: u32, _: Arc<DirectoryFd>, _: Vec<u8>, _: usize, _: &What) {
        unreachable!("nothing is read")
    }

    fn close(&mut self, _: DirectoryFd) {}

    fn flush(&mut self) {}

    fn wait(&mut self) -> Result<Completion, Errno> {
        unreachable!("it is waited for the eventfd too")
    }

    fn wait_or(&mut self, wake: &Arc<OwnedFd>) -> Result<Option<Completion>, Errno> {
        if self.0.len() > 1 {
            let (slot, name) = self.0.remove(0);
            let opened = open_directory(CWD, &*name, true);
            let result = opened.map(|fd| Arc::into_inner(fd).unwrap());
            return Ok(Some(Completion::Opened { slot, result }));
        }
        let mut polled = [PollFd::new(wake, PollFlags::IN)];
        let time = Timespec {
            tv_sec: 10,
            tv_nsec: 0,
        };
        match poll(&mut polled, Some(&time))? {
            0 => Err(Errno::TIMEDOUT),
            _ => Ok(None),
        }
    }
}

#[test]
fn a_thread_that_sleeps_in_the_kernel_is_woken_for_each_request() {
    let ring = Ring::new(call);
    let shared = ring.0.as_ref().unwrap();
    let mut last = None;
    for _ in 0..20 {
        let (answer, opened) = answer_slot();
        let place = OpenTarget {
            at: None,
            path: c"/".into(),
            follow: true,
            first: None,
            refused: false,
        };
        let live = |shared: &SharedRing| shared.live(|_| Some((Late::default(), 0)));
        let taken = shared.accept(DriverRequest::Open { place, answer }, live);
        assert!(taken.is_none(), "there is room");
        if let Some(before) = last.replace(opened) {
            assert!(wait(before).is_ok());
        }
        while shared.lock().signal != Signal::Eventfd {
            thread::yield_now();
        }
    }
    assert!(!shared.given_up.load(Ordering::Relaxed));
}

#[test]
fn refusals_of_what_calls_can_do_end_it() {
    let ring = Ring::new(call);
    let shared = ring.0.as_ref().unwrap();
    for strike in 1..=STRIKES {
        assert!(!shared.given_up.load(Ordering::Relaxed), "{strike}");
        ring.refused_wrongly();
    }
    let (answer, _opened) = answer_slot();
    let place = OpenTarget {
        at: None,
        path: c"/".into(),
        follow: true,
        first: None,
        refused: false,
    };
    assert!(ring.submit(DriverRequest::Open { place, answer }).is_some());
}

/// Runs where the kernel reads directories on rings: in a guest with the module or the operations.
#[test]
fn the_kernel_itself_gives_the_answer_of_calls() {
    let wanted = std::env::var("RINGWALK_TEST_SOURCE").unwrap_or_default();
    let ring = Ring::new(call);
    let offered = ring.0.as_ref().unwrap().kernel().is_some();
    assert!(
        offered || !matches!(&*wanted, "module" | "ring"),
        "{wanted}"
    );
    for entries in [0, 5, 3000] {
        let tree = tree(entries);
        for fields in [Fields::empty(), Fields::SIZE, Fields::all()] {
            let expected = expected(tree.path(), fields);
            for along in [false, true] {
                let submit = |request| {
                    if let Some(request) = ring.submit(request) {
                        call(request);
                    }
                };
                let found = read_all(&submit, tree.path(), fields, along);
                assert_eq!(found, expected, "{fields:?} {along}");
            }
        }
    }
    let given_up = ring.0.as_ref().unwrap().given_up.load(Ordering::Relaxed);
    assert_eq!(given_up, !offered);
}

#[test]
fn a_wake_up_that_is_told_of_can_be_read() {
    let ring = Ring::new(call);
    let shared = ring.0.as_ref().unwrap();
    shared.lock().running = true;
    for _ in 0..2000 {
        shared.lock().signal = Signal::Eventfd;
        let submitter = Arc::clone(shared);
        let submitting = thread::spawn(move || {
            let (answer, _) = answer_slot();
            let place = OpenTarget {
                at: None,
                path: c".".into(),
                follow: true,
                first: None,
                refused: false,
            };
            let request = DriverRequest::Open { place, answer };
            submitter
                .accept(request, |_| unreachable!("it runs"))
                .is_none()
        });
        while shared.lock().signal == Signal::Eventfd {
            std::hint::spin_loop();
        }
        assert_eq!(read(&shared.wake, &mut [0; 8]), Ok(8));
        assert!(submitting.join().unwrap());
        let mut state = shared.lock();
        state.queue.clear();
        state.accepted = 0;
    }
}
