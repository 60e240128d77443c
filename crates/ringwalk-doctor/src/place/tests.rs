use super::*;
use std::ffi::OsStr;

#[test]
fn a_directory_is_described() {
    let place = Place::read(Path::new("/proc")).unwrap();
    assert_eq!(place.file_system.as_deref(), Some("proc"));
    assert_eq!(place.mount_point.as_deref(), Some("/proc"));
    assert_eq!((place.device.path, place.unreadable), (None, None));
}

#[test]
fn what_is_no_directory_is_refused() {
    assert_eq!(
        Place::read(Path::new("/proc/self/status")).unwrap_err(),
        Errno::NOTDIR
    );
    assert_eq!(
        Place::read(Path::new("/proc/no such thing")).unwrap_err(),
        Errno::NOENT
    );
}

#[test]
fn a_path_that_is_not_text_keeps_its_bytes() {
    let name = OsStr::from_bytes(b"\xff0");
    let directory = std::env::temp_dir()
        .join(format!("ringwalk-{}", std::process::id()))
        .join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let place = Place::read(&directory).unwrap();
    std::fs::remove_dir_all(directory.parent().unwrap()).unwrap();
    assert!(place.path_hex.unwrap().ends_with("2fff30"));
}
