use super::*;
use std::sync::mpsc;

#[test]
fn a_thread_that_hangs_is_left_behind_for_good() {
    let mut read_ahead = ReadAheadThreads::new(None);
    let (go, wait) = mpsc::channel::<()>();
    read_ahead.process = std::process::id();
    read_ahead.shared.lock().reading = 1;
    // Hangs until the test ends.
    let hang = move || assert!(wait.recv().is_err());
    read_ahead.threads.push(std::thread::spawn(hang));
    read_ahead.end(Some(Instant::now()));
    // Dropping the threads must not wait for this one either.
    let (dropped, done) = mpsc::channel();
    std::thread::spawn(move || {
        drop(read_ahead);
        dropped.send(())
    });
    assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(()));
    drop(go);
}
