//! Tests the ring itself. The engine's tests compare the bytes that it reads with the written ones.

use super::*;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SIZE: u32 = 100_000;

/// Returns a file in which each byte depends on its offset, and a ring on this file. `None` where
/// the system refuses rings.
fn ring(depth: u32, buffer_size: u32, register_buffers: bool) -> Option<ReadRing> {
    ring_of(&ReadRingOptions {
        depth,
        buffer_size,
        register_buffers,
        sqpoll: None,
        iopoll: false,
    })
}

fn ring_of(options: &ReadRingOptions) -> Option<ReadRing> {
    let mut file = tempfile::tempfile().unwrap();
    let bytes: Vec<u8> = (0..SIZE).map(|place| place.to_le_bytes()[1]).collect();
    file.write_all(&bytes).unwrap();
    match ReadRing::new(Arc::new(file), options) {
        Ok(ring) => Some(ring),
        Err(Errno::NOSYS | Errno::PERM | Errno::NOMEM) => None,
        Err(errno) => panic!("{errno}"),
    }
}

fn take_all(ring: &mut ReadRing) -> Vec<(u32, Result<u32, Errno>)> {
    let mut found = Vec::new();
    while ring.in_flight() > 0 {
        ring.enter(ring.in_flight()).unwrap();
        found.extend(std::iter::from_fn(|| ring.next()));
    }
    found.sort_unstable_by_key(|(slot, _)| *slot);
    found
}

#[test]
fn each_slot_gets_its_own_bytes() {
    for register in [false, true] {
        // Slots begin at page boundaries, even if they are shorter than pages.
        let Some(mut ring) = ring(5, 5000, register) else {
            return;
        };
        for slot in 0..5 {
            ring.start(slot, u64::from(slot) * 256, 100, 256);
        }
        let found = take_all(&mut ring);
        assert_eq!(found, [0, 1, 2, 3, 4].map(|slot| (slot, Ok(256))));
        for slot in 0..5_u32 {
            let bytes = ring.bytes(slot);
            assert_eq!(bytes.len(), 5000);
            assert!(bytes[..100].iter().all(|byte| *byte == 0));
            assert!(bytes[100..356].iter().all(|byte| u32::from(*byte) == slot));
            assert!(bytes[356..].iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn ends_and_errors_are_reported_by_slot() {
    let Some(mut ring) = ring(3, 4096, true) else {
        return;
    };
    ring.start(0, u64::from(SIZE) - 10, 0, 4096);
    ring.start(1, u64::from(SIZE) + 10, 0, 4096);
    ring.start(2, u64::MAX / 2 + 5, 0, 4096);
    let found = take_all(&mut ring);
    assert_eq!(found[..2], [(0, Ok(10)), (1, Ok(0))]);
    assert!(found[2].1.is_err());
}

#[test]
fn what_is_the_kernel_s_is_out_of_reach() {
    let Some(mut ring) = ring(2, 4096, false) else {
        return;
    };
    ring.start(0, 0, 0, 4096);
    for misuse in [
        |ring: &mut ReadRing| assert_eq!(ring.bytes(0).len(), 4096),
        |ring: &mut ReadRing| ring.bytes_mut(0)[0] = 1,
        |ring: &mut ReadRing| ring.start(0, 0, 0, 1),
        |ring: &mut ReadRing| ring.start(1, 0, 4000, 97),
        |ring: &mut ReadRing| ring.start(2, 0, 0, 1),
    ] {
        assert!(catch_unwind(AssertUnwindSafe(|| misuse(&mut ring))).is_err());
    }
    assert_eq!(ring.in_flight(), 1);
    assert_eq!(take_all(&mut ring), [(0, Ok(4096))]);
    ring.bytes_mut(0)[0] = 1;
    assert_eq!(ring.bytes(0)[0], 1);
}

#[test]
fn a_ring_may_go_while_reads_are_in_flight() {
    for round in 0..20 {
        let Some(mut ring) = ring(64, 4096, round % 2 == 0) else {
            return;
        };
        for slot in 0..64 {
            ring.start(slot, 0, 0, 4096);
        }
        // In some rounds the request is still queued, in others the kernel has it.
        if round % 3 == 0 {
            ring.enter(0).unwrap();
        }
    }
}

#[test]
fn a_drained_ring_is_as_good_as_new() {
    let Some(mut ring) = ring(4, 4096, true) else {
        return;
    };
    for _ in 0..100 {
        for slot in 0..4 {
            ring.start(slot, 512, 0, 1);
        }
        ring.drain().unwrap();
        assert!(ring.in_flight() == 0 && ring.next().is_none());
    }
    assert_eq!(ring.bytes(3)[0], 2);
}

/// The thread frees the entries of a round after their reads: a slot is idle while its entry is
/// still taken.
#[test]
fn a_kernel_thread_leaves_room_for_every_slot() {
    for depth in [1, 2, 8] {
        let Some(mut ring) = ring_of(&ReadRingOptions {
            depth,
            buffer_size: 4096,
            register_buffers: false,
            sqpoll: Some(Duration::from_millis(50)),
            iopoll: false,
        }) else {
            return;
        };
        for slot in 0..depth {
            ring.start(slot, 0, 0, 4096);
        }
        for _ in 0..20_000 {
            ring.enter(1).unwrap();
            while let Some((slot, result)) = ring.next() {
                assert_eq!(result, Ok(4096));
                ring.start(slot, 0, 0, 4096);
            }
        }
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let file = Arc::new(tempfile::tempfile().unwrap());
    for (depth, buffer_size) in [(0, 4096), (4, 0)] {
        let options = ReadRingOptions {
            depth,
            buffer_size,
            register_buffers: false,
            sqpoll: None,
            iopoll: false,
        };
        assert_eq!(
            ReadRing::new(Arc::clone(&file), &options).unwrap_err(),
            Errno::INVAL
        );
    }
}
