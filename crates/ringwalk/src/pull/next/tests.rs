use super::*;

#[test]
fn a_poll_and_back_is_the_same() {
    for next in [Next::Item(7), Next::End, Next::Pending] {
        assert_eq!(Next::from(next.into_poll()), next);
    }
}

#[test]
fn only_an_item_is_changed_and_taken() {
    assert_eq!(Next::Item(7).map(|item| item + 1), Next::Item(8));
    assert_eq!(Next::Item(7).item(), Some(7));
    for next in [Next::End, Next::Pending] {
        assert_eq!(next.map(|item: u32| item + 1), next);
        assert_eq!(next.item(), None);
    }
}
