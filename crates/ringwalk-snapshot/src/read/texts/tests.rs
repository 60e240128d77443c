use super::*;

#[test]
fn text_that_would_fill_the_memory_is_refused() {
    // Memory of zeros is not taken before it is written.
    let data = vec![0; MOST_TEXT + 1];
    let mut ends = Vec::new();
    assert_eq!(end_text(&data[..MOST_TEXT], &mut ends), Some(()));
    assert_eq!(end_text(&data, &mut ends), None);
    assert_eq!(ends, [u32::try_from(MOST_TEXT).unwrap()]);
}
