use super::*;

#[test]
fn runs_go_on_where_both_sides_do() {
    let run = |logical, physical, length| Run {
        logical,
        physical,
        length,
    };
    let first = run(0, 4096, 8192);
    assert!(first.is_continued_by(&run(8192, 12_288, 1)));
    for other in [
        run(8192, 12_289, 1),
        run(8193, 12_288, 1),
        run(0, 4096, 8192),
    ] {
        assert!(!first.is_continued_by(&other), "{other:?}");
    }
    // Numbers of a damaged file system.
    assert!(!run(u64::MAX, 0, 2).is_continued_by(&run(1, 2, 3)));
}
