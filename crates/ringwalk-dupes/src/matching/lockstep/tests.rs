use super::*;

#[test]
fn parts_cover_a_file_once() {
    for size in [
        PIECE - 5,
        PIECE,
        PIECE + 1,
        4 * PIECE,
        16 * PIECE,
        100 * PIECE + 7,
    ] {
        let mut at = 0;
        let mut part = 1;
        loop {
            let range = range_of(part, size);
            assert_eq!(range.start, at);
            assert!(range.end > range.start, "part {part} of {size} is empty");
            at = range.end;
            if is_last(part, size) {
                break;
            }
            // All parts but the last end where a piece ends.
            assert_eq!(at % PIECE, 0);
            part += 1;
        }
        assert_eq!(at, size);
    }
}
