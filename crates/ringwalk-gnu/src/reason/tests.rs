use super::*;

#[test]
fn reasons_are_the_systems_words() {
    assert_eq!(
        reason(&io::Error::from_raw_os_error(13)),
        "Permission denied"
    );
    assert_eq!(reason(&io::Error::other("no such thing")), "no such thing");
    let refused = no_thread(io::Error::from_raw_os_error(11));
    assert_eq!(
        reason(&refused),
        "cannot start a thread: Resource temporarily unavailable"
    );
}
