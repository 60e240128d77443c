//! Unit tests of `volume/`.

use super::*;

#[test]
fn reasons_are_for_people() {
    let errno = rustix::io::Errno::PERM;
    let reason = Refused::because(format!("/dev/sda: {errno}, twice"));
    assert_eq!(
        reason.to_string(),
        "/dev/sda: Operation not permitted, twice"
    );
    assert_eq!(Refused::because("plain").to_string(), "plain");
    assert_eq!(
        Refused::because("on fuse.\u{1b}[2J\n".to_owned()).to_string(),
        "on fuse.\\033[2J\\n"
    );
}
