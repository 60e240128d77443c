use super::*;

fn message(answer: Result<Compare, Refusal>) -> String {
    match answer {
        Err(Refusal::Wrong(messages)) => messages.concat(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_lookup_is_not_an_unknown_name() {
    for name in ["nobody", "12"].map(OsStr::new) {
        for (errno, why) in [
            (Errno::NOMEM, "Cannot allocate memory"),
            (Errno::MFILE, "Too many open files"),
            (Errno::IO, "Input/output error"),
        ] {
            let said = message(account(name, Err(errno), "user", "unknown"));
            assert!(said.starts_with("cannot look up the user "), "{said}");
            assert!(said.ends_with(&format!(": {why}")), "{said}");
        }
    }
}

#[test]
fn names_come_before_numbers() {
    let found = |name, found| account(OsStr::new(name), Ok(found), "group", "unknown");
    assert_eq!(found("12", Some(7)), Ok(Compare::Exactly(7)));
    assert_eq!(found("12", None), Ok(Compare::Exactly(12)));
    assert!(message(found("x12", None)).starts_with("unknown: "));
}
