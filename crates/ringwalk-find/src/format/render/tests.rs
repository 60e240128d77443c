use super::super::fake::Fake;
use super::*;
use ringwalk::Fields;
use rustix::io::Errno;

fn written(format: &str, file: &Fake) -> String {
    let mut warnings = Vec::new();
    let format = Format::parse(format.as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings, [""; 0]);
    let mut out = b"before ".to_vec();
    format.write(file, &mut out);
    String::from_utf8(out[7..].to_vec()).unwrap()
}

#[test]
fn everything_of_a_file() {
    let file = Fake::default();
    for (format, expected) in [
        (
            "%p|%f|%h|%P|%H|%d",
            "tree/dir/file|file|tree/dir|dir/file|tree|2",
        ),
        ("%s %T@ %p\\n", "6 1605000000.1234567890 tree/dir/file\n"),
        ("%b %k %S %n %i %D", "3 2 256 1 1401217 65024"),
        ("%m %#m %05m %M", "644 0644 00644 -rw-r--r--"),
        ("%u %U %g %G %F %Z", "root 0 12 12 ext4 label"),
        ("%y%Y[%l]", "ff[]"),
        ("%-6s|%6s|%.0s|%06s", "6     |     6||     6"),
        ("%10.2p|%-10.2p|%.0y", "        tr|tr        |"),
        ("%+d % 4d %.3d %-4d|", "+2    2 002 2   |"),
        ("%.12T@|%25A@", "1605000000.1|             0.0000000000"),
    ] {
        assert_eq!(written(format, &file), expected, "{format}");
    }
}

#[test]
fn links() {
    let mut link = Fake {
        file_type: FileType::Symlink,
        link_target: Some(b"there".to_vec()),
        target_type: Ok(FileType::Directory),
        ..Fake::default()
    };
    assert_eq!(written("%y%Y %l %.2l", &link), "ld there th");
    link.target_type = Err(Errno::NOENT);
    assert_eq!(written("%y%Y", &link), "lN");
    link.target_type = Err(Errno::LOOP);
    assert_eq!(written("%Y%3Y", &link), "L  L");
}

#[test]
fn without_metadata_nothing_that_needs_it_is_written() {
    let file = Fake {
        metadata: Err(Errno::ACCESS),
        ..Fake::default()
    };
    assert_eq!(written("a%p%s%%", &file), "");
    assert_eq!(written("%p %y", &file), "tree/dir/file f");
}

#[test]
fn odd_sizes() {
    let sized = |size, blocks| {
        let mut file = Fake::default();
        let metadata = file.metadata.as_mut().unwrap();
        metadata.set_size(size);
        metadata.set_blocks(blocks);
        written("%S %.2S", &file)
    };
    assert_eq!(sized(0, 0), "1 1");
    assert_eq!(sized(0, 5), "inf inf");
    assert_eq!(sized(12_288_004_096, 8), "3.33333e-07 3.3e-07");
    assert_eq!(sized(1 << 63, 8), "-4.44089e-16 -4.4e-16");
}

#[test]
fn birth_where_it_is_known() {
    let mut file = Fake::default();
    assert_eq!(written("%B@", &file), "7.0000000000");
    let metadata = file.metadata.as_mut().unwrap();
    metadata.retain(Fields::all() - Fields::BTIME);
    assert_eq!(written("[%B@%3BY]", &file), "[   ]");
}

#[test]
fn terminals_get_no_escapes_from_names() {
    let file = Fake {
        path: b"t\x1b/\x07x".to_vec(),
        root_len: 2,
        file_type: FileType::Symlink,
        link_target: Some(b"\x01".to_vec()),
        ..Fake::default()
    };
    let format = Format::parse(b"%p %f %h %P %l %4f|\\7", &mut Vec::new()).unwrap();
    let mut out = Vec::new();
    format.write_to_terminal(&file, &mut out);
    assert_eq!(out, b"t?/?x ?x t? ?x ?   ?x|\x07");
    out.clear();
    format.write(&file, &mut out);
    assert!(out.starts_with(b"t\x1b/\x07x "));
    out.clear();
    let root = Format::parse(b"%H", &mut Vec::new()).unwrap();
    root.write_to_terminal(&file, &mut out);
    assert_eq!(out, b"t?");
}

#[test]
fn terminals_get_no_escapes_from_file_systems_and_accounts() {
    let mut file = Fake {
        file_system: b"fuse.\x1b]0;x\x07\x7f\xc2\x9b".to_vec(),
        context: b"c\x1b".to_vec(),
        account: b"u\x1b\xff".to_vec(),
        ..Fake::default()
    };
    file.metadata.as_mut().unwrap().set_gid(0);
    let format = Format::parse(b"%F|%Z|%u|%5g", &mut Vec::new()).unwrap();
    let mut out = Vec::new();
    format.write_to_terminal(&file, &mut out);
    assert!(out.starts_with(b"fuse.?]0;x???"), "{}", out.escape_ascii());
    assert!(out.ends_with(b"|c?|u??|  u??"), "{}", out.escape_ascii());
    out.clear();
    format.write(&file, &mut out);
    assert!(out.starts_with(b"fuse.\x1b]0;x\x07\x7f\xc2\x9b|c\x1b|u\x1b\xff|"));
}
