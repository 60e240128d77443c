use super::*;
use std::cell::Cell;

#[test]
fn names_and_numbers() {
    assert_eq!(user_by_name(b"root"), Ok(Some(0)));
    assert_eq!(group_by_name(b"root"), Ok(Some(0)));
    for name in [&b"no such name"[..], b"", b"root\0x", b"0"] {
        assert_eq!(user_by_name(name), Ok(None));
        assert_eq!(group_by_name(name), Ok(None));
    }
    let accounts = Accounts::default();
    for _ in 0..2 {
        assert_eq!(accounts.user_name(0), Ok(Some(&b"root"[..])));
        assert_eq!(accounts.group_name(0), Ok(Some(&b"root"[..])));
        assert_eq!(accounts.user_name(0x7fff_fff1), Ok(None));
        assert_eq!(accounts.group_name(0x7fff_fff1), Ok(None));
    }
}

#[test]
fn answers_are_remembered_and_errors_are_not() {
    let names = OnceMap::default();
    let asked = Cell::new(0);
    let ask = |id, answer: Result<Option<Vec<u8>>, Errno>| {
        let look_up = |_| {
            asked.set(asked.get() + 1);
            answer
        };
        remembered(&names, id, look_up).map(|name| name.map(<[u8]>::to_vec))
    };
    assert_eq!(ask(5, Err(Errno::IO)), Err(Errno::IO));
    assert_eq!(
        ask(5, Ok(Some(b"five".to_vec()))),
        Ok(Some(b"five".to_vec()))
    );
    assert_eq!(ask(5, Ok(None)), Ok(Some(b"five".to_vec())));
    assert_eq!(ask(6, Ok(None)), Ok(None));
    assert_eq!(ask(6, Err(Errno::IO)), Ok(None));
    assert_eq!(asked.get(), 3);
}
