use super::*;

#[test]
fn a_line_is_found_by_worker_and_piece() {
    let line = LineAt::new(1023, 1 << 40).unwrap();
    assert_eq!((line.worker(), line.piece()), (1023, 1 << 40));
    assert_eq!(LineAt::new(0, 0), None);
}

#[test]
fn little_is_kept_with_a_directory() {
    assert_eq!(size_of::<DirState>(), 40);
}
