//! The loop over groups.

use super::attributes;
use super::compare::Comparison;
use super::dedupe;
use super::freed::{OfFile, Space, can_share};
use super::group::{Action, Done, File, Group, Name, Observer, Outcome, Settings};
use super::held::{Compared, Held, may_be_unwritten};
use super::reason::Reason;
use super::remove;
use super::replace::replace;
use super::roots::Roots;
use ringwalk::Timestamp;
use ringwalk_delete::{Identity, Line, Log, LogError, Mark, Trash};
use ringwalk_du::exclusive::Devices;
use ringwalk_hash::FileVersion;
use rustix::fs::fsync;
use rustix::time::{ClockId, clock_gettime};

/// Does the action with all groups. See the documentation of the module for the rules.
///
/// # Errors
///
/// If the log cannot be written. All names that were reported to the observer by then are done, and
/// at most one more.
pub fn act(
    roots: &Roots,
    groups: &[Group],
    settings: &Settings,
    log: &Log,
    observer: &mut dyn Observer,
) -> Result<Outcome, LogError> {
    announce(roots, groups, settings.action, log)?;
    let devices = Devices::default();
    let mut run = Run {
        roots,
        action: settings.action,
        trash: Trash::new(&settings.trash),
        log,
        observer,
        outcome: Outcome::default(),
        comparison: Comparison::new(),
        space: Space::new(&devices),
    };
    for (number, group) in groups.iter().enumerate() {
        run.group(number, group)?;
        if run.outcome.is_cancelled {
            break;
        }
    }
    log.sync()?;
    Ok(run.outcome)
}

/// Writes a line for each name, before anything is done.
fn announce(roots: &Roots, groups: &[Group], action: Action, log: &Log) -> Result<(), LogError> {
    for group in groups {
        let keep = bytes(roots, &group.keep.name);
        for file in &group.others {
            for name in file.names() {
                let path = bytes(roots, name);
                let line = Line::new("begin", &path, identity(&file.version));
                log.append(&line.action(action.word()).same_as(&keep))?;
            }
        }
    }
    log.sync()
}

fn bytes(roots: &Roots, name: &Name) -> Vec<u8> {
    roots.path(name).into_os_string().into_encoded_bytes()
}

fn identity(version: &FileVersion) -> Identity {
    Identity {
        device: version.dev,
        inode: version.ino,
        mark: version.btime.map(Mark::of_birth),
    }
}

struct Run<'r> {
    roots: &'r Roots,
    action: Action,
    trash: Trash,
    log: &'r Log,
    observer: &'r mut dyn Observer,
    outcome: Outcome,
    comparison: Comparison,
    space: Space<'r>,
}

/// What was done with a name.
struct Effect {
    freed: u64,
    /// As [`Outcome::may_be_more`].
    may_be_more: bool,
    /// As [`Outcome::may_be_less`].
    may_be_less: bool,
    /// Where it is in the trash.
    to: Option<Vec<u8>>,
}

impl Run<'_> {
    fn group(&mut self, number: usize, group: &Group) -> Result<(), LogError> {
        let mut keep = self.keep(&group.keep);
        for (place, file) in group.others.iter().enumerate() {
            self.outcome.is_cancelled |= self.observer.cancelled();
            if self.outcome.is_cancelled {
                break;
            }
            let mut file_version = file.version;
            for (name_number, name) in file.names().enumerate() {
                if self.action == Action::Dedupe && name_number > 0 {
                    break;
                }
                let what = Done {
                    group: number,
                    file: place,
                    name: name_number,
                };
                let result = match &mut keep {
                    Ok(keep) => self.name(keep, name, &mut file_version),
                    Err(reason) => Err(reason.clone()),
                };
                if let Err(reason @ Reason::Keep(_)) = &result {
                    // The last copy stays: nothing more in this group.
                    keep = Err(reason.clone());
                }
                self.report(what, name, file, &group.keep, result)?;
            }
        }
        Ok(())
    }

    /// Opens the file to keep, and makes sure that it is on the disk.
    fn keep(&self, file: &File) -> Result<Held, Reason> {
        let keep = Held::open(self.roots, &file.name, &file.version).map_err(Reason::of_keep)?;
        if self.action != Action::Dedupe && may_be_unwritten(keep.version(), now()) {
            fsync(keep.file()).map_err(|e| Reason::of("sync", e).of_keep())?;
        }
        Ok(keep)
    }

    /// Does the action with one name of a file. `version` is the version of the file after the
    /// changes to its other names.
    fn name(
        &mut self,
        keep: &mut Held,
        name: &Name,
        version: &mut FileVersion,
    ) -> Result<Effect, Reason> {
        let kept = keep.check(Compared::All);
        kept.and_then(|()| keep.check_name())
            .map_err(Reason::of_keep)?;
        let mut held = Held::open(self.roots, name, version)?;
        if keep.check_is(held.metadata()).is_ok() {
            return Err(Reason::Same);
        }
        if self.log.is(identity(version)) {
            return Err(Reason::Log);
        }
        if self.action == Action::Dedupe {
            return self.dedupe(keep, &held);
        }
        if self.action == Action::Hardlink {
            attributes::check(keep, &held)?;
        }
        let space = match self.action {
            Action::Trash => OfFile {
                bytes: 0,
                is_known: true,
                is_shared: false,
            },
            _ => self.space.of(held.file(), held.metadata()),
        };
        let done = self.compared(keep, &mut held);
        // Nobody waits for longer than the work on one file.
        keep.end_lease();
        // For the next name of this file: removing one name changes `ctime`.
        if held.renew().is_ok() {
            *version = *held.version();
        }
        let to = done?;
        let is_gone = held.links() == Some(0);
        Ok(Effect {
            freed: if is_gone { space.bytes } else { 0 },
            may_be_more: is_gone && space.is_shared,
            may_be_less: is_gone && !space.is_known,
            to,
        })
    }

    /// Takes the leases, compares, and does the action. Returns where the file is in the trash.
    fn compared(&mut self, keep: &mut Held, held: &mut Held) -> Result<Option<Vec<u8>>, Reason> {
        keep.lease().map_err(Reason::of_keep)?;
        held.lease()?;
        self.comparison.check(keep, held)?;
        match self.action {
            Action::Delete => remove::delete(keep, held).map(|()| None),
            Action::Trash => remove::trash(keep, held, &mut self.trash).map(Some),
            Action::Hardlink => replace(keep, held).map(|()| None),
            Action::Dedupe => Ok(None),
        }
    }

    fn dedupe(&mut self, keep: &Held, held: &Held) -> Result<Effect, Reason> {
        if keep.version().dev != held.version().dev && !can_share(held.file()) {
            return Err(Reason::OtherFileSystem);
        }
        if !can_share(held.file()) {
            return Err(Reason::NoSharing);
        }
        if held.version().size == 0 || dedupe::is_shared(keep, held) {
            return Err(Reason::AlreadyShared);
        }
        let before = self.space.of(held.file(), held.metadata());
        dedupe::share(keep, held)?;
        let after = self.space.of(held.file(), held.metadata());
        let is_known = before.is_known && after.is_known;
        Ok(Effect {
            freed: if is_known {
                before.bytes.saturating_sub(after.bytes)
            } else {
                0
            },
            may_be_more: !is_known || before.is_shared,
            may_be_less: false,
            to: None,
        })
    }

    fn report(
        &mut self,
        what: Done,
        name: &Name,
        file: &File,
        keep: &File,
        result: Result<Effect, Reason>,
    ) -> Result<(), LogError> {
        let path = bytes(self.roots, name);
        let identity = identity(&file.version);
        match result {
            Err(reason) => {
                self.outcome.kept += 1;
                self.observer.kept(what, &reason);
                self.log
                    .append(&Line::new("kept", &path, identity).reason(&reason))
            }
            Ok(done) => {
                self.outcome.done += 1;
                self.outcome.freed += done.freed;
                self.outcome.may_be_more |= done.may_be_more;
                self.outcome.may_be_less |= done.may_be_less;
                self.observer.done(what, done.freed);
                let event = match self.action {
                    Action::Dedupe => "shared",
                    Action::Hardlink => "linked",
                    Action::Delete => "deleted",
                    Action::Trash => "trashed",
                };
                let keep = bytes(self.roots, &keep.name);
                let line = Line::new(event, &path, identity);
                let line = line.size(file.version.size).same_as(&keep);
                self.log.append(&match &done.to {
                    Some(to) => line.to(to),
                    None => line,
                })
            }
        }
    }
}

fn now() -> Timestamp {
    let now = clock_gettime(ClockId::Realtime);
    Timestamp {
        secs: now.tv_sec,
        ..Timestamp::default()
    }
}
