//! The ring over an emulated kernel that does what kernels do wrong; and over the real one where there is one that reads directories.

use super::*;
use crate::aio::driver::pool::Job;
use crate::aio::driver::request::{Opened, Piece, Place};
use crate::aio::driver::slot::{Pending, slot};
use crate::entry_buffer::EntryBuffer;
use crate::metadata::Fields;
use crate::source::{Behaviour, Emulated};
use futures_lite::future::block_on;
use ringwalk_sys::DirectoryOpcodes;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::future::poll_fn;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Done where it comes back: by calls, in the thread of the ring.
fn call(request: Request) {
    request.run();
}

fn emulated(ring: &Ring, request: Request, behaviour: Behaviour) {
    let shared = ring.0.as_ref().unwrap();
    let accepted = shared.accept(request, move |shared| {
        shared.live(|_| Some((Emulated::new(behaviour), behaviour.available())));
    });
    if let Err(request) = accepted {
        call(request);
    }
}

fn wait<T>(mut pending: Pending<T>) -> T {
    block_on(poll_fn(|cx| pending.poll(cx))).unwrap()
}

/// How a request gets to a ring.
type Submit<'a> = &'a dyn Fn(Request);

fn open(submit: Submit<'_>, path: &Path, first: Option<Fields>) -> Opened {
    let (answer, opened) = slot();
    let place = Place {
        at: None,
        path: CString::new(path.as_os_str().as_bytes()).unwrap(),
        follow: true,
        first,
        refused: false,
    };
    submit(Request::Open { place, answer });
    wait(opened).unwrap()
}

/// Names and sizes of all entries.
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
            let (answer, piece) = slot();
            submit(Request::Read {
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

/// The same by calls.
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
        let submit = |request: Request| emulated(&ring, request, behaviour);
        thread::scope(|scope| {
            for thread in 0..4 {
                let (tree, expected) = (&tree, &expected);
                let submit = &submit;
                scope.spawn(move || {
                    for round in 0..20 {
                        if (round + thread) % 3 == 0 {
                            let (answer, opened) = slot();
                            let place = Place {
                                at: None,
                                path: CString::new(tree.path().as_os_str().as_bytes()).unwrap(),
                                follow: true,
                                first: Some(Fields::SIZE),
                                refused: false,
                            };
                            submit(Request::Open { place, answer });
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

/// What was opened and not read is read by calls; what was being read fails, and says so.
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
                let (answer, piece) = slot();
                let directory = Arc::clone(&opened.directory);
                submit(Request::Read {
                    directory,
                    rewind: false,
                    refused: false,
                    fields: Fields::empty(),
                    entries: EntryBuffer::new(),
                    answer,
                });
                let Piece { entries, end } = wait(piece);
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

/// A real ring, of a kernel that opens directories on it and refuses to read them; threads that wake it while it sleeps in the kernel.
#[test]
fn a_kernel_that_only_opens_costs_nothing_but_time() {
    let tree = tree(50);
    let expected = expected(tree.path(), Fields::SIZE);
    let ring = Ring::new(call);
    let nothing = DirectoryOpcodes {
        getdents: 253,
        readdirplus: 254,
        readahead: 255,
    };
    let submit = |request: Request| {
        let accepted = ring.0.as_ref().unwrap().accept(request, move |shared| {
            let reader = DirectoryReader::Opcodes(nothing);
            shared.live(|_| Some((KernelTransport::new(reader), u32::MAX)));
        });
        if let Err(request) = accepted {
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

#[test]
fn refusals_of_what_calls_can_do_end_it() {
    let ring = Ring::new(call);
    let shared = ring.0.as_ref().unwrap();
    for strike in 1..=STRIKES {
        assert!(!shared.given_up.load(Ordering::Relaxed), "{strike}");
        ring.refused_wrongly();
    }
    let (answer, _opened) = slot();
    let place = Place {
        at: None,
        path: c"/".into(),
        follow: true,
        first: None,
        refused: false,
    };
    assert!(ring.submit(Request::Open { place, answer }).is_err());
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
                    if let Err(request) = ring.submit(request) {
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
