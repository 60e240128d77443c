use super::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Values of attributes, in the order of the table.
struct Made(Vec<Option<u64>>);

impl AttributeSource for Made {
    fn number(&mut self, column: Column) -> Option<u64> {
        let value = self.0[column.attribute().unwrap()]?;
        // These are mostly the same as in the entry before.
        Some(if is_place(column) { value % 3 } else { value })
    }

    fn time(&mut self, column: Column) -> Option<Timestamp> {
        self.number(column).map(|value| Timestamp {
            secs: value.cast_signed(),
            nanos: (value % 1_000_000_000) as u32,
        })
    }

    fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]> {
        self.number(column).map(|value| [value as u8; HASH_BYTES])
    }
}

prop_compose! {
    fn attributes()(
        // Small numbers are as likely as large ones.
        values in vec(option::of((any::<u64>(), 0..64_u32).prop_map(|(bits, zeros)| bits >> zeros)), ATTRIBUTES.len()),
        same in any::<bool>(),
        charged_once in any::<bool>(),
    ) -> Attributes {
        let mut attributes = Attributes::take(&mut Made(values));
        attributes.charged_once = charged_once;
        if same {
            attributes.ctime = attributes.mtime;
        }
        attributes
    }
}

proptest! {
    #[test]
    fn entries_are_unpacked_as_they_were(
        all in vec((
            attributes(),
            any::<Vec<u8>>(),
            any::<Option<u64>>(),
            any::<Option<Vec<u8>>>(),
            vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..3),
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
            prop_assert_eq!(&entry.entry.attributes, attributes);
            prop_assert_eq!(entry.entry.name, name);
            prop_assert_eq!(entry.entry.file_type, FileType::Fifo);
            prop_assert_eq!(entry.child, *child);
            prop_assert_eq!(entry.entry.target, target.as_deref());
            prop_assert_eq!(entry.entry.failure.is_some(), target.is_some());
            prop_assert_eq!(entry.entry.skipped, child.map(|_| Skipped::Loop));
            let found: Vec<_> = entry.xattrs().map(|(a, b)| (a.to_vec(), b.to_vec())).collect();
            prop_assert_eq!(&found, xattrs);
        }
        prop_assert!(unpacker.next(&run).is_none());
    }
}
