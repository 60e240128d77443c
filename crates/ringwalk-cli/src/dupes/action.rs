//! `--do`: what is done with copies, after it was said.

use crate::console;
use crate::du::block_size::human_readable;
use crate::quote::quoted;
use crate::status::trouble;
use ringwalk_delete::{Log, TrashOptions};
use ringwalk_dupes::Found;
use ringwalk_dupes::act::{
    Action, Done, Freed, Group, Observer, Reason, Roots, Settings, act, plan,
};
use std::process::ExitCode;

/// Says what the action frees, asks on a terminal, and does it. Returns false if a file was kept
/// that was to be changed.
pub(super) fn run(found: &Found, action: Action, dry_run: bool) -> Result<bool, ExitCode> {
    let roots = Roots::open(found.roots());
    let groups: Vec<Group> = found
        .groups()
        .filter_map(|group| Group::of(&group, &roots))
        .collect();
    let freed = plan(&roots, &groups, action);
    console::note(announcement(&freed, action));
    if dry_run || freed.names == 0 {
        return Ok(true);
    }
    if console::can_ask() && !console::ask(b"Go on? [y/N] ") {
        console::note("nothing was changed");
        return Ok(true);
    }
    let log = Log::open_default().map_err(trouble)?;
    let settings = Settings {
        action,
        trash: TrashOptions::from_environment(),
    };
    let mut report = Report {
        roots: &roots,
        groups: &groups,
    };
    let outcome = act(&roots, &groups, &settings, &log, &mut report).map_err(trouble)?;
    let (done, freed) = (outcome.done, human_readable(outcome.freed));
    console::note(format_args!(
        "{done} names done, {freed} freed, {} kept",
        outcome.kept
    ));
    Ok(outcome.kept == 0)
}

/// Returns what the action would do.
fn announcement(freed: &Freed, action: Action) -> String {
    let (names, bytes) = (freed.names, human_readable(freed.bytes));
    let names = format!("{names} {}", if names == 1 { "name" } else { "names" });
    let what = match action {
        Action::Dedupe => format!("{} files are to share blocks", freed.files),
        Action::Hardlink => format!("{names} are to become hard links"),
        Action::Delete => format!("{names} are to be deleted"),
        Action::Trash => format!("{names} are to go to the trash"),
    };
    let unknown = match freed.unknown {
        0 => String::new(),
        files => format!(" at most: of {files} files it is not known whether they share blocks"),
    };
    let when = if action == Action::Trash {
        " when it is emptied"
    } else {
        ""
    };
    format!("{what}, which frees {bytes}{when}{unknown}")
}

struct Report<'r> {
    roots: &'r Roots,
    groups: &'r [Group],
}

impl Observer for Report<'_> {
    fn done(&mut self, _: Done, _: u64) {}

    fn kept(&mut self, what: Done, reason: &Reason) {
        let file = &self.groups[what.group].others[what.file];
        if let Some(name) = file.names().nth(what.name) {
            let path = self.roots.path(name);
            console::error(format_args!("{} was kept: {reason}", quoted(&path)));
        }
    }

    fn cancelled(&mut self) -> bool {
        false
    }
}
