use super::*;

#[test]
fn only_mode_2_is_a_filter() {
    assert!(has_filter("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
    assert!(!has_filter("Seccomp:\t0\nSeccomp_filters:\t2\n"));
}
