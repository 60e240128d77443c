use super::*;

fn line(items: &[&'static str]) -> Line<&'static str> {
    let mut line = Line::default();
    for item in items {
        if *item == "/" {
            line.subdirectory();
        } else {
            line.push(*item);
        }
    }
    line
}

fn collected(
    run: impl FnOnce(&Ordered<&'static str, &mut (dyn FnMut(&'static str) + Send)>),
) -> Vec<&'static str> {
    let mut out = Vec::new();
    let mut push = |item| out.push(item);
    let ordered = Ordered::new(&mut push as &mut (dyn FnMut(&'static str) + Send));
    run(&ordered);
    ordered.finish();
    out
}

#[test]
fn subdirectories_come_at_their_places() {
    let out = collected(|ordered| {
        let places = ordered.add_batch(ordered.roots(), 0..1, line(&["1", "/", "4", "/", "6"]));
        ordered.add_batch(&places[1], 0..1, line(&["5"]));
        ordered.close(&places[1], Some("5 end"));
        ordered.add_batch(&places[0], 0..1, line(&["2"]));
        ordered.close(&places[0], Some("3"));
    });
    assert_eq!(out, ["1", "2", "3", "4", "5", "5 end", "6"]);
}

#[test]
fn batches_come_in_order_whoever_is_first() {
    let out = collected(|ordered| {
        let places = ordered.add_batch(ordered.roots(), 0..1, line(&["/"]));
        ordered.add_batch(&places[0], 3..4, line(&["d"]));
        ordered.add_batch(&places[0], 1..2, line(&["b"]));
        ordered.add_batch(&places[0], 4..5, line(&["e"]));
        ordered.add_batch(&places[0], 0..1, line(&["a"]));
        ordered.close(&places[0], Some("end"));
    });
    assert_eq!(out, ["a", "b", "d", "e", "end"]);
}

#[test]
fn what_is_ready_comes_out_at_once() {
    let out = Mutex::new(Vec::new());
    let ordered = Ordered::new(|item| out.lock().unwrap().push(item));
    let places = ordered.add_batch(ordered.roots(), 0..1, line(&["1", "/", "3"]));
    assert_eq!(*out.lock().unwrap(), ["1"]);
    ordered.add_batch(&places[0], 0..1, line(&["2"]));
    assert_eq!(*out.lock().unwrap(), ["1", "2"]);
    ordered.close(&places[0], None);
    assert_eq!(*out.lock().unwrap(), ["1", "2", "3"]);
}

#[test]
fn what_lies_behind_a_directory_never_left_is_dropped() {
    let out = collected(|ordered| {
        ordered.add_batch(ordered.roots(), 0..1, line(&["1", "/", "3"]));
    });
    assert_eq!(out, ["1"]);
}

#[test]
fn workers_do_not_wait_for_a_consumer_that_panicked() {
    let begun = std::sync::Barrier::new(2);
    let ordered = Ordered::new(|item: usize| {
        if item == 0 {
            begun.wait();
            // Other workers have more items in the chain than it may hold. They wait, or will.
            std::thread::sleep(std::time::Duration::from_millis(50));
            panic!("the consumer's own");
        }
    });
    let places = [0, 1].map(|index| {
        let mut line = Line::default();
        line.subdirectory();
        ordered
            .add_batch(ordered.roots(), index..index + 1, line)
            .remove(0)
    });
    let one = |item| {
        let mut line = Line::default();
        line.push(item);
        line
    };
    std::thread::scope(|scope| {
        let consuming = scope.spawn(|| ordered.add_batch(&places[0], 0..1, one(0)));
        begun.wait();
        let mut line = Line::default();
        (1..MOST_HELD + 2).for_each(|item| line.push(item));
        ordered.add_batch(&places[1], 0..1, line);
        assert!(consuming.join().is_err());
    });
}

#[test]
fn slots_are_used_again() {
    let ordered = Ordered::new(drop::<u32>);
    for index in 0..10_000 {
        let mut line = Line::default();
        line.subdirectory();
        let places = ordered.add_batch(ordered.roots(), index..index + 1, line);
        ordered.close(&places[0], Some(1));
    }
    assert!(lock(&ordered.chain).slots() < 20);
}

#[test]
fn parts_of_a_batch_come_in_order_however_late_it_was_cut() {
    let out = collected(|ordered| {
        let places = ordered.add_batch(ordered.roots(), 0..1, line(&["/"]));
        let add = |numbers, item| drop(ordered.add_batch(&places[0], numbers, line(&[item])));
        // The batch of numbers 0 to 100 was cut at 50, then its first part at 10 and 30.
        add(100..200, "e");
        add(50..100, "d");
        add(10..30, "b");
        add(30..50, "c");
        add(0..10, "a");
        ordered.close(&places[0], Some("end"));
    });
    assert_eq!(out, ["a", "b", "c", "d", "e", "end"]);
}

#[test]
fn parts_come_out_as_soon_as_those_before_them_have_come() {
    let out = Mutex::new(Vec::new());
    let ordered = Ordered::new(|item| out.lock().unwrap().push(item));
    let places = ordered.add_batch(ordered.roots(), 0..1, line(&["/"]));
    ordered.add_batch(&places[0], 40..100, line(&["c"]));
    ordered.add_batch(&places[0], 0..20, line(&["a"]));
    assert_eq!(*out.lock().unwrap(), ["a"]);
    ordered.add_batch(&places[0], 20..40, line(&["b"]));
    assert_eq!(*out.lock().unwrap(), ["a", "b", "c"]);
}

#[test]
#[should_panic(expected = "numbers of a batch come once")]
fn numbers_that_came_before_are_refused() {
    let ordered = Ordered::new(drop::<&'static str>);
    ordered.add_batch(ordered.roots(), 0..10, line(&["a"]));
    ordered.add_batch(ordered.roots(), 0..10, line(&["a"]));
}
