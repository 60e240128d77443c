//! A search that must be able to read everything.

use ringwalk_dupes::{Found, Missed, Search};
use std::path::Path;
use std::sync::Mutex;

/// Searches below `top` with the options that `set` sets.
pub(crate) fn search(top: &Path, set: impl FnOnce(&mut Search)) -> Found {
    let mut search = Search::new([top]).unwrap();
    set(&mut search);
    let missed = Mutex::new(Vec::new());
    let walk = search.walk();
    let found = search
        .run(walk, &|error: Missed<'_>| {
            missed.lock().unwrap().push(format!("{error:?}"));
        })
        .unwrap();
    assert_eq!(missed.into_inner().unwrap(), Vec::<String>::new());
    found
}
