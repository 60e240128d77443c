//! Admission: the entries of a batch that count, by the rule and by the patterns of the host.

use std::sync::atomic::Ordering;

use ringwalk::{Batch, Entry, Errno, Metadata};
use ringwalk_gnu::{quote, reason};

use super::directory::DirectoryState;
use super::visitor::LineVisitor;
use crate::host::Host;
use crate::rule::{Charge, Verdict, why_nowhere};
use crate::totals::Totals;

/// An entry that counts.
pub(super) struct Counted<'b> {
    pub(super) metadata: &'b Metadata,
    /// Its totals, without what is below it.
    pub(super) own: Totals,
    pub(super) charge: Charge,
}

impl<H: Host> LineVisitor<'_, '_, H> {
    /// Returns an entry that counts. Returns `None` and has the walk not enter the entry if it does
    /// not count.
    pub(super) fn admit<'b>(
        &mut self,
        batch: &Batch<'b, DirectoryState>,
        entry: &Entry<'b, DirectoryState>,
    ) -> Option<Counted<'b>> {
        let counted = self.judge(batch, entry).and_then(|(metadata, charge)| {
            Some(Counted {
                metadata,
                own: self.own(batch, entry, metadata)?,
                charge,
            })
        });
        if counted.is_none() {
            entry.prune();
        }
        counted
    }

    /// Returns the totals of an entry by itself. Returns `None` after a report if they cannot be
    /// found out.
    fn own(
        &mut self,
        batch: &Batch<'_, DirectoryState>,
        entry: &Entry<'_, DirectoryState>,
        metadata: &Metadata,
    ) -> Option<Totals> {
        let mut own = self.common.measurement.totals(metadata);
        if let Some(exclusive) = &mut self.exclusive {
            match exclusive.bytes(batch, entry, metadata) {
                Ok(bytes) => own.size = bytes,
                Err(unknown) => {
                    let path = quote::file_always(&entry.path());
                    self.complain(&format!(
                        "cannot find out the exclusive space of {path}: {unknown}"
                    ));
                    return None;
                }
            }
        }
        Some(own)
    }

    fn judge<'b>(
        &mut self,
        batch: &Batch<'b, DirectoryState>,
        entry: &Entry<'b, DirectoryState>,
    ) -> Option<(&'b Metadata, Charge)> {
        if self.common.host.has_exclusions() {
            let length = self.path.len();
            self.path.extend_from_slice(entry.name());
            let excluded = self.common.host.excludes(&self.path);
            self.path.truncate(length);
            if excluded {
                return None;
            }
        }
        // If the metadata is missing, the error has been reported.
        let metadata = entry.metadata()?;
        match self.common.measurement.rule.judge(batch, metadata) {
            Verdict::Counts(charge) => Some((metadata, charge)),
            Verdict::LeftOut => None,
            Verdict::LeadsNowhere => {
                self.complain_of_link(batch, entry);
                None
            }
        }
    }

    /// Reports a failure.
    pub(super) fn complain(&self, message: &str) {
        self.common.host.report(message);
        self.common.failed.store(true, Ordering::Relaxed);
    }

    /// Reports a link that was to be followed and leads nowhere.
    fn complain_of_link(
        &self,
        batch: &Batch<'_, DirectoryState>,
        entry: &Entry<'_, DirectoryState>,
    ) {
        let path = quote::file_always(&entry.path());
        self.complain(&match why_nowhere(batch, entry) {
            Errno::NOENT => format!("cannot access {path}"),
            errno => format!("cannot access {path}: {}", reason(&errno.into())),
        });
    }
}
