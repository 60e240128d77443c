use super::*;
use rustix::io::Errno;

/// Modes, and how GNU find 4.9 wrote them.
#[test]
fn modes() {
    for (mode, letters, letter) in [
        (0o100_000, "----------", b'f'),
        (0o104_644, "-rwSr--r--", b'f'),
        (0o102_644, "-rw-r-Sr--", b'f'),
        (0o101_644, "-rw-r--r-T", b'f'),
        (0o107_777, "-rwsrwsrwt", b'f'),
        (0o107_000, "---S--S--T", b'f'),
        (0o060_644, "brw-r--r--", b'b'),
        (0o020_644, "crw-r--r--", b'c'),
        (0o140_777, "srwxrwxrwx", b's'),
        (0o010_644, "prw-r--r--", b'p'),
        (0o120_777, "lrwxrwxrwx", b'l'),
        (0o041_777, "drwxrwxrwt", b'd'),
        (0o041_776, "drwxrwxrwT", b'd'),
        (0o170_000, "?---------", b'U'),
        (0o110_644, "?rw-r--r--", b'U'),
    ] {
        assert_eq!(&mode_letters(mode), letters.as_bytes(), "{mode:o}");
        assert_eq!(type_letter(FileType::from_mode(mode)), letter, "{mode:o}");
    }
}

#[test]
fn targets() {
    let letter = |answer: Result<FileType, Errno>| target_letter(answer.into());
    assert_eq!(letter(Ok(FileType::Directory)), b'd');
    assert_eq!(letter(Err(Errno::NOENT)), b'N');
    assert_eq!(letter(Err(Errno::NOTDIR)), b'N');
    assert_eq!(letter(Err(Errno::LOOP)), b'L');
    assert_eq!(letter(Err(Errno::ACCESS)), b'?');
}
