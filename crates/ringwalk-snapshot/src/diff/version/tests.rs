use super::*;

#[test]
fn a_path_lies_in_every_directory_up_to_the_root() {
    let all = |path: &'static [u8]| ancestors(path).collect::<Vec<_>>();
    assert_eq!(all(b""), Vec::<&[u8]>::new(), "a root lies in none");
    assert_eq!(all(b"a"), [b""]);
    assert_eq!(all(b"a/b/c"), [&b"a/b"[..], b"a", b""]);
}

#[test]
fn unknown_parts_of_an_identity_do_not_differ() {
    let mut a = Version::new(0, 0, Arc::from(&b"a"[..]), FileType::Regular);
    let mut b = a.clone();
    assert!(a.is_same_file(&b));
    a.set(Field::Ino, Some(1));
    assert!(a.is_same_file(&b));
    b.set(Field::Ino, Some(2));
    assert!(!a.is_same_file(&b));
    b.set(Field::Ino, Some(1));
    a.set(Field::Btime, Some(5));
    b.set(Field::Btime, Some(6));
    assert!(!a.is_same_file(&b), "an inode number used again");
    b.set(Field::Btime, None);
    assert!(a.is_same_file(&b));
    b.file_type = FileType::Symlink;
    assert!(!a.is_same_file(&b));
}

#[test]
fn sets_of_fields_have_what_was_put_in() {
    let mut set = Fields::default();
    assert!(set.is_empty());
    set.insert(Field::Mtime);
    set.insert(Field::Size);
    assert_eq!(set.iter().collect::<Vec<_>>(), [Field::Size, Field::Mtime]);
    set.remove(Field::Size);
    assert!(set.contains(Field::Mtime) && !set.contains(Field::Size));
    for (number, field) in Field::ALL.into_iter().enumerate() {
        assert_eq!(field as usize, number, "{}", field.name());
    }
}
