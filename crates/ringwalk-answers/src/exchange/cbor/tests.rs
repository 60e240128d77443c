use super::*;

fn head(bytes: &[u8]) -> Result<Head> {
    Decoder::new(bytes, 0).head()
}

/// Skips a value and returns how many bytes are left.
fn left(bytes: &[u8]) -> Result<usize> {
    let mut decoder = Decoder::new(bytes, 0);
    let head = decoder.head()?;
    decoder.skip(head)?;
    Ok(bytes.len() - decoder.at())
}

#[test]
fn heads_have_arguments_of_every_size() {
    for (bytes, expected) in [
        (&b"\x00"[..], 0),
        (b"\x17", 23),
        (b"\x18\xff", 255),
        (b"\x19\x01\x00", 256),
        (b"\x1a\x00\x01\x00\x00", 65_536),
        (b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", u64::MAX),
        // Tags are left out.
        (b"\xc1\x05", 5),
    ] {
        let head = head(bytes).unwrap();
        assert_eq!(head.major, Major::Positive);
        assert_eq!(head.argument, Some(expected), "{bytes:x?}");
    }
    assert!(head(b"\xff").unwrap().is_break());
    for wrong in [
        &b""[..],
        b"\x18",
        b"\x1b\x00",
        b"\x1c",
        b"\x1f",
        b"\x3f",
        b"\xdf\x00",
    ] {
        assert!(head(wrong).is_err(), "{wrong:x?}");
    }
}

#[test]
fn values_of_every_kind_are_skipped() {
    for value in [
        &b"\x00"[..],
        b"\x20",
        b"\x40",
        b"\x41a",
        b"\x62ab",
        b"\x80",
        b"\x82\x00\x41a",
        b"\xa0",
        b"\xa1\x00\x81\x01",
        b"\x5f\xff",
        b"\x5f\x41a\x41b\xff",
        b"\x9f\x9f\x81\x00\xff\xff",
        b"\xbf\xc0\x00\x9f\xff\xff",
        b"\xf5",
        b"\xf9\x3c\x00",
        b"\x81\x80",
        b"\x82\xa0\x9f\xff",
    ] {
        let followed = [value, b"rest"].concat();
        assert_eq!(left(&followed), Ok(4), "{value:x?}");
    }
    for wrong in [
        &b"\x41"[..],
        b"\x81",
        b"\x9f",
        b"\xff",
        b"\x81\xff",
        b"\xa1\x00",
        b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x00",
        b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        assert!(left(wrong).is_err(), "{wrong:x?}");
    }
}

#[test]
fn deep_values_are_refused_without_recursion() {
    assert!(left(&vec![0x81; 1_000_000]).is_err());
    assert!(left(&vec![0x9f; 1_000_000]).is_err());
}
