//! Both ways to read, compared with the bytes that were written.

mod block_support;

use block_support::{
    Found, SIZE, all, both, expected, note, open_direct, request, rings, stream, written,
};
use proptest::prelude::*;
use ringwalk::block::{BlockReader, ReaderOptions, Request, Transport};
use rustix::fs::{major, minor};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow::{Break, Continue};
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

fn requests() -> impl Strategy<Value = Vec<Request>> {
    // Requests close together, so that they merge; some beyond the end, some empty, some too long.
    let place = prop_oneof![
        0_u64..20_000,
        0..u64::from(SIZE) + 50_000,
        (SIZE - 9000).into()..u64::from(SIZE) + 10
    ];
    let len = prop_oneof![Just(0_u32), 1_u32..100, 1_u32..9000, Just(4096)];
    prop::collection::vec((place, len), 0..80).prop_map(|places| {
        (0..)
            .zip(places)
            .map(|(tag, (offset, len))| request(offset, len, tag))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_request_gets_its_bytes(
        requests in requests(),
        depth in prop_oneof![Just(1_u32), 2_u32..8, Just(64)],
        buffer_size in prop_oneof![Just(4096_u32), 4000_u32..20_000, Just(128 << 10)],
        gap in prop_oneof![Just(0_u32), 1_u32..5000],
    ) {
        let (file, bytes) = written();
        let file = Arc::new(file.reopen().unwrap());
        let expected: BTreeMap<u64, Found> = requests
            .iter()
            .map(|request| (request.tag, expected(&bytes, *request, buffer_size)))
            .collect();
        for options in both(&ReaderOptions { depth, buffer_size, gap, ..ReaderOptions::default() }) {
            let mut reader = BlockReader::new(Arc::clone(&file), &options).unwrap();
            prop_assert!(all(&mut reader, &requests) == expected, "{options:?}");
            // The same reader again, with its used buffers.
            prop_assert!(stream(&mut reader, &requests) == expected, "{options:?}");
        }
    }
}

/// Returns a request for every block, in an order that jumps.
fn blocks(len: u32) -> Vec<Request> {
    let count = u64::from(SIZE).div_ceil(u64::from(len));
    (0..count)
        .map(|number| request(number * 7 % count * u64::from(len), len, number))
        .collect()
}

fn check(file: &Arc<File>, bytes: &[u8], options: &ReaderOptions) -> String {
    let mut reader = BlockReader::new(Arc::clone(file), options).unwrap();
    let requests = blocks(4096);
    for found in [all(&mut reader, &requests), stream(&mut reader, &requests)] {
        assert_eq!(found.len(), requests.len());
        for request in &requests {
            let expected = expected(bytes, *request, options.buffer_size);
            assert!(found[&request.tag] == expected, "{request:?}, {options:?}");
        }
    }
    reader.means()
}

#[test]
fn a_ring_is_used_where_there_is_one() {
    let (file, bytes) = written();
    let file = Arc::new(file.reopen().unwrap());
    let [ring, threads] = both(&ReaderOptions::default());
    assert_eq!(check(&file, &bytes, &threads), "pread on threads");
    if rings() {
        let means = check(&file, &bytes, &ring);
        assert!(means.starts_with("io_uring, "), "{means}");
    }
}

#[test]
fn direct_reads_end_where_the_file_ends() {
    let (file, bytes) = written();
    let Some(file) = open_direct(file.path()) else {
        return println!("skipped: no O_DIRECT here");
    };
    for buffer_size in [4096, 8192, 1 << 20] {
        for options in both(&ReaderOptions {
            buffer_size,
            ..ReaderOptions::default()
        }) {
            check(&file, &bytes, &options);
        }
    }
}

/// On a disk with poll queues the reads are polled, elsewhere polling is refused.
#[test]
fn polling_is_refused_where_the_device_has_none() {
    let (file, bytes) = written();
    let path = file.path();
    let buffered = Arc::new(File::open(path).unwrap());
    let options = ReaderOptions {
        iopoll: true,
        ..ReaderOptions::default()
    };
    let refused = BlockReader::new(buffered, &options).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    let Some(file) = open_direct(path).filter(|_| rings()) else {
        return println!("skipped: no O_DIRECT or no ring here");
    };
    let dev = file.metadata().unwrap().dev();
    let queue = format!("/sys/dev/block/{}:{}/queue/io_poll", major(dev), minor(dev));
    if std::fs::read_to_string(&queue).is_ok_and(|text| text.trim() == "1") {
        let means = check(&file, &bytes, &options);
        assert!(means.ends_with(", polled"), "{means}");
        return;
    }
    let refused = BlockReader::new(file, &options).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
    let text = refused.to_string();
    assert!(
        text.contains("cannot be polled for completions: "),
        "{text}"
    );
}

/// tmpfs has no device that sysfs could be asked about, and cannot poll.
#[test]
fn a_file_system_that_cannot_poll_is_found_by_a_read() {
    let options = ReaderOptions {
        iopoll: true,
        ..ReaderOptions::default()
    };
    let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        return println!("skipped: no /dev/shm");
    };
    std::fs::write(file.path(), [0; 4096]).unwrap();
    let Some(file) = open_direct(file.path()).filter(|_| rings()) else {
        return println!("skipped: no O_DIRECT on tmpfs before Linux 6.6, or no ring");
    };
    let refused = BlockReader::new(file, &options).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::Unsupported, "{refused}");
}

#[test]
fn a_kernel_thread_may_take_the_requests() {
    let (file, bytes) = written();
    let file = Arc::new(file.reopen().unwrap());
    if !rings() {
        return;
    }
    for (idle, depth) in [(0, 64), (1, 64), (50, 64), (50, 1), (50, 3)] {
        let options = ReaderOptions {
            depth,
            sqpoll: Some(Duration::from_millis(idle)),
            ..ReaderOptions::default()
        };
        let means = check(&file, &bytes, &options);
        assert!(means.ends_with(", kernel thread"), "{means}");
    }
}

#[test]
fn short_reads_are_continued() {
    // The kernel returns files of this kind in portions of about a page.
    let path = "/proc/kallsyms";
    let Ok(bytes) = std::fs::read(path) else {
        return println!("skipped: no {path}");
    };
    let len = 50_000;
    let options = ReaderOptions {
        buffer_size: len,
        depth: 3,
        ..ReaderOptions::default()
    };
    let requests: Vec<_> = (0..4)
        .map(|tag| request(tag * u64::from(len), len, tag))
        .collect();
    for options in both(&options) {
        let file = Arc::new(File::open(path).unwrap());
        let mut reader = BlockReader::new(file, &options).unwrap();
        for (tag, found) in stream(&mut reader, &requests) {
            let request = requests[usize::try_from(tag).unwrap()];
            assert!(found == expected(&bytes, request, len), "{options:?}");
        }
    }
}

#[test]
fn the_iterator_is_asked_only_when_a_slot_is_free() {
    let (file, _) = written();
    let file = Arc::new(file.reopen().unwrap());
    for options in both(&ReaderOptions {
        depth: 5,
        ..ReaderOptions::default()
    }) {
        let mut reader = BlockReader::new(Arc::clone(&file), &options).unwrap();
        let (taken, over, most) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let requests = blocks(4096);
        let taking = requests.iter().enumerate().map(|(place, request)| {
            assert_eq!(request.tag, place as u64, "in their order");
            taken.set(taken.get() + 1);
            most.set(most.get().max(taken.get() - over.get()));
            *request
        });
        let flow = reader.read_stream(taking, |_, _| {
            over.set(over.get() + 1);
            Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!((taken.get(), over.get()), (requests.len(), requests.len()));
        assert_eq!(most.get(), 5, "{options:?}");
    }
}

#[test]
fn an_iterator_that_has_ended_is_not_asked_again() {
    let (file, _) = written();
    let file = Arc::new(file.reopen().unwrap());
    for options in both(&ReaderOptions::default()) {
        let mut reader = BlockReader::new(Arc::clone(&file), &options).unwrap();
        let mut asked = 0;
        // Returns one more request after its end.
        let requests = std::iter::from_fn(|| {
            asked += 1;
            (asked != 3).then(|| request(0, 10, asked))
        });
        let mut over = 0;
        let flow = reader.read_stream(requests, |_, _| {
            over += 1;
            Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!((over, asked), (2, 3), "{options:?}");
    }
}

#[test]
fn reading_stops_when_told_to() {
    let (file, bytes) = written();
    let file = Arc::new(file.reopen().unwrap());
    for options in both(&ReaderOptions {
        buffer_size: 4096,
        ..ReaderOptions::default()
    }) {
        let mut reader = BlockReader::new(Arc::clone(&file), &options).unwrap();
        for stop in [1, 2, 100] {
            let mut seen = 0;
            let flow = reader.read_all(&mut blocks(512), |_, _| {
                seen += 1;
                if seen == stop {
                    Break(())
                } else {
                    Continue(())
                }
            });
            assert!(flow.is_break() && seen == stop, "{seen} {options:?}");
        }
        // Results of earlier reads that are still in flight are not mistaken for results of this
        // call.
        let request = request(4096, 4096, 9);
        let found = stream(&mut reader, &[request]);
        assert!(found[&9] == expected(&bytes, request, 4096));
    }
}

#[test]
fn a_panic_of_the_visitor_leaves_a_reader_that_works() {
    let (file, bytes) = written();
    let file = Arc::new(file.reopen().unwrap());
    for options in both(&ReaderOptions::default()) {
        let mut reader = BlockReader::new(Arc::clone(&file), &options).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            reader.read_stream(blocks(4096).into_iter(), |_, _| panic!("as the test wants"))
        }));
        assert!(panicked.is_err());
        let request = request(8192, 4096, 3);
        let found = stream(&mut reader, &[request]);
        assert!(found[&3] == expected(&bytes, request, 4096));
    }
}

#[test]
fn errors_are_the_device_s() {
    // A directory can be opened but not read.
    let directory = Arc::new(File::open("/").unwrap());
    for options in both(&ReaderOptions::default()) {
        let mut reader = BlockReader::new(Arc::clone(&directory), &options).unwrap();
        let requests = [request(0, 10, 0), request(10, 10, 1)];
        let mut found = BTreeMap::new();
        let _ = reader.read_all(&mut requests.to_vec(), |request, bytes| {
            note(&mut found, request, bytes);
            Continue(())
        });
        let expected = Err(io::ErrorKind::IsADirectory);
        assert!(found.len() == 2 && found.values().all(|found| *found == expected));
    }
}

#[test]
fn options_out_of_range_are_refused() {
    let file = Arc::new(File::open("/dev/null").unwrap());
    for (depth, buffer_size) in [(0, 1), (4097, 1), (1, 0)] {
        let options = ReaderOptions {
            depth,
            buffer_size,
            transport: Transport::Threads,
            ..ReaderOptions::default()
        };
        let refused = BlockReader::new(Arc::clone(&file), &options).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn threads_refuse_the_options_of_a_ring() {
    let (file, _) = written();
    let Some(file) = open_direct(file.path()) else {
        return println!("skipped: no O_DIRECT here");
    };
    for (iopoll, sqpoll) in [(true, None), (false, Some(Duration::from_millis(1)))] {
        let options = ReaderOptions {
            transport: Transport::Threads,
            sqpoll,
            iopoll,
            ..ReaderOptions::default()
        };
        let refused = BlockReader::new(Arc::clone(&file), &options).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }
}
