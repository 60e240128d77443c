use super::*;

fn info() -> Info {
    Info {
        roots: vec![RootInfo::new(b"/home"), RootInfo::new(b"/b\xff\\")],
        file_systems: vec![FileSystemInfo {
            uuid: Some("7d".to_owned()),
            kind: Some("ext4".to_owned()),
            mount_point: Some(Text::from(&b"/"[..])),
            subvolume: None,
            device: 64,
        }],
        users: [(0, Text::from(&b"root"[..]))].into(),
        ..Info::default()
    }
}

#[test]
fn a_footer_is_read_again() {
    let pairs = info().to_pairs(Contents::default());
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    assert_eq!(Info::from_pairs(&pairs).unwrap(), info());
}

#[test]
fn missing_and_damaged_keys_are_named() {
    let pairs = info().to_pairs(Contents::default());
    let pairs: BTreeMap<_, _> = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    for key in [keys::ROOTS, keys::VERDICT, keys::RUN] {
        let mut without = pairs.clone();
        without.remove(key);
        assert!(Info::from_pairs(&without).unwrap_err().contains(key));
        without.insert(key.to_owned(), "[1".to_owned());
        assert!(Info::from_pairs(&without).unwrap_err().contains(key));
    }
}
