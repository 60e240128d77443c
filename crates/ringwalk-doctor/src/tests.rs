use super::*;

#[test]
fn the_report_has_the_documented_keys() {
    let report = Report::of(Path::new("/"), None).unwrap();
    let value: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    for pointer in [
        "/version",
        "/kernel/release",
        "/kernel/io_uring/available",
        "/user/sys_admin",
        "/directory/file_system",
        "/sources/0/usable",
        "/sources/5/obstacles",
        "/sources/1/why_not_auto",
        "/prefetch/available",
        "/prefetch/obstacles",
        "/user/dac_read_search",
        "/limits/open_files_soft",
        "/limits/cpu_quota",
    ] {
        assert!(value.pointer(pointer).is_some(), "{pointer}");
    }
    assert_eq!(value.pointer("/directory/path").unwrap(), "/");
}
