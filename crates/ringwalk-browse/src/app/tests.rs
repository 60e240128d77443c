use super::*;
use crate::fake::{FakeTree, Stage, sample};
use crate::keys::{self, Key};
use crate::tree::Id;
use std::time::Duration;

fn once(tree: Arc<FakeTree>, keys: &str) -> Result<String, String> {
    let services = Services::none("this is a test");
    let options = Options {
        colour: false,
        zone: TimeZone::UTC,
    };
    App::new(tree, services, options)
        .unwrap()
        .once(keys, 80, 24)
}

#[test]
fn once_prints_the_screen() {
    let text = once(sample(), "j<enter>").unwrap();
    assert!(text.contains("keep.db"), "{text}");
    assert!(text.contains("this is not a directory"), "{text}");
    let text = once(sample(), "<enter>").unwrap();
    assert!(text.starts_with("/srv/data/music"), "{text}");
    assert!(text.contains("one.flac"), "{text}");
    assert_eq!(text.lines().count(), 24);
}

#[test]
fn once_ends_at_quit_and_refuses_unknown_keys() {
    let text = once(sample(), "q<enter>").unwrap();
    assert!(text.starts_with("/srv/data "), "{text}");
    assert!(once(sample(), "<nokey>").is_err());
}

#[test]
fn missing_services_say_why() {
    for key in ["/", "M", "w", "d", "r", "R", "b", "e"] {
        let text = once(sample(), key).unwrap();
        assert!(text.contains("this is a test"), "{key}: {text}");
    }
}

#[test]
fn going_up_returns_to_the_directory() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("n");
    stage.press("G<enter>");
    assert!(
        stage.line(0).starts_with("/srv/data/src"),
        "{}",
        stage.text()
    );
    stage.press("<backspace>");
    let id = stage.app.current_id().unwrap();
    assert_eq!(stage.tree.items(&[id]).unwrap()[0].name, b"src");
    // And back in, the cursor is where it was.
    stage.press("lG");
    let inside = stage.app.current_id();
    stage.press("hl");
    assert_eq!(stage.app.current_id(), inside);
}

#[test]
fn largest_files_lead_to_their_directory() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("1j<enter>");
    assert!(
        stage.line(0).starts_with("/srv/data/music"),
        "{}",
        stage.text()
    );
    let id = stage.app.current_id().unwrap();
    assert_eq!(stage.tree.items(&[id]).unwrap()[0].name, b"two.flac");
}

#[test]
fn searching() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("\\NOTES<enter>");
    assert!(
        stage.text().contains("no name here holds NOTES"),
        "{}",
        stage.text()
    );
    stage.press("<c-f>e<enter>");
    let name = |stage: &Stage| {
        let id = stage.app.current_id().unwrap();
        stage.tree.items(&[id]).unwrap()[0].name.clone()
    };
    assert_eq!(name(&stage), b"keep.db");
    stage.press("<c-n>");
    assert_eq!(name(&stage), b"notes.txt");
    stage.press("<c-n>");
    assert_eq!(name(&stage), b"keep.db");
}

#[test]
fn marks_by_an_expression() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("M-name '*.o'<enter>");
    assert!(stage.text().contains("2 marked"), "{}", stage.text());
    stage.press("u");
    assert!(stage.app.marks.is_empty());
}

#[test]
fn a_directory_that_matches_is_marked_only_with_all_in_it() {
    let tree = FakeTree::new();
    let full = tree.directory(Id(0), "full.o");
    tree.file(full, "a.o", 1);
    let partial = tree.directory(Id(0), "partial.o");
    tree.file(partial, "a.o", 1);
    let other = tree.file(partial, "a.c", 1);
    tree.finish();
    let mut stage = Stage::new(Arc::new(tree), 80, 24);
    stage.press("M-name '*.o'<enter>");
    assert!(stage.app.marks.contains(full));
    assert!(!stage.app.marks.contains(partial));
    assert!(!stage.app.marks.contains(other));
    assert!(
        stage.text().contains("not marked: 1 directory"),
        "{}",
        stage.text()
    );
}

#[test]
fn a_mark_below_a_marked_directory_counts_once() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("<space>gl<space>");
    let totals = stage.app.mark_totals.unwrap();
    assert_eq!((totals.marked, totals.entries), (2, 3));
}

#[test]
fn a_pane_follows_its_directory() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("t<enter>");
    assert!(stage.text().contains("two.flac"), "{}", stage.text());
    stage.press("h");
    assert!(stage.text().contains("keep.db"), "{}", stage.text());
}

#[test]
fn actions_get_what_is_shown() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("r<enter>Re");
    stage.press("x.txt<enter>");
    assert!(
        stage.text().contains("must end in .ndjson"),
        "{}",
        stage.text()
    );
    stage.press("<c-u>x.ndjson<enter>");
    assert!(
        stage.text().contains("exported to x.ndjson"),
        "{}",
        stage.text()
    );
    stage.press("/-name '*.flac'<enter>ey.json<enter>");
    assert!(
        stage.text().contains("what matches was exported to y.json"),
        "{}",
        stage.text()
    );
    stage.press("eexists.json<enter>");
    assert!(
        stage.text().contains("cannot export: the file exists"),
        "{}",
        stage.text()
    );
    stage.press("x");
    assert!(
        stage.text().contains("frees 1.0M without shared"),
        "{}",
        stage.text()
    );
    stage.press("vx");
    assert!(
        stage
            .text()
            .contains("2 marked: frees at least 1.0M without shared extents; 1 not known"),
        "{}",
        stage.text()
    );
    stage.press("udx");
    assert!(
        stage.text().contains("frees 1.0M without shared") && stage.text().contains("y/N"),
        "{}",
        stage.text()
    );
    stage.press("nb");
    assert_eq!(stage.app.take_wish(), Some(Wish::Shell(b"music".to_vec())));
    assert_eq!(
        *stage.actions.0.lock().unwrap(),
        [
            "rescan 1",
            "rescan 1",
            "export 1 Ndjson x.ndjson",
            "export 1 Ncdu y.json matches"
        ]
    );
}

#[test]
fn nothing_is_drawn_while_nothing_changes() {
    let stage = &mut Stage::new(sample(), 80, 24);
    let later = Instant::now() + Duration::from_secs(60);
    stage.app.update(later);
    assert!(!stage.app.must_draw(later));
    stage.app.key(Key::Char('j'));
    assert!(stage.app.must_draw(later));
}

#[test]
fn growth_is_drawn_twenty_times_a_second() {
    let tree = Arc::new(FakeTree::new());
    let stage = &mut Stage::new(Arc::clone(&tree), 80, 24);
    let begin = Instant::now() + Duration::from_secs(60);
    stage.app.was_drawn(begin);
    tree.file(Id(0), "x", 1);
    stage.app.update(begin + Duration::from_millis(1));
    assert!(!stage.app.must_draw(begin + Duration::from_millis(49)));
    assert!(stage.app.must_draw(begin + Duration::from_millis(50)));
}

#[test]
fn the_rate_is_that_of_the_last_second() {
    let tree = Arc::new(FakeTree::new());
    let stage = &mut Stage::new(Arc::clone(&tree), 80, 24);
    let begin = Instant::now();
    stage.app.update(begin);
    for number in 0..500 {
        tree.file(Id(0), &number.to_string(), 1);
    }
    stage.app.update(begin + Duration::from_secs(1));
    assert!(
        (490..=500).contains(&stage.app.rate.unwrap()),
        "{:?}",
        stage.app.rate
    );
    tree.finish();
    stage.app.update(begin + Duration::from_secs(2));
    assert_eq!(stage.app.rate, None);
}

#[test]
fn keys_do_not_wait_for_a_listing() {
    let stage = &mut Stage::new(sample(), 80, 24);
    stage.tree.hold_listings(true);
    stage.tree.file(Id(0), "new", 1);
    stage.app.update(Instant::now() + Duration::from_secs(60));
    assert!(!stage.app.is_idle());
    for keys in ["j", "<space>", "<enter>", "n", "1", "<esc>"] {
        for key in keys::parse(keys).unwrap() {
            stage.app.key(key);
        }
        stage.app.update(Instant::now());
        assert!(stage.app.must_draw(Instant::now()), "{keys}");
        stage.draw();
    }
    assert!(
        stage.text().contains("reading the directory"),
        "{}",
        stage.text()
    );
    stage.tree.hold_listings(false);
    stage.settle();
    assert!(stage.text().contains("build"), "{}", stage.text());
}
