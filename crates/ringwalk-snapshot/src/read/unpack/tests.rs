use super::*;
use std::io::Write;

/// Returns a field of a struct, with the number after the one before.
fn integer(number: u64) -> Vec<u8> {
    let mut bytes = vec![0x15];
    let mut rest = number << 1;
    while rest >= 0x80 {
        bytes.push(u8::try_from(rest & 0x7f | 0x80).unwrap());
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap());
    bytes
}

/// Returns the header of a data page with a marker where its struct begins.
fn data_header(unpacked: u64, stored: u64, [rows, encoding, nulls]: [u64; 3]) -> Vec<u8> {
    let mut bytes = [integer(0), integer(unpacked), integer(stored)].concat();
    bytes.push(0x2c);
    for number in [rows, encoding, nulls, 3] {
        bytes.extend(integer(number));
    }
    bytes.extend([0, 0]);
    bytes
}

fn dictionary_header(unpacked: u64, stored: u64, count: u64) -> Vec<u8> {
    let mut bytes = [integer(2), integer(unpacked), integer(stored)].concat();
    bytes.push(0x4c);
    bytes.extend([integer(count), integer(0)].concat());
    bytes.extend([0, 0]);
    bytes
}

/// Reads a page that is stored as these bytes.
fn read(page: &[u8], is_compressed: bool, values: Values) -> Result<(Contents, Vec<u8>), String> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"PAR1").unwrap();
    file.write_all(page).unwrap();
    let file = SharedFile::new(file).unwrap();
    let place = Place::of_pages(4..file.len(), is_compressed);
    let mut unpacker = Unpacker::default();
    let page = unpacker.page(&file, 4..file.len(), &place, values);
    page.map(|(contents, bytes)| (contents, bytes.to_vec()))
        .map_err(|reason| match reason {
            Reason::Damaged(what) => what,
            other => panic!("{other:?}"),
        })
}

const DATA: [u64; 3] = [10, 0, 3];

#[test]
fn pages_of_every_kind() {
    let frame = zstd::bulk::compress(b"some bytes", 1).unwrap();
    let stored = frame.len() as u64;
    let page = [&data_header(10, stored, [7, 8, 3])[..], &frame].concat();
    let data = Contents::Data {
        rows: 7,
        encoding: Encoding::RleDictionary,
    };
    assert_eq!(
        read(&page, true, Values::Text),
        Ok((data, b"some bytes".to_vec()))
    );
    let page = [&dictionary_header(10, stored, 3)[..], &frame].concat();
    let dictionary = Contents::Dictionary { count: 3 };
    assert_eq!(
        read(&page, true, Values::Int64),
        Ok((dictionary, b"some bytes".to_vec()))
    );
    let page = [&data_header(4, 4, DATA)[..], b"text"].concat();
    assert_eq!(read(&page, false, Values::Text).unwrap().1, b"text");
    assert_eq!(
        read(&data_header(0, 0, DATA), true, Values::Text)
            .unwrap()
            .1,
        b""
    );
    for length in 0..page.len() {
        assert!(read(&page[..length], false, Values::Text).is_err());
    }
}

#[test]
fn sizes_that_would_fill_the_memory_are_refused() {
    let frame = zstd::bulk::compress(&vec![0; 5 << 20], 1).unwrap();
    let stored = frame.len() as u64;
    let said = |size: u64, values| {
        let page = [&data_header(size, stored, DATA)[..], &frame].concat();
        read(&page, true, values).unwrap_err()
    };
    for size in [5 << 20, 8 << 30, u64::MAX >> 2] {
        assert_eq!(
            said(size, Values::Int64),
            "a page is too long when it is decompressed"
        );
    }
    let most = MOST_TEXT as u64;
    for size in [most + 1, 8 << 30] {
        assert!(said(size, Values::Text).contains("too long"));
    }
    // The frame has more than the header says.
    assert!(said(100, Values::Text).contains("cannot be decompressed"));
    // And less.
    assert!(said(6 << 20, Values::Text).contains("another length"));
}

#[test]
fn headers_that_are_wrong() {
    let page = |header: Vec<u8>| {
        let page = [&header[..], b"text"].concat();
        read(&page, false, Values::Text).unwrap_err()
    };
    for (found, expected) in [
        (page(data_header(4, 5, DATA)), "another length"),
        (page(data_header(4, 3, DATA)), "another length"),
        (page(data_header(5, 4, DATA)), "another length"),
        (page(data_header(4, 4, [10, 9, 3])), "not stored as"),
        (page(data_header(4, 4, [10, 0, 4])), "not stored as"),
        (page(b"\x00".to_vec()), "malformed"),
        (page(b"".to_vec()), "malformed"),
    ] {
        assert!(found.contains(expected), "{found}");
    }
    let page = [&data_header(4, 4, DATA)[..], b"text"].concat();
    assert!(
        read(&page, true, Values::Text)
            .unwrap_err()
            .contains("cannot be decompressed")
    );
}
