//! Checks that other files are refused as the device. A guest with the module tests the device.

use super::*;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn refused(device: &CStr, number: &CStr) -> ModuleRefused {
    ModuleDevice::open_at(device, number).expect_err("it is none")
}

#[test]
fn where_there_is_nothing_it_is_missing() {
    assert_eq!(
        refused(c"/dev/no-such-device", NUMBER),
        ModuleRefused::Missing
    );
    let text = ModuleRefused::Missing.to_string();
    assert!(text.contains("not loaded"), "{text}");
}

#[test]
fn files_of_other_kinds_are_not_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ringwalk");
    let number = dir.path().join("dev");
    std::fs::write(&number, "1:3\n").unwrap();
    std::fs::write(&path, "").unwrap();
    let kind = ModuleRefused::Foreign("it is not a character device");
    assert_eq!(refused(&c_path(&path), &c_path(&number)), kind);
    // A symbolic link could refer to any device.
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    assert_eq!(refused(&c_path(&path), &c_path(&number)), kind);
}

#[test]
fn other_drivers_are_recognised_by_their_number() {
    let dir = tempfile::tempdir().unwrap();
    let number = dir.path().join("dev");
    let of = |text: &str| {
        std::fs::write(&number, text).unwrap();
        refused(c"/dev/null", &c_path(&number))
    };
    assert!(matches!(of("10:123\n"), ModuleRefused::Foreign(why) if why.contains("number")));
    assert!(matches!(of("nonsense"), ModuleRefused::Foreign(why) if why.contains("/sys")));
    std::fs::remove_file(&number).unwrap();
    let missing = refused(c"/dev/null", &c_path(&number));
    assert!(matches!(missing, ModuleRefused::Foreign(why) if why.contains("/sys")));
}

#[test]
fn a_driver_with_that_number_must_still_report_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let number = dir.path().join("dev");
    // /dev/null has the number 1:3 (Documentation/admin-guide/devices.txt).
    std::fs::write(&number, "1:3\n").unwrap();
    let answer = refused(c"/dev/null", &c_path(&number));
    assert_eq!(
        answer,
        ModuleRefused::Foreign("it does not report its version")
    );
}

#[test]
fn here_it_is_the_module_or_refused() {
    match ModuleDevice::open() {
        Ok(device) => assert_eq!(device.info().version, uapi::VERSION),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}
