use super::*;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn choosing_in_a_fork_takes_no_lock_of_the_parent() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..20 {
        std::fs::create_dir(dir.path().join(number.to_string())).unwrap();
    }
    let mut walk = OrderedWalk::new(dir.path()).threads(1);
    walk.next_directory().unwrap().unwrap();
    assert_eq!(walk.read_ahead.len(), 1);
    walk.read_ahead.leave_behind();
    // A thread of the parent held this lock when the parent forked.
    let shared = Arc::clone(&walk.read_ahead.shared);
    let _held = shared.lock();
    let (sender, chosen) = mpsc::channel();
    std::thread::spawn(move || {
        walk.choose(vec![Chosen::Entry(7), Chosen::Entry(3)]);
        let rest = std::iter::from_fn(|| walk.next_directory().map(|turn| turn.is_ok()));
        sender.send(rest.count())
    });
    assert_eq!(chosen.recv_timeout(Duration::from_secs(20)), Ok(2));
}
