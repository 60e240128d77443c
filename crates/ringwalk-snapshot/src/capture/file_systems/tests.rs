use super::*;
use std::os::unix::fs::MetadataExt;

/// Linux before 5.8 does not say on which mount a file is.
#[test]
fn a_file_without_a_mount_id_is_on_the_mount_above_it() {
    let met = FileSystems::default();
    let mut metadata = Metadata::default();
    metadata.set_dev(std::fs::metadata("/proc").unwrap().dev());
    met.meet(&metadata, || b"/proc/self".to_vec());
    let found = met.resolve();
    assert_eq!(found[0].kind.as_deref(), Some("proc"));
    assert_eq!(found[0].mount_point.as_ref().unwrap().0, b"/proc");
}

#[test]
fn uuids_that_identify_nothing_are_none() {
    assert_eq!(uuid_text(&[]), None);
    assert_eq!(uuid_text(&[0; 16]), None);
    let bytes: Vec<u8> = (0..16).collect();
    let text = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    assert_eq!(uuid_text(&bytes).as_deref(), Some(text));
    assert_eq!(uuid_text(&bytes[..4]).as_deref(), Some("00010203"));
}
