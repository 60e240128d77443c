use super::*;

fn arguments() -> Arguments {
    let mut arguments = Arguments::new();
    arguments.push(b"sh");
    arguments.push(b"-c");
    arguments
}

fn ran(succeeded: bool, message: Option<String>, find_fails: bool, ends: bool) -> Ran {
    Ran {
        succeeded,
        messages: message.into_iter().collect(),
        find_fails,
        ends,
    }
}

#[test]
fn for_one_file_only_the_value_counts() {
    let one = |how| of_one(&arguments(), b"file", how);
    let sh = quote::value(b"sh");
    assert_eq!(one(Ok(Ended::Exited(0))), ran(true, None, false, false));
    assert_eq!(one(Ok(Ended::Exited(1))), ran(false, None, false, false));
    let killed = format!("{sh} terminated by signal 9");
    assert_eq!(
        one(Ok(Ended::Signalled(9))),
        ran(false, Some(killed), false, false)
    );
    let missing = format!("{sh}: No such file or directory");
    assert_eq!(
        one(Err(Errno::NOENT)),
        ran(false, Some(missing), true, false)
    );
}

#[test]
fn for_many_files_the_status_counts() {
    let many = |how| of_many(&arguments(), how);
    let sh = quote::value(b"sh");
    assert_eq!(many(Ok(Ended::Exited(0))), ran(true, None, false, false));
    assert_eq!(many(Ok(Ended::Exited(77))), ran(true, None, true, false));
    let killed = format!("{sh} terminated by signal 15");
    assert_eq!(
        many(Ok(Ended::Signalled(15))),
        ran(true, Some(killed), true, false)
    );
    let denied = format!("{sh}: Permission denied");
    assert_eq!(
        many(Err(Errno::ACCESS)),
        ran(true, Some(denied), true, false)
    );
}

#[test]
fn without_processes_the_search_ends() {
    let message = "cannot fork: Resource temporarily unavailable".to_owned();
    let expected = ran(false, Some(message), true, true);
    assert_eq!(of_one(&arguments(), b"file", Err(Errno::AGAIN)), expected);
    assert!(of_many(&arguments(), Err(Errno::AGAIN)).ends);
}

#[test]
fn what_does_not_fit_is_named() {
    let message = format!("command too long: {}", quote::value(b"file"));
    let expected = ran(false, Some(message), true, false);
    assert_eq!(of_one(&arguments(), b"file", Err(Errno::TOOBIG)), expected);
}

#[test]
fn the_trace_has_all_words() {
    let (sh, c) = (quote::value(b"sh"), quote::value(b"-c"));
    assert_eq!(
        starting(&arguments()),
        format!("DebugExec: launching process (argc=2): {sh} {c}")
    );
}
