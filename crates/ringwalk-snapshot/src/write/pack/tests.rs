use super::*;
use proptest::option;
use proptest::prelude::*;

fn times() -> impl Strategy<Value = Option<Timestamp>> {
    option::of(
        (any::<i64>(), 0..1_000_000_000u32).prop_map(|(secs, nanos)| Timestamp { secs, nanos }),
    )
}

prop_compose! {
    fn attributes()(
        (ino, dev, mode, nlink) in (any::<Option<u64>>(), option::of(0..3u64), any::<Option<u16>>(), any::<Option<u32>>()),
        (uid, gid, rdev) in (option::of(0..3u32), option::of(0..3u32), any::<Option<u64>>()),
        (size, alloc) in (any::<Option<u64>>(), any::<Option<u64>>()),
        (mtime, ctime, btime, atime) in (times(), times(), times(), times()),
        same in any::<bool>(),
        (charged_once, hash) in (any::<bool>(), any::<Option<[u8; 32]>>()),
    ) -> Attributes {
        let ctime = if same { mtime } else { ctime };
        Attributes { ino, dev, mode, nlink, uid, gid, rdev, size, alloc, mtime, ctime, btime, atime, hash, charged_once }
    }
}

proptest! {
    #[test]
    fn entries_are_unpacked_as_they_were(
        all in proptest::collection::vec((
            attributes(),
            any::<Vec<u8>>(),
            any::<Option<u64>>(),
            any::<Option<Vec<u8>>>(),
            proptest::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..3),
        ), 1..10)
    ) {
        let mut run = Vec::new();
        let mut packer = Packer::default();
        for (attributes, name, child, target, xattrs) in &all {
            let entry = Entry {
                attributes: *attributes,
                target: target.as_deref(),
                xattrs,
                failure: target.as_ref().map(|_| Failure { operation: FailedOperation::Xattr, errno: Errno::IO }),
                skipped: child.map(|_| Skipped::Loop),
                ..Entry::new(name, FileType::Fifo)
            };
            packer.push(&entry, *child, &mut run);
        }
        let mut unpacker = Unpacker::default();
        for (attributes, name, child, target, xattrs) in &all {
            let entry = unpacker.next(&run).unwrap();
            prop_assert_eq!(&entry.attributes, attributes);
            prop_assert_eq!(entry.name, name);
            prop_assert_eq!(entry.file_type, FileType::Fifo);
            prop_assert_eq!(entry.child, *child);
            prop_assert_eq!(entry.target, target.as_deref());
            prop_assert_eq!(entry.failure.is_some(), target.is_some());
            prop_assert_eq!(entry.skipped, child.map(|_| Skipped::Loop));
            let found: Vec<_> = entry.xattrs().map(|(a, b)| (a.to_vec(), b.to_vec())).collect();
            prop_assert_eq!(&found, xattrs);
        }
        prop_assert!(unpacker.next(&run).is_none());
    }
}
