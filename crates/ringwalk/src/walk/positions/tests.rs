use super::*;

#[test]
fn the_running_kernel_has_a_version() {
    assert!(kernel_is_at_least(2, 6));
    assert!(!kernel_is_at_least(1000, 0));
}

#[test]
fn another_open_file_goes_on_with_the_same_entry() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..500 {
        std::fs::write(folder.path().join(format!("file-{number}")), "").unwrap();
    }
    let fd = open_directory(rustix::fs::CWD, folder.path(), false).unwrap();
    next_entries(&fd, 1024, |_, _, _| {}).unwrap();
    let position = rustix::fs::tell(&*fd).unwrap().cast_signed();
    assert_eq!(probe(&fd, position).unwrap(), ResumePoint::At(position));
    assert_eq!(
        rustix::fs::tell(&*fd).unwrap().cast_signed(),
        position,
        "the probe has moved the position"
    );
    while next_entry(&fd).unwrap().is_some() {}
    let end = rustix::fs::tell(&*fd).unwrap().cast_signed();
    assert_eq!(probe(&fd, end).unwrap(), ResumePoint::AtEnd);
}

/// The entries that a probe has read would be missing, and nobody would know.
#[test]
fn a_position_that_lseek_refuses_is_none_to_resume_point_at() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let fd = open_directory(rustix::fs::CWD, folder.path(), false).unwrap();
    assert_eq!(resume_point_at(&fd, -1).unwrap(), ResumePoint::Declined);
    assert!(next_entry(&fd).unwrap().is_some(), "an entry was lost");
    assert_eq!(probe(&fd, -1).unwrap(), ResumePoint::Lost(Errno::INVAL));
}
