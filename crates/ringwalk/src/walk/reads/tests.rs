use super::*;

const GOES_ON: FinishedRead = FinishedRead {
    end: false,
    rest: None,
};

const FINAL: FinishedRead = FinishedRead {
    end: true,
    rest: None,
};

#[test]
fn an_end_is_final_if_the_read_was_alone() {
    let reads = ReadsInFlight::default();
    for number in 1..3 {
        assert_eq!(reads.begin(number), Begun::Freely);
        assert_eq!(reads.finish(false), GOES_ON);
    }
    assert_eq!(reads.begin(3), Begun::Freely);
    assert_eq!(reads.finish(true), FINAL);
}

#[test]
fn an_end_is_not_final_while_another_read_is_in_flight() {
    let reads = ReadsInFlight::default();
    assert_eq!(reads.begin(1), Begun::Freely);
    assert_eq!(reads.begin(2), Begun::Freely);
    assert_eq!(reads.finish(true), GOES_ON);
    // The first read may still give entries back.
    assert_eq!(reads.begin(3), Begun::Waits);
    let rest = Some(3);
    assert_eq!(reads.finish(false), FinishedRead { end: false, rest });
    assert_eq!(reads.begin(3), Begun::Alone);
    assert_eq!(reads.finish(true), FINAL);
}

#[test]
fn a_rest_that_comes_after_the_last_read_is_read_alone() {
    let reads = ReadsInFlight::default();
    assert_eq!(reads.begin(1), Begun::Freely);
    assert_eq!(reads.begin(2), Begun::Freely);
    assert_eq!(reads.finish(true), GOES_ON);
    assert_eq!(reads.finish(false), GOES_ON);
    assert_eq!(reads.begin(3), Begun::Alone);
    // Entries were given back, and there are many of them.
    assert_eq!(reads.finish(false), GOES_ON);
    assert_eq!(reads.begin(4), Begun::Freely);
    assert_eq!(reads.begin(5), Begun::Freely);
    assert_eq!(reads.finish(false), GOES_ON);
}

#[test]
fn a_read_whose_companion_was_finished_before_was_not_alone() {
    let reads = ReadsInFlight::default();
    assert_eq!(reads.begin(1), Begun::Freely);
    assert_eq!(reads.begin(2), Begun::Freely);
    assert_eq!(reads.finish(false), GOES_ON);
    // This read may have seen the end before the other one gave entries back.
    assert_eq!(reads.finish(true), GOES_ON);
    assert_eq!(reads.begin(3), Begun::Alone);
    assert_eq!(reads.finish(true), FINAL);
}
