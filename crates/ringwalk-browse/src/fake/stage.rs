//! A browser on a screen in memory.

use super::{FakeActions, FakeComparison, FakeDeleter, FakeFilter, FakeTree};
use crate::screen::{self, Buffer};
use crate::service::Services;
use crate::tree::Id;
use crate::{App, Options, keys};
use jiff::tz::TimeZone;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A browser of a tree, and its screen.
pub(crate) struct Stage {
    pub(crate) tree: Arc<FakeTree>,
    pub(crate) actions: Arc<FakeActions>,
    pub(crate) app: App,
    buffer: Buffer,
}

impl Stage {
    /// Shows a tree with all services but a comparison.
    pub(crate) fn new(tree: Arc<FakeTree>, width: u16, height: u16) -> Self {
        Self::with(tree, width, height, |_| {})
    }

    /// Shows a tree, with other services.
    pub(crate) fn with(
        tree: Arc<FakeTree>,
        width: u16,
        height: u16,
        change: impl FnOnce(&mut Services),
    ) -> Self {
        let actions = Arc::new(FakeActions::default());
        let deleter = FakeDeleter {
            tree: Arc::clone(&tree),
            into_trash: false,
            entries: None,
            is_endless: false,
        };
        let mut services = Services {
            filter: Ok(Arc::new(FakeFilter(Arc::clone(&tree)))),
            comparison: Err("no older snapshot was given: --compare OLD".to_owned()),
            deleter: Ok(Arc::new(deleter)),
            actions: Ok(Arc::clone(&actions) as Arc<_>),
        };
        change(&mut services);
        let options = Options {
            colour: true,
            zone: TimeZone::UTC,
        };
        let app = App::new(Arc::clone(&tree) as Arc<_>, services, options).unwrap();
        let mut stage = Self {
            tree,
            actions,
            app,
            buffer: Buffer::new(width, height),
        };
        stage.settle();
        stage
    }

    /// Shows a tree with growth.
    pub(crate) fn compared(tree: Arc<FakeTree>, width: u16, height: u16) -> Self {
        Self::with(tree, width, height, |services| {
            services.comparison = Ok(Arc::new(FakeComparison));
        })
    }

    /// Presses keys, and waits for what they have started.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        for key in keys::parse(keys).unwrap() {
            self.app.key(key);
            self.settle();
        }
        self
    }

    /// Changes the size of the screen.
    pub(crate) fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.buffer = Buffer::new(width, height);
        self.settle();
        self
    }

    /// Waits until everything known is on the screen.
    pub(crate) fn settle(&mut self) {
        loop {
            self.app.update(Instant::now());
            if self.app.is_idle() {
                self.draw();
                if self.app.is_idle() {
                    return;
                }
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Draws once.
    pub(crate) fn draw(&mut self) {
        screen::draw(&mut self.app, &mut self.buffer);
        self.app.was_drawn(Instant::now());
    }

    /// Returns the screen as text.
    pub(crate) fn text(&self) -> String {
        self.buffer.text()
    }

    /// Returns true if a cell of the screen has a colour.
    pub(crate) fn has_colour(&self) -> bool {
        let mut cells = self.buffer.lines().flatten();
        cells.any(|cell| cell.style.colour.is_some())
    }

    /// Returns a line of the screen.
    pub(crate) fn line(&self, line: usize) -> String {
        self.text().lines().nth(line).unwrap_or_default().to_owned()
    }

    /// Returns the line that holds a text.
    pub(crate) fn line_of(&self, part: &str) -> Option<usize> {
        self.text().lines().position(|line| line.contains(part))
    }
}

/// Returns a small tree that was read to its end.
pub(crate) fn sample() -> Arc<FakeTree> {
    let tree = FakeTree::new();
    let music = tree.directory(Id(0), "music");
    tree.file(music, "one.flac", 41_000_000);
    tree.file(music, "two.flac", 38_500_000);
    let src = tree.directory(Id(0), "src");
    let build = tree.directory(src, "build");
    tree.file(build, "main.o", 120_000);
    tree.file(build, "lib.o", 2_400_000);
    tree.file(src, "main.c", 9_000);
    tree.file(Id(0), "notes.txt", 700);
    tree.file(Id(0), "keep.db", 12_000_000);
    tree.finish();
    Arc::new(tree)
}
