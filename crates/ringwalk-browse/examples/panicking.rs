//! A browser whose tree panics: on a worker thread when totals by extension are asked for (key
//! `2`), and on the thread that draws when the directory of a file is asked for (keys `1` and
//! Enter). The tests show with it that the terminal is given back, and that the message of the
//! panic is written even if this takes long.

use jiff::tz::TimeZone;
use ringwalk_browse::service::Services;
use ringwalk_browse::tree::{
    Group, GroupKey, Id, Item, Kind, Order, Progress, Tree, Unreadable, Weight,
};
use ringwalk_browse::{App, Options};
use std::sync::Arc;
use std::time::Duration;
use std::{io, panic, thread};

/// A tree of one file.
struct Panicking;

const TOP: Id = Id(0);
const FILE: Id = Id(1);

impl Tree for Panicking {
    fn top(&self) -> Id {
        TOP
    }

    fn path_of_top(&self) -> Vec<u8> {
        b"/panicking".to_vec()
    }

    fn progress(&self) -> Progress {
        Progress {
            entries: 2,
            finished: true,
            ..Progress::default()
        }
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        Vec::new()
    }

    fn items(&self, ids: &[Id]) -> io::Result<Vec<Item>> {
        let item = |id: &Id| Item {
            id: *id,
            name: b"file".to_vec(),
            kind: if *id == TOP {
                Kind::Directory
            } else {
                Kind::File
            },
            entries: 1,
            charged: true,
            ..Item::default()
        };
        Ok(ids.iter().map(item).collect())
    }

    fn parent(&self, id: Id) -> io::Result<Option<Id>> {
        // Workers ask for it as well, to show where a file is.
        let draws = thread::current().name() == Some("main");
        assert!(!(draws && id == FILE), "a panic on the thread that draws");
        Ok((id == FILE).then_some(TOP))
    }

    fn listing(&self, _: Id, _: Order) -> io::Result<Vec<Id>> {
        Ok(vec![FILE])
    }

    fn largest_files(&self, _: Id, _: Weight, _: usize) -> io::Result<Vec<Id>> {
        Ok(vec![FILE])
    }

    fn groups(&self, _: Id, _: GroupKey) -> io::Result<Vec<Group>> {
        panic!("a panic in a pane");
    }

    fn freeable(&self, _: &[Id]) -> io::Result<Option<u64>> {
        Ok(None)
    }
}

fn main() -> io::Result<()> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // Long enough for the browser to notice the panic, and to end before the message.
        thread::sleep(Duration::from_secs(1));
        usual(info);
    }));
    let options = Options {
        colour: true,
        zone: TimeZone::UTC,
    };
    let services = Services::none("this tree has none");
    let app = App::new(Arc::new(Panicking), services, options)?;
    app.run()?;
    Ok(())
}
