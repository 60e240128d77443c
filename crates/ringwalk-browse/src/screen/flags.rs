//! The characters before an entry.

use crate::app::App;
use crate::tree::{Item, Kind, ReadState};

/// The characters before an entry and what they say, for the help and the manual.
pub const FLAGS: [(char, &str); 11] = [
    ('*', "marked"),
    ('X', "could not be deleted: i says why"),
    ('!', "could not be read"),
    ('?', "something in it could not be read"),
    ('.', "it is being read"),
    ('>', "on another file system, not read"),
    (
        'H',
        "further name of a hard link, which counts under another name",
    ),
    ('@', "symbolic link"),
    ('=', "device, pipe or socket"),
    ('-', "gone since the older snapshot"),
    ('/', "before a name: a directory"),
];

/// Returns the flag of what is special about an entry: the most important one.
pub(crate) fn flag(app: &App, item: &Item) -> char {
    if app.kept.contains_key(&item.id) {
        return 'X';
    }
    match (item.state, item.kind) {
        (ReadState::Failed, _) => '!',
        (ReadState::OtherFileSystem, _) => '>',
        (ReadState::Reading, _) => '.',
        _ if item.errors > 0 => '?',
        _ if !item.charged => 'H',
        (_, Kind::Link) => '@',
        (_, Kind::Special) => '=',
        _ => ' ',
    }
}

/// Returns the sign of a mark.
pub(crate) fn mark(app: &App, item: &Item) -> char {
    if app.marks.contains(item.id) {
        '*'
    } else {
        ' '
    }
}
