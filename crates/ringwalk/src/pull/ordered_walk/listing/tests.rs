use super::*;
use std::sync::Arc;

fn listing(names: &[&[u8]]) -> Listing {
    let mut builder = ListingBuilder::default();
    for name in names {
        builder.push(name, FileType::Regular, 7);
    }
    Arc::into_inner(builder.finish(None, b"/top", 1, (1, 2), Moment::now())).unwrap()
}

#[test]
fn names_of_every_kind_are_kept() {
    // Joined without a byte between them, the two in the middle would be UTF-8.
    let names: [&[u8]; 5] = [
        b"plain",
        "\u{e9}".as_bytes(),
        b"\xc3",
        b"\xa9",
        &[b'x'; 255],
    ];
    let listing = listing(&names);
    for (index, name) in names.iter().enumerate() {
        assert_eq!(listing.name(index), *name);
        assert_eq!(listing.text(index), std::str::from_utf8(name).ok());
    }
    assert_eq!((listing.len(), listing.ino(3)), (5, 7));
}

#[test]
fn text_is_text() {
    let names: [&[u8]; 2] = [b"plain", "\u{e9}\u{4e00}".as_bytes()];
    let listing = listing(&names);
    assert!(matches!(listing.names, Names::Text(_)));
    assert_eq!(listing.text(1), Some("\u{e9}\u{4e00}"));
    assert_eq!(listing.c_path(), c"/top");
    let mut path = Vec::new();
    listing.path_of(0, &mut path);
    assert_eq!(path, b"/top/plain");
}

#[test]
fn memory_is_used_again() {
    let mut builder = ListingBuilder::default();
    let mut spares = SpareListings::default();
    builder.push(b"a name that is long", FileType::Directory, 1);
    let first = builder.finish(None, b"/some/path", 3, (1, 2), Moment::now());
    let held = Arc::clone(&first);
    spares.put(first);
    assert!(spares.get().is_none(), "it is held");
    let place = Arc::as_ptr(&held);
    spares.put(held);
    builder.clear();
    builder.push(b"\xff", FileType::Symlink, 1);
    let second = builder.finish(spares.get(), b"/", 0, (3, 4), Moment::now());
    assert_eq!(Arc::as_ptr(&second), place);
    assert_eq!(
        (second.path(), second.name(0), second.len()),
        (&b"/"[..], &b"\xff"[..], 1)
    );
    assert_eq!(
        (second.directories(), second.has_unsure(), second.dev),
        (0, true, 3)
    );
}

#[test]
fn a_small_directory_does_not_hold_the_memory_of_a_large_one() {
    let mut builder = ListingBuilder::default();
    for number in 0..400 {
        builder.push(format!("{number:0>20}").as_bytes(), FileType::Regular, 7);
    }
    let large = builder.finish(None, b"/large", 1, (1, 2), Moment::now());
    builder.clear();
    builder.push(b"one", FileType::Regular, 7);
    let small = builder.finish(Some(large), b"/small", 1, (1, 2), Moment::now());
    assert_eq!((small.len(), small.name(0)), (1, &b"one"[..]));
    assert!(
        small.entries.capacity() < 70,
        "{}",
        small.entries.capacity()
    );
    let Names::Text(text) = &small.names else {
        panic!("it is text");
    };
    assert!(text.capacity() < 1100, "{}", text.capacity());
}

#[test]
fn one_slash_between_path_and_name() {
    for (path, joined) in [("", "n"), ("/", "/n"), ("a", "a/n"), ("a/", "a/n")] {
        let mut path = path.as_bytes().to_vec();
        join(&mut path, b"n");
        assert_eq!(path, joined.as_bytes());
    }
}
