use crate::fake::{FakeDeleter, FakeTree, Stage, sample};
use crate::tree::{Id, Kind, ReadState};
use std::sync::Arc;

/// Compares a screen with the stored one. `INSTA_UPDATE=always` stores it anew.
macro_rules! assert_screen {
    ($name:literal, $stage:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!($name, $stage.text()));
    };
}

#[test]
fn list() {
    let mut stage = Stage::new(sample(), 80, 24);
    assert_screen!("list-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("list-20x5", stage);
    stage.resize(300, 100);
    assert_screen!("list-300x100", stage);
}

#[test]
fn orders() {
    let mut stage = Stage::new(sample(), 80, 24);
    for (key, first) in [
        ("s", "music"),
        ("n", "keep.db"),
        ("n", "src"),
        ("c", "src"),
        ("m", "keep.db"),
        ("f", "music"),
        ("a", "music"),
    ] {
        stage.press(key);
        assert!(stage.line(3).contains(first), "{key}: {}", stage.text());
    }
    stage.press("Dng");
    assert!(
        stage.line(0).contains("by name, directories first"),
        "{}",
        stage.text()
    );
    assert!(stage.line(3).contains("music"), "{}", stage.text());
    stage.press("oo");
    assert!(
        stage.line(0).contains("by owner, reversed"),
        "{}",
        stage.text()
    );
    stage.press("A");
    assert!(stage.line(2).contains(" size "), "{}", stage.text());
}

#[test]
fn a_growing_tree() {
    let tree = Arc::new(FakeTree::new());
    let old = tree.directory(Id(0), "old");
    tree.file(old, "x", 50_000);
    let mut stage = Stage::new(Arc::clone(&tree), 80, 24);
    for number in 0..4 {
        tree.file(Id(0), &format!("early-{number}"), 200_000);
    }
    stage.settle();
    stage.press("G");
    let line = stage.line_of("/old").unwrap();
    for number in 0..60 {
        tree.file(Id(0), &format!("new-{number}"), number * 8192);
        tree.file(Id(0), &format!("tiny-{number}"), number);
    }
    stage.settle();
    assert_eq!(stage.line_of("/old"), Some(line), "{}", stage.text());
    assert_screen!("growing-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("growing-20x5", stage);
}

#[test]
fn panes() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("1");
    assert_screen!("largest-80x24", stage);
    stage.press("2");
    assert_screen!("extensions-80x24", stage);
    stage.press("3");
    assert_screen!("owners-80x24", stage);
    stage.press("4j");
    assert_screen!("ages-80x24", stage);
    stage.press("2").resize(20, 5);
    assert_screen!("extensions-20x5", stage);
    stage.press("1");
    assert_screen!("largest-20x5", stage);
}

#[test]
fn errors() {
    let tree = sample();
    let secret = tree.directory(Id(0), "secret");
    tree.fail(secret, "Permission denied");
    let mut stage = Stage::new(tree, 80, 24);
    assert_screen!("errors-list-80x24", stage);
    stage.press("5");
    assert_screen!("errors-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("errors-20x5", stage);
}

#[test]
fn treemap() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("t");
    assert_screen!("treemap-80x24", stage);
    stage.press("j").resize(20, 5);
    assert_screen!("treemap-20x5", stage);
    stage.resize(300, 100);
    assert_screen!("treemap-300x100", stage);
    stage.resize(80, 24).press("k<enter>");
    assert!(
        stage.line(0).contains("/srv/data/music"),
        "{}",
        stage.text()
    );
    assert!(stage.text().contains("one.flac"), "{}", stage.text());
}

#[test]
fn help() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("?");
    assert_screen!("help-80x24", stage);
    stage.press("G");
    assert_screen!("help-end-80x24", stage);
    stage.press("g").resize(20, 5);
    assert_screen!("help-20x5", stage);
    stage.resize(300, 100);
    assert_screen!("help-300x100", stage);
}

#[test]
fn prompts() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("/");
    assert_screen!("prompt-80x24", stage);
    stage.press("-nam '*.o'<enter>");
    assert_screen!("prompt-refused-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("prompt-20x5", stage);
}

#[test]
fn filter() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("/-name '*.o'<enter>");
    assert_screen!("filter-80x24", stage);
    stage.press("<enter>");
    assert_screen!("filter-below-80x24", stage);
    stage.press("<esc>");
    assert!(stage.text().contains("main.c"), "{}", stage.text());
}

#[test]
fn marks_and_details() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("j<space>");
    stage.press("<space>");
    assert_screen!("marks-80x24", stage);
    stage.press("gi");
    assert_screen!("details-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("details-20x5", stage);
    stage.press("G");
    assert!(
        stage.text().contains("Owner     root (0)"),
        "{}",
        stage.text()
    );
}

#[test]
fn growth() {
    let mut stage = Stage::compared(sample(), 80, 24);
    stage.press("w");
    assert_screen!("growth-80x24", stage);
    stage.resize(40, 10);
    assert_screen!("growth-40x10", stage);
}

#[test]
fn deletion() {
    let tree = sample();
    let mount = tree.directory(Id(0), "mount");
    tree.edit(mount, |item| item.state = ReadState::OtherFileSystem);
    let mut stage = Stage::new(tree, 80, 24);
    stage.press("vd");
    assert_screen!("deletion-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("deletion-20x5", stage);
    stage.resize(80, 24).press("y");
    assert_screen!("deleted-80x24", stage);
}

#[test]
fn deletion_of_many() {
    let tree = sample();
    let deleter = FakeDeleter {
        tree: Arc::clone(&tree),
        into_trash: true,
        entries: Some(1234),
        is_endless: false,
    };
    let mut stage = Stage::with(tree, 80, 24, |services| {
        services.deleter = Ok(Arc::new(deleter));
    });
    stage.press("d12");
    assert_screen!("deletion-many-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("deletion-many-20x5", stage);
}

#[test]
fn hostile_names() {
    let tree = FakeTree::new();
    let names: [&[u8]; 12] = [
        b"\x1b[2J\x1b[31mred",
        b"two\nlines\r\ttab",
        "safe\u{202e}txt.exe".as_bytes(),
        "zero\u{200b}width\u{feff}".as_bytes(),
        "漢字のとても長い名前がここにありますけれども画面には入りきらないはずです.txt".as_bytes(),
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}".as_bytes(),
        "z\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}a".as_bytes(),
        "\u{301}mark first".as_bytes(),
        b"not \xff utf-8 \xc3",
        "\u{9b}31m C1".as_bytes(),
        "\u{2764}\u{fe0f} heart".as_bytes(),
        "\u{1f389} party".as_bytes(),
    ];
    for (number, name) in names.iter().enumerate() {
        tree.add(Id(0), name, Kind::File, (20 - number as u64) * 4096);
    }
    let directory = tree.add(Id(0), b"dir\x07\n", Kind::Directory, 0);
    tree.add(directory, b"below\x1b", Kind::Link, 8192);
    tree.finish();
    let mut stage = Stage::new(Arc::new(tree), 80, 24);
    assert_screen!("hostile-80x24", stage);
    stage.resize(20, 5);
    assert_screen!("hostile-20x5", stage);
    stage.resize(80, 24).press("G<enter>i");
    assert_screen!("hostile-details-80x24", stage);
    stage.press("x1");
    assert_screen!("hostile-largest-80x24", stage);
    stage.press("t");
    assert_screen!("hostile-treemap-80x24", stage);
}

#[test]
fn colours_are_left_out_on_request() {
    let mut stage = Stage::compared(sample(), 80, 24);
    assert!(stage.has_colour());
    stage.app.options.colour = false;
    for keys in ["<space>", "1", "2", "t", "t?", "x/x<enter>", "<esc>d"] {
        stage.press(keys);
        assert!(!stage.has_colour(), "{keys}: {}", stage.text());
    }
}

#[test]
fn every_size_can_be_drawn() {
    let mut stage = Stage::compared(sample(), 80, 24);
    for keys in ["", "1", "2", "5", "t", "t?", "xi", "x/", "<esc>d"] {
        stage.press(keys);
        for (width, height) in [(1, 1), (2, 3), (3, 2), (5, 40), (19, 4), (200, 1), (60, 9)] {
            stage.resize(width, height);
        }
        stage.resize(80, 24);
    }
}
