use super::*;

#[test]
fn uuids_that_identify_nothing_are_none() {
    assert_eq!(uuid_text(&[]), None);
    assert_eq!(uuid_text(&[0; 16]), None);
    let bytes: Vec<u8> = (0..16).collect();
    let text = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    assert_eq!(uuid_text(&bytes).as_deref(), Some(text));
    assert_eq!(uuid_text(&bytes[..4]).as_deref(), Some("00010203"));
}
