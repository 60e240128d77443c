//! The table of keys. Where ncdu or vi has a key for an action, the table has the same key.

use super::{Action, Binding, Key, Place, Section};
use Key::{Char, Ctrl};

/// Returns a row for a key that works everywhere.
const fn anywhere(
    section: Section,
    keys: &'static [Key],
    action: Action,
    help: &'static str,
) -> Binding {
    Binding {
        keys,
        action,
        help,
        place: Place::Anywhere,
        section,
    }
}

/// Returns a row for a key that works in the list and in the treemap.
const fn list(
    section: Section,
    keys: &'static [Key],
    action: Action,
    help: &'static str,
) -> Binding {
    Binding {
        keys,
        action,
        help,
        place: Place::List,
        section,
    }
}

use Section::{Choosing, Entries, Moving, Program, Sorting, Views};

/// The table of keys.
pub static TABLE: [Binding; 43] = [
    anywhere(Moving, &[Char('j'), Key::Down], Action::Down, "move down"),
    anywhere(Moving, &[Char('k'), Key::Up], Action::Up, "move up"),
    anywhere(
        Moving,
        &[Key::PageDown, Ctrl('d')],
        Action::PageDown,
        "move one screen down",
    ),
    anywhere(
        Moving,
        &[Key::PageUp, Ctrl('u')],
        Action::PageUp,
        "move one screen up",
    ),
    anywhere(
        Moving,
        &[Char('g'), Key::Home],
        Action::First,
        "move to the first line",
    ),
    anywhere(
        Moving,
        &[Char('G'), Key::End],
        Action::Last,
        "move to the last line",
    ),
    anywhere(
        Moving,
        &[Key::Enter, Char('l'), Key::Right],
        Action::Open,
        "open the directory, or show the file in its directory",
    ),
    anywhere(
        Moving,
        &[Key::Backspace, Char('h'), Key::Left],
        Action::Above,
        "go to the directory above, or back to the list",
    ),
    list(
        Sorting,
        &[Char('s')],
        Action::SortSize,
        "sort by apparent size",
    ),
    list(
        Sorting,
        &[Char('a')],
        Action::SortAlloc,
        "sort by allocated size",
    ),
    list(
        Sorting,
        &[Char('f')],
        Action::SortFreeable,
        "sort by what deletion frees",
    ),
    list(
        Sorting,
        &[Char('c')],
        Action::SortEntries,
        "sort by number of entries",
    ),
    list(
        Sorting,
        &[Char('m')],
        Action::SortMtime,
        "sort by last change",
    ),
    list(Sorting, &[Char('n')], Action::SortName, "sort by name"),
    list(Sorting, &[Char('o')], Action::SortOwner, "sort by owner"),
    list(
        Sorting,
        &[Char('w')],
        Action::SortGrowth,
        "sort by growth since the older snapshot",
    ),
    list(
        Sorting,
        &[Char('D')],
        Action::DirectoriesFirst,
        "directories first, or mixed",
    ),
    anywhere(
        Views,
        &[Char('A')],
        Action::Weight,
        "apparent or allocated sizes",
    ),
    anywhere(
        Views,
        &[Char('1')],
        Action::Largest,
        "largest files below the directory",
    ),
    anywhere(
        Views,
        &[Char('2')],
        Action::Extensions,
        "totals by extension",
    ),
    anywhere(Views, &[Char('3')], Action::Owners, "totals by owner"),
    anywhere(Views, &[Char('4')], Action::Ages, "totals by age"),
    anywhere(
        Views,
        &[Char('5')],
        Action::Unreadable,
        "what could not be read",
    ),
    anywhere(
        Views,
        &[Char('t')],
        Action::Treemap,
        "treemap of the directory",
    ),
    anywhere(
        Views,
        &[Key::Escape],
        Action::Close,
        "back to the list; in the list, end the filter",
    ),
    list(
        Choosing,
        &[Char('/')],
        Action::Filter,
        "show what matches an expression of find",
    ),
    list(
        Choosing,
        &[Char('\\'), Ctrl('f')],
        Action::Search,
        "search for a part of a name",
    ),
    list(Choosing, &[Ctrl('n')], Action::SearchAgain, "search again"),
    list(
        Choosing,
        &[Char(' ')],
        Action::Mark,
        "mark or unmark, and move down",
    ),
    list(
        Choosing,
        &[Char('v')],
        Action::Invert,
        "invert the marks of the directory",
    ),
    list(
        Choosing,
        &[Char('u')],
        Action::UnmarkAll,
        "unmark everything",
    ),
    list(
        Choosing,
        &[Char('M')],
        Action::MarkMatching,
        "mark what matches an expression of find",
    ),
    list(
        Entries,
        &[Char('i')],
        Action::Info,
        "everything about the entry",
    ),
    list(
        Entries,
        &[Char('d'), Key::Delete],
        Action::Delete,
        "delete the marked entries or this one",
    ),
    list(
        Entries,
        &[Char('x')],
        Action::Unshared,
        "what deletion frees, without shared extents",
    ),
    list(
        Entries,
        &[Char('r')],
        Action::Rescan,
        "read the entry again",
    ),
    list(
        Entries,
        &[Char('R')],
        Action::RescanDirectory,
        "read the directory again",
    ),
    list(
        Entries,
        &[Char('b')],
        Action::Shell,
        "start a shell in the directory",
    ),
    list(
        Entries,
        &[Char('e')],
        Action::Export,
        "export the directory to a file",
    ),
    anywhere(Program, &[Char('?')], Action::Help, "show the keys"),
    anywhere(
        Program,
        &[Ctrl('l')],
        Action::Redraw,
        "draw the screen anew",
    ),
    anywhere(
        Program,
        &[Ctrl('z')],
        Action::Suspend,
        "stop until the shell continues the program",
    ),
    anywhere(Program, &[Char('q'), Ctrl('c')], Action::Quit, "quit"),
];
