//! One sum of a whole file system, which needs no names: see `ringwalk::Scan`.

use std::os::unix::ffi::OsStrExt as _;

use ringwalk::{FileType, Metadata, Scan, ScanVisitor, Summary};

use super::account::{Account, Event, Leave};
use super::config::{Config, Links};
use super::totals::{Links as LinkedFiles, Totals};
use crate::engine_options::EngineOptions;
use crate::progress::Progress;

/// Measures the only operand by a scan. `None` if it has to be walked.
pub(super) fn measure(
    config: &Config,
    engine: &EngineOptions,
    account: &mut Account,
) -> Option<Summary> {
    let [operand] = &config.operands[..] else {
        return None;
    };
    // Links are not followed by a scan, patterns are for names, and to tell what is shared a file must be opened.
    if !config.is_one_sum()
        || config.links == Links::Always
        || !config.exclude.is_empty()
        || config.exclusive
    {
        return None;
    }
    let scan = Scan::new(operand.as_os_str())
        .fields(config.fields())
        .follow(config.links == Links::Operands)
        .stay(config.stay());
    let scan = engine.apply_to_scan(scan);
    let progress = Progress::of_walk(engine.progress, scan.monitor());
    let scanned = scan.run(|_| Sum {
        config,
        totals: Totals::default(),
    });
    drop(progress);
    let outcome = scanned.ok()?;
    let mut totals = Totals::default();
    for visitor in &outcome.visitors {
        totals.add(&visitor.totals);
    }
    account.take(Event::Leave(Box::new(Leave {
        depth: 0,
        totals,
        links: LinkedFiles::default(),
        path: operand.as_bytes().to_vec(),
        complaint: None,
    })));
    Some(outcome.summary)
}

/// One thread's sum.
struct Sum<'a> {
    config: &'a Config,
    totals: Totals,
}

impl ScanVisitor for Sum<'_> {
    fn files(&mut self, files: &[Metadata]) {
        for file in files {
            let own = self.config.totals(file);
            let times = if self.config.count_links && file.file_type() != FileType::Directory {
                u64::from(file.nlink)
            } else {
                1
            };
            self.totals.add(&Totals {
                size: own.size.saturating_mul(times),
                inodes: own.inodes * times,
                time: own.time,
            });
        }
    }
}
