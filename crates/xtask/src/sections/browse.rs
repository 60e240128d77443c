//! Sections of the page of `ringwalk browse`. The keys come from the browser's own table.

use ringwalk_browse::keys::{Place, Section, TABLE};
use std::fmt::Write;

pub(super) const BROWSE: (&str, &str) = (
    "DESCRIPTION",
    "\
Shows a directory tree on the terminal, with what takes the most space first. A directory is shown \
at once, and its totals grow while it is read. A snapshot, the directory of ringwalk-cluster, and a \
file of ncdu are shown as they were saved.

Sizes are in bytes, with K, M, G, T and P for powers of 1024. A file with several hard links counts \
once in the whole tree: at its first name in the order of a snapshot. freeable is what the deletion \
of an entry would free: a file with names elsewhere frees nothing.",
);

pub(super) const BROWSE_FILTER: (&str, &str) = (
    "FILTER",
    "\
The filter and the marks take an expression of ringwalk find, such as -name '*.o' -mtime +30. With \
a filter, the list has only what matches and the directories above it, and totals are those of what \
matches. Expressions that do something, such as -delete or -exec, are refused.",
);

pub(super) const BROWSE_DELETION: (&str, &str) = (
    "DELETION",
    "\
Only what was shown is deleted. Each file is compared by device, inode number and time of birth \
right before it is removed. Where the file system keeps no times of birth, size and times of change \
are compared instead, and a file that has changed stays. Directories are opened one by one, \
without following links. The top, mount points and other file systems are refused. A directory to which something was added \
stays. The question before a deletion says how many entries it takes and how many bytes it frees. \
The answer is No unless you give another one. For more than 1000 entries you type their number.

Each deletion is written to ringwalk/deletions.jsonl in XDG_STATE_HOME. If that cannot be written, \
nothing is deleted.

With --trash, entries are moved to the trash of freedesktop.org on the same file system. Nothing is \
copied to another one.",
);

pub(super) const BROWSE_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* NO_COLOR: with any value, no colours are used.
* TERM: with the value dumb, there is an error, because the cursor cannot be moved.
* SHELL: the shell that is started in a directory; otherwise /bin/sh.
* XDG_STATE_HOME: the folder of the log; otherwise ~/.local/state.
* XDG_DATA_HOME: the folder of the trash; otherwise ~/.local/share.
* TMPDIR: the folder of the unnamed file for a file of ncdu or the directory of ringwalk-cluster; \
otherwise /tmp.
* COLUMNS, LINES: the size of the screen that --once prints; otherwise 80 and 24.
* RINGWALK_SOURCE, RINGWALK_WORKERS, RINGWALK_IN_FLIGHT, RINGWALK_PREFETCH, RINGWALK_SYNC: used \
when the option of the same name is not given.",
);

pub(super) const BROWSE_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: you have quit, or --once has printed the screen.
* 1: with --once, something could not be read, which is reported on standard error; or standard \
output could not be written.
* 2: the command line is invalid, an input cannot be read, or there is no terminal.
* 129, 130, 143: a signal has ended the program, which has given back the terminal.",
);

/// Returns the section of the keys.
pub(super) fn keys() -> String {
    let mut text = String::new();
    for section in Section::ALL {
        let _ = writeln!(text, "{}:", section.heading());
        for binding in TABLE.iter().filter(|binding| binding.section == section) {
            let place = match binding.place {
                Place::Anywhere => String::new(),
                place @ Place::List => format!(" ({})", place.words()),
            };
            let _ = writeln!(text, "* {}: {}{place}.", binding.names(), binding.help);
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}
