use super::*;

/// Returns a field with the number after the one before.
fn field(kind: u8, value: &[u8]) -> Vec<u8> {
    [&[0x10 | kind][..], value].concat()
}

fn skipped(kind: u8, value: &[u8]) -> Option<()> {
    let bytes = [&field(kind, value)[..], &[0]].concat();
    let mut reader = Reader::new(&bytes);
    reader.fields(|reader, _, kind| reader.skip(kind))?;
    reader.rest().is_empty().then_some(())
}

#[test]
fn values_of_every_type_are_skipped() {
    for (kind, value) in [
        (1, &b""[..]),
        (2, b""),
        (3, b"x"),
        (5, b"\xff\xff\x03"),
        (7, b"12345678"),
        (8, b"\x03abc"),
        (9, b"\x00"),
        (9, b"\x21\x01\x02"),
        (9, b"\xf3\x10abcdefghijklmnop"),
        (10, b"\x18\x01a"),
        (11, b"\x00"),
        (11, b"\x02\x83\x01ax\x01by"),
        (12, b"\x00"),
        (12, b"\x15\x02\x15\x02\x00"),
        (13, b"0123456789abcdef"),
    ] {
        assert_eq!(skipped(kind, value), Some(()), "{kind} {value:?}");
        let cut = value.len().checked_sub(1).map(|length| &value[..length]);
        if let Some(cut) = cut {
            let bytes = field(kind, cut);
            let read = Reader::new(&bytes).fields(|reader, _, kind| reader.skip(kind));
            assert_eq!(read, None, "{kind} {cut:?}");
        }
    }
    assert_eq!(skipped(14, b""), None);
}

#[test]
fn numbers_of_fields_are_differences_or_whole() {
    let bytes = b"\x35\x02\x15\x03\x05\x14\x04\x00";
    let mut found = Vec::new();
    Reader::new(bytes)
        .fields(|reader, number, kind| {
            found.push((number, reader.integer(kind)?));
            Some(())
        })
        .unwrap();
    assert_eq!(found, [(3, 1), (4, -2), (10, 2)]);
}

#[test]
fn a_list_of_many_elements_takes_no_memory_before_they_are_there() {
    // 2^60 truth values, which a decoder that reads none of their bytes would count.
    let count = b"\x80\x80\x80\x80\x80\x80\x80\x80\x10";
    for kind in [1, 3, 5, 8, 12] {
        let value = [&[0xf0 | kind][..], count, b"\x01\x01"].concat();
        assert_eq!(skipped(9, &value), None);
        let bytes = [&field(9, &value)[..], &[0]].concat();
        let mut reader = Reader::new(&bytes);
        let list = reader.fields(|reader, _, kind| {
            reader.list(kind, Reader::skip)?;
            Some(())
        });
        assert_eq!(list, None);
    }
}

#[test]
fn values_that_lie_too_deep_are_refused() {
    let nested = |depth: usize| [b"\x1c".repeat(depth), b"\x00".repeat(depth + 1)].concat();
    let read = |depth| {
        let bytes = nested(depth);
        Reader::new(&bytes).fields(|reader, _, kind| reader.skip(kind))
    };
    assert_eq!(read(16), Some(()));
    assert_eq!(read(17), None);
    assert_eq!(read(1_000_000), None);
}

#[test]
fn other_types_than_the_expected_ones_are_refused() {
    for kind in [Kind::True, Kind::Byte, Kind::Map, Kind::Double] {
        let mut reader = Reader::new(b"\x00\x00");
        assert_eq!(reader.integer(kind), None);
        assert_eq!(reader.binary(kind), None);
        assert_eq!(reader.list(kind, |_, _| Some(())), None);
        assert_eq!(reader.structure(kind, |_, _, _| Some(())), None);
    }
    let mut reader = Reader::new(b"\x02\xff\xfe");
    assert_eq!(reader.text(Kind::Binary), None);
}
