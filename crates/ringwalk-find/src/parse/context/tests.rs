use super::*;

#[test]
fn the_mask_is_that_of_the_process() {
    let file = tempfile::tempdir().unwrap();
    let file = file.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o666 & !read_mask().unwrap());
}
