use super::*;
use crate::fake::{FakeDeleter, Stage, sample};
use std::sync::Arc;

#[test]
fn deletion_needs_a_yes() {
    for keys in ["d<enter>", "dn", "d<esc>", "dq"] {
        let mut stage = Stage::new(sample(), 80, 24);
        stage.press(keys);
        assert!(
            stage.text().contains("nothing was deleted"),
            "{keys}: {}",
            stage.text()
        );
        assert!(stage.text().contains("/music"), "{keys}");
    }
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("dy");
    assert!(
        stage.text().contains("1 entry deleted, 4.0K freed"),
        "{}",
        stage.text()
    );
    assert!(!stage.text().contains("/music"), "{}", stage.text());
}

#[test]
fn deletion_of_many_needs_their_number() {
    let many = |into_trash| {
        let tree = sample();
        let deleter = FakeDeleter {
            tree: tree.clone(),
            into_trash,
            entries: Some(1001),
            is_endless: false,
        };
        Stage::with(tree, 80, 24, |services| {
            services.deleter = Ok(Arc::new(deleter));
        })
    };
    for keys in ["d<enter>", "d1000<enter>", "dy1001<backspace><enter>"] {
        let mut stage = many(false);
        stage.press(keys);
        assert!(
            stage.text().contains("nothing was deleted"),
            "{keys}: {}",
            stage.text()
        );
    }
    let mut stage = many(true);
    stage.press("d1001<enter>");
    assert!(
        stage.text().contains("moved into the trash"),
        "{}",
        stage.text()
    );
}

#[test]
fn a_deleted_directory_is_left() {
    let mut stage = Stage::new(sample(), 80, 24);
    // The mark is on the directory that is shown, or above it.
    stage.press("n");
    stage.press("\\src<enter><space>\\src<enter><enter><enter>");
    assert!(
        stage.line(0).starts_with("/srv/data/src/build"),
        "{}",
        stage.text()
    );
    stage.press("dy");
    assert!(stage.line(0).starts_with("/srv/data  "), "{}", stage.text());
}

#[test]
fn what_was_not_deleted_says_why() {
    let mut stage = Stage::new(sample(), 80, 24);
    stage.press("\\keep<enter>dy");
    assert!(
        stage.text().contains("Operation not permitted"),
        "{}",
        stage.text()
    );
    stage.press("jk");
    let line = stage.line(stage.line_of("keep.db").unwrap());
    assert!(line.contains('X'), "{line}");
    assert!(
        stage
            .line(23)
            .contains("not deleted: Operation not permitted"),
        "{}",
        stage.text()
    );
}

#[test]
fn a_deletion_is_cancelled() {
    let tree = sample();
    let deleter = FakeDeleter {
        tree: tree.clone(),
        into_trash: false,
        entries: None,
        is_endless: true,
    };
    let mut stage = Stage::with(tree, 80, 24, |services| {
        services.deleter = Ok(Arc::new(deleter));
    });
    stage.press("d");
    stage.app.key(Key::Char('y'));
    stage.draw();
    assert!(stage.text().contains("Esc cancels"), "{}", stage.text());
    stage.press("<esc>");
    assert!(stage.text().contains("cancelled"), "{}", stage.text());
}
