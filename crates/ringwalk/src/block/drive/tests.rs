use super::submits_early;

/// Returns how many reads the calls submit that replace `over` reads of a ring.
fn calls(depth: u32, over: u32) -> Vec<u32> {
    let (mut calls, mut queued) = (Vec::new(), 0);
    let mut with_device = (depth - over) as usize;
    for _ in 0..over {
        queued += 1;
        if submits_early(depth, queued, with_device) {
            calls.push(queued);
            with_device += queued as usize;
            queued = 0;
        }
    }
    calls.extend((queued > 0).then_some(queued));
    calls
}

#[test]
fn a_device_with_few_reads_gets_some_early() {
    assert_eq!(calls(16, 16), [4, 4, 8]);
    assert_eq!(calls(32, 32), [8, 8, 16]);
    assert_eq!(calls(64, 40), [8, 32]);
}

#[test]
fn a_device_with_many_reads_gets_the_others_by_one_call() {
    assert_eq!(calls(64, 32), [32]);
    assert_eq!(calls(16, 6), [6]);
    assert_eq!(calls(2, 2), [2]);
    assert_eq!(calls(1, 1), [1]);
}
