//! `--do`: announces what the action frees, asks, and does it.

use super::text::counted;
use crate::console;
use crate::quote::quoted;
use crate::status::{Ended, trouble};
use ringwalk_delete::{Log, TrashOptions};
use ringwalk_dupes::Found;
use ringwalk_dupes::act::{
    Action, Done, Freed, Group, Observer, Reason, Roots, Settings, act, plan,
};
use ringwalk_text::SizeFormat;

/// Announces what the action frees, asks on a terminal, and does it. Returns false if a file was
/// kept that was to be changed, or would be.
pub(super) fn run(
    found: &Found,
    action: Action,
    dry_run: bool,
    sizes: SizeFormat,
) -> Result<bool, Ended> {
    let roots = Roots::open(found.roots());
    let groups: Vec<Group> = found
        .groups()
        .filter_map(|group| Group::of(&group, &roots, action))
        .collect();
    let mut report = Report {
        roots: &roots,
        groups: &groups,
        verb: "would be kept",
        kept: 0,
    };
    let freed = plan(&roots, &groups, action, |what, reason| {
        // `act` reports them otherwise.
        if dry_run {
            report.kept(what, reason);
        }
    });
    console::note(announcement(&freed, action, sizes));
    if dry_run || groups.is_empty() {
        return Ok(report.kept == 0);
    }
    // Without a name to change there is nothing to ask. `act` still reports why each file is kept.
    if freed.names > 0 && console::stdin_is_terminal() {
        if !console::stderr_is_terminal() {
            return Err(trouble(
                "the question would not be seen, as standard error is no terminal; without a \
                 question: </dev/null",
            ));
        }
        if !console::ask(b"Go on? [y/N] ") {
            console::note("nothing was changed");
            return Ok(true);
        }
    }
    let log = Log::open_default().map_err(trouble)?;
    let settings = Settings {
        action,
        trash: TrashOptions::from_environment(),
    };
    report.verb = "was kept";
    let outcome = act(&roots, &groups, &settings, &log, &mut report).map_err(trouble)?;
    let done = counted(outcome.done, "name", "names");
    let (freed, kept) = (sizes.size(outcome.freed), report.kept);
    let bound = bound(outcome.may_be_more, outcome.may_be_less);
    console::note(format_args!(
        "{done} done, {bound}{freed} freed, {kept} kept"
    ));
    Ok(kept == 0)
}

/// Returns what the action would do.
fn announcement(freed: &Freed, action: Action, sizes: SizeFormat) -> String {
    let names = counted(freed.names, "name", "names");
    let are = if freed.names == 1 { "is" } else { "are" };
    let what = match action {
        Action::Dedupe => {
            let files = counted(freed.files, "file", "files");
            format!("{files} {are} to share blocks")
        }
        Action::Hardlink if freed.names == 1 => "1 name is to become a hard link".to_owned(),
        Action::Hardlink => format!("{names} are to become hard links"),
        Action::Delete => format!("{names} {are} to be deleted"),
        Action::Trash => format!("{names} {are} to go to the trash"),
    };
    let bytes = sizes.size(freed.bytes);
    let when = if action == Action::Trash {
        " when it is emptied"
    } else {
        ""
    };
    let unknown = counted(freed.unknown, "file", "files");
    let shared = counted(freed.shared, "file", "files");
    let bound = bound(freed.shared > 0, freed.unknown > 0);
    let why = match (freed.unknown, freed.shared) {
        (0, 0) => String::new(),
        (0, _) => format!(": {shared} may share blocks with other files"),
        (_, 0) => format!(": it is not known which blocks of {unknown} are shared"),
        _ => format!(
            ": {shared} may share blocks with other files, and it is not known which blocks of \
             {unknown} are shared"
        ),
    };
    format!("{what}, which frees {bound}{bytes}{when}{why}")
}

/// Returns what stands before a number that may be more or less in truth.
fn bound(may_be_more: bool, may_be_less: bool) -> &'static str {
    match (may_be_more, may_be_less) {
        (false, false) => "",
        (true, false) => "at least ",
        (false, true) => "at most ",
        (true, true) => "about ",
    }
}

struct Report<'r> {
    roots: &'r Roots,
    groups: &'r [Group],
    verb: &'static str,
    /// Names that were kept and were to be changed; of a dry run, files that would be.
    kept: u64,
}

impl Observer for Report<'_> {
    fn done(&mut self, _: Done, _: u64) {}

    fn kept(&mut self, what: Done, reason: &Reason) {
        // An earlier run has done it, or `cp --reflink`.
        if *reason == Reason::AlreadyShared {
            return;
        }
        self.kept += 1;
        let file = &self.groups[what.group].others[what.file];
        if let Some(name) = file.names().nth(what.name) {
            let path = self.roots.path(name);
            console::error(format_args!("{} {}: {reason}", quoted(&path), self.verb));
        }
    }

    fn cancelled(&mut self) -> bool {
        false
    }
}
