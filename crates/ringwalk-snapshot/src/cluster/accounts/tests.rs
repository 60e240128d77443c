use super::*;
use crate::schema::Contents;

fn part(task: u32, left: u32, resumed: Option<&[(u32, u32, u32)]>) -> PartFacts {
    PartFacts {
        version: 1,
        task,
        host: String::new(),
        root_devices: Vec::new(),
        directories: 0,
        left,
        resumed: resumed.map(<[_]>::to_vec),
        failures: 0,
        contents: Contents::default(),
    }
}

fn unread(parts: &[PartFacts]) -> Result<Vec<Unread>, String> {
    let mut accounts = Accounts::default();
    for part in parts {
        accounts.add(part)?;
    }
    accounts.unread()
}

#[test]
fn each_leftover_is_read_once() {
    let all = [
        part(1, 5, None),
        part(2, 1, Some(&[(1, 0, 2), (1, 4, 1)])),
        part(7, 0, Some(&[(1, 2, 2), (2, 0, 1)])),
    ];
    assert_eq!(unread(&all), Ok(Vec::new()));
}

#[test]
fn leftovers_that_nobody_has_read() {
    let all = [part(1, 5, None), part(2, 1, Some(&[(1, 1, 2)]))];
    let expected = [(1, 0..1), (1, 3..5), (2, 0..1)];
    let expected = expected.map(|(task, leftovers)| Unread { task, leftovers });
    assert_eq!(unread(&all).unwrap(), expected);
}

#[test]
fn what_cannot_be() {
    let twice = part(2, 0, Some(&[(1, 0, 2), (1, 1, 1)]));
    let beyond = part(2, 0, Some(&[(1, 0, 3)]));
    let unknown = part(3, 0, Some(&[(2, 0, 1)]));
    let behind = part(3, 0, Some(&[(9, 0, 1)]));
    for (other, expected) in [
        (twice, "leftover 1 of task 1 was read twice"),
        (beyond, "task 1 has left 2 leftovers, and 3 were read"),
        (unknown, "the part of task 2 is missing"),
        (behind, "the part of task 9 is missing"),
        (part(1, 0, None), "there is another part of task 1"),
        (
            part(2, 0, None),
            "2 parts have visited the roots, and one must have",
        ),
    ] {
        assert_eq!(unread(&[part(1, 2, None), other]).unwrap_err(), expected);
    }
}
