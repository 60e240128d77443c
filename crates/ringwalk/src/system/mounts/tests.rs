//! Unit tests of `mounts.rs`.

use super::*;

const TABLE: &[u8] = br"22 1 0:21 / /proc rw,relatime shared:5 master:1 - proc proc rw
27 1 254:0 / / rw - ext4 /dev/root rw,discard
30 27 8:1 /sub /mnt/a\040b rw - xfs /dev/sda1 rw
31 27 8:2 / /mnt/a rw - btrfs /dev/sdb rw
32 31 0:50 / /mnt/a rw - tmpfs tmpfs rw
";

#[test]
fn lines_with_and_without_optional_fields() {
    let mounts = parse(TABLE).unwrap();
    assert_eq!(mounts.len(), 5);
    assert_eq!(mounts[0].id, 22);
    assert_eq!(mounts[0].file_system, "proc");
    assert_eq!(
        (mounts[0].parent, mounts[0].options.as_str()),
        (1, "rw,relatime")
    );
    let xfs = &mounts[2];
    assert_eq!(xfs.point, Path::new("/mnt/a b"));
    assert_eq!(
        (xfs.major, xfs.minor, xfs.root.as_path()),
        (8, 1, Path::new("/sub"))
    );
    assert_eq!(xfs.source, Path::new("/dev/sda1"));
    assert_eq!(mounts[1].super_options, "rw,discard");
    assert!(mounts[1].has_option("discard") && !mounts[1].has_option("disc"));
}

#[test]
fn a_type_may_have_blanks_and_bytes_that_are_no_text() {
    let line = b"30 27 0:300 /s /mnt rw - fuse.my\\040fs\\134\xff host:/ rw\n";
    let mounts = parse(line).unwrap();
    assert_eq!(mounts[0].file_system.as_bytes(), b"fuse.my fs\\\xff");
}

#[test]
fn escapes() {
    let unescape = |field| unescape(field).into_os_string().into_vec();
    assert_eq!(unescape(br"a\040\011\012\134b"), b"a \t\n\\b");
    assert_eq!(unescape(br"\04\9\400\"), br"\04\9\400\");
    assert_eq!(unescape(br"\377"), b"\xff");
}

#[test]
fn lines_that_are_not_understood_are_errors() {
    let good = "27 1 254:0 / / rw - ext4 /dev/root rw\n";
    for bad in [
        "nonsense\n",
        "\n",
        "x 1 254:0 / / rw - ext4 /dev/root rw\n",
        "27 1 254 / / rw - ext4 /dev/root rw\n",
        "27 1 254:0 / / rw ext4 /dev/root rw\n",
        "27 1 254:0 / / rw - ext4 /dev/root\n",
    ] {
        let table = format!("{good}{bad}");
        let error = parse(table.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("not understood"), "{bad}: {error}");
    }
    let cut = &good[..good.len() - 1];
    for table in ["", cut] {
        let error = parse(table.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("ends within"), "{error}");
    }
}

#[test]
fn the_id_decides_then_the_longest_and_last_point() {
    let mounts = parse(TABLE).unwrap();
    let id = |found: Option<&Mount>| found.map(|mount| mount.id);
    assert_eq!(
        id(find(&mounts, Some(31), Path::new("/elsewhere"))),
        Some(31)
    );
    assert_eq!(id(find(&mounts, None, Path::new("/mnt/a/deep"))), Some(32));
    assert_eq!(
        id(find(&mounts, Some(999), Path::new("/mnt/ab"))),
        Some(27),
        "not a component"
    );
    assert_eq!(id(find(&[], None, Path::new("/"))), None);
}
