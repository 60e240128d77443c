use super::*;

#[test]
fn the_stack_decides_within_bounds() {
    let all = |stack, environment| Limit::new(stack, environment, 4096).all;
    assert_eq!(all(Some(8 << 20), 0), (2 << 20) - 2048);
    assert_eq!(all(Some(8 << 20), 1000), (2 << 20) - 3048);
    assert_eq!(all(Some(0), 0), (128 << 10) - 2048);
    assert_eq!(all(Some(1 << 30), 0), (6 << 20) - 2048);
    assert_eq!(all(None, 0), (6 << 20) - 2048);
    assert_eq!(all(Some(0), 1 << 20), 0);
}

#[test]
fn one_argument_has_a_limit_of_its_own() {
    let limit = Limit::new(None, 0, 4096);
    assert_eq!(limit.cost(b""), Some(9));
    assert_eq!(limit.cost(&vec![b'x'; 131_071]), Some(131_072 + 8));
    assert_eq!(limit.cost(&vec![b'x'; 131_072]), None);
}
