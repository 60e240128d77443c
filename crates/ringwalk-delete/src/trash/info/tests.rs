use super::{Path, Timestamp, Zone, contents, create, local_time};
use crate::Reason;
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_record_has_the_form_of_the_specification() {
    let path = Path::new(OsStr::from_bytes(b"/home/me/a b%\n\xff\xc3\xa4_~.txt"));
    let text = "[Trash Info]\n\
                Path=/home/me/a%20b%25%0A%FF%C3%A4_~.txt\n\
                DeletionDate=2004-08-31T22:32:08\n";
    assert_eq!(contents(path, "2004-08-31T22:32:08"), text);
}

#[test]
fn times_are_local() {
    let time = Timestamp::from_second(1_093_991_528).unwrap();
    assert_eq!(local_time(time, &Zone::named("")), "2004-08-31T22:32:08");
    assert_eq!(
        local_time(time, &Zone::named("XYZ-3:30")),
        "2004-09-01T02:02:08"
    );
}

#[test]
fn a_name_is_taken_once() {
    let directory = tempfile::tempdir().unwrap();
    let opened = std::fs::File::open(directory.path()).unwrap();
    let record = create(opened.as_fd(), b"a", Path::new("/a")).unwrap();
    let taken = create(opened.as_fd(), b"a", Path::new("/a")).map(drop);
    let expected = Reason::Failed {
        action: "write to the trash",
        errno: Errno::EXIST,
    };
    assert_eq!(taken, Err(expected));
    assert!(directory.path().join("a.trashinfo").exists());
    record.remove();
    assert!(!directory.path().join("a.trashinfo").exists());
}
