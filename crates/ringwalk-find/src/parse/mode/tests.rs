use super::*;

/// Modes that differ for directories, and what GNU find takes them for.
#[test]
fn directories_differ() {
    for (text, file, directory) in [
        ("a+X", 0, 0o111),
        ("u=rX,u+x,a+X", 0o511, 0o511),
        ("u+s,u=r", 0o400, 0o4400),
        ("ug+s,ug=r", 0o440, 0o6440),
        ("ug+s,=", 0, 0o6000),
        ("ug+s,u=rw,u-s", 0o2600, 0o2600),
        ("ug+s,u=g", 0o2000, 0o6000),
        ("ug+s,u=X", 0o2000, 0o6100),
    ] {
        assert_eq!(
            parse(text.as_bytes(), 0),
            Some(Mode { file, directory }),
            "{text}"
        );
    }
}

#[test]
fn octal_and_symbolic() {
    for (text, bits) in [
        ("0", 0),
        ("07777", 0o7777),
        ("00000000644", 0o644),
        ("=644", 0o644),
        ("ug+s,=644", 0o644),
        ("ug+s,-00", 0o6000),
        ("+", 0),
        ("u=", 0),
        ("u=rw,g=r", 0o640),
        ("a+r", 0o444),
        ("+r", 0o444),
        ("u+s", 0o4000),
        ("o+s", 0),
        ("u+t", 0),
        ("o=t,o=rw", 0o6),
        ("=rwxst", 0o7777),
        ("u=rwx,g=u", 0o770),
        ("u=rw,=u", 0o666),
        ("u=rw,g=u-w", 0o640),
        ("u=s,g=u", 0o4000),
        ("u=rwx-w", 0o500),
        ("++x", 0o111),
    ] {
        let mode = Mode {
            file: bits,
            directory: bits,
        };
        assert_eq!(parse(text.as_bytes(), 0), Some(mode), "{text}");
    }
}

/// The results of chmod(1) on a file and a directory of mode 0, under a mask of 027.
#[test]
fn a_mask_holds_where_nobody_is_named() {
    for (text, file, directory) in [
        ("+w", 0o200, 0o200),
        ("+rwx", 0o750, 0o750),
        ("=rwx", 0o750, 0o750),
        ("a+w", 0o222, 0o222),
        ("ugo=w", 0o222, 0o222),
        ("a+rwx,-w", 0o577, 0o577),
        ("a+rwx,=", 0, 0),
        ("a+rwx,=r", 0o440, 0o440),
        ("u=rwx,+u", 0o750, 0o750),
        ("+X", 0, 0o110),
        ("+st", 0o7000, 0o7000),
        ("g+s,=r", 0o440, 0o2440),
        ("=777", 0o777, 0o777),
        ("777", 0o777, 0o777),
        ("+w,o+w", 0o202, 0o202),
    ] {
        let found = parse(text.as_bytes(), 0o027);
        assert_eq!(found, Some(Mode { file, directory }), "{text}");
    }
    for (text, masked) in [
        ("+w", true),
        ("u+w,=", true),
        ("a+w", false),
        ("644", false),
    ] {
        assert_eq!(is_masked(text.as_bytes()), masked, "{text}");
    }
}

#[test]
fn no_modes() {
    for text in [
        "",
        "x",
        "8",
        "10000",
        "4294967296644",
        "644,u=r",
        "644 ",
        " 644",
        "u",
        "a",
        "u=z",
        "u=r,",
        ",u=r",
        "u=r,,g=r",
        "u=gX",
        "g=uo",
        "u+644",
        "a=644",
        "=644+1",
        "=10000",
        "X",
        "u=rw,X",
    ] {
        assert_eq!(parse(text.as_bytes(), 0), None, "{text}");
    }
}
