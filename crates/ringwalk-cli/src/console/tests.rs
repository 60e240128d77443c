use super::*;

#[test]
fn messages_begin_with_the_programs_name() {
    assert_eq!(program(), "ringwalk");
}
