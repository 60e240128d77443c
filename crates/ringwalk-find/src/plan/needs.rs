//! Which metadata each test and action asks for.

use crate::expression::{Action, Test, Time};
use crate::format::LS_FIELDS;
use ringwalk::Fields;

/// The fields that a test asks for; none if the name and the type that the directory has are enough.
pub(super) fn of_test(test: &Test) -> Fields {
    match test {
        Test::True
        | Test::False
        | Test::Name(_)
        | Test::Path(_)
        | Test::LinkName(_)
        | Test::Regex(_)
        | Test::Type(_)
        | Test::XType(_)
        | Test::Access(_)
        | Test::Context(_)
        | Test::Hidden => Fields::empty(),
        Test::Size { .. } | Test::Empty => Fields::SIZE,
        Test::Links(_) => Fields::NLINK,
        Test::Inode(_) | Test::SameFile(_) => Fields::INO,
        Test::Permission(_) => Fields::TYPE | Fields::MODE,
        Test::Uid(_) | Test::NoUser => Fields::UID,
        Test::Gid(_) | Test::NoGroup => Fields::GID,
        Test::Age(time, _) | Test::Newer(time, _) => of_time(*time),
        Test::Used(_) => Fields::ATIME | Fields::CTIME,
        Test::FileSystem(_) => Fields::MNT_ID,
    }
}

/// Returns true if a test asks for the type of a file.
pub(super) fn asks_type(test: &Test) -> bool {
    matches!(
        test,
        Test::Type(_) | Test::XType(_) | Test::LinkName(_) | Test::Empty
    )
}

/// The fields that an action asks for.
pub(super) fn of_action(action: &Action) -> Fields {
    match action {
        Action::Printf { format, .. } => format.fields(),
        Action::Ls { .. } => LS_FIELDS,
        Action::Print { .. }
        | Action::Execute(_)
        | Action::Delete
        | Action::Prune
        | Action::Quit => Fields::empty(),
    }
}

fn of_time(time: Time) -> Fields {
    match time {
        Time::Access => Fields::ATIME,
        Time::Birth => Fields::BTIME,
        Time::Change => Fields::CTIME,
        Time::Modification => Fields::MTIME,
    }
}
