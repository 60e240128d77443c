//! Which source `auto` comes to, for those who want to know before a walk.

use crate::options::SourceChoice;
use crate::source::KernelSide;
use crate::stat::Wanted;
use crate::summary::{source_name, source_reason};
use crate::volume::Bulk;
use crate::walk::Walk;

/// A source, and why that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikelySource {
    /// As `--source` names it.
    pub source: &'static str,
    /// Words for people; empty if there is nothing to say.
    pub reason: String,
}

impl Walk {
    /// The source that this walk would read its first root by, once it is found not to be a small one. It is what the walk
    /// itself finds, except for what only shows on the way: that the walk is small, or that most of its files were changed lately.
    pub fn likely_source(&self) -> LikelySource {
        let options = self.options();
        let bulk = Bulk::new(options, None);
        bulk.open(options);
        let kernel = KernelSide::default();
        let asks = Wanted::entries(options).asks_all();
        if options.source == SourceChoice::Auto && !bulk.is_listing() && asks {
            kernel.look_for_all();
        }
        LikelySource {
            source: source_name(&bulk, &kernel),
            reason: source_reason(options, &bulk, &kernel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fields;

    #[test]
    fn a_source_of_the_kernel_that_is_refused_is_told_of() {
        struct Names;
        impl crate::Visitor for Names {
            type State = ();
            fn batch(&mut self, _: &crate::Batch<'_, ()>) -> crate::Flow {
                crate::Flow::Continue
            }
        }
        let dir = tempfile::tempdir().unwrap();
        for source in [SourceChoice::Module, SourceChoice::Ring] {
            let refused = Walk::new(dir.path()).source(source).check_source().err();
            let summary = Walk::new(dir.path()).source(source).run(|_| Names).summary;
            match refused {
                Some(refused) => {
                    assert_eq!(summary.source, "syscall");
                    assert_eq!(summary.source_reason, refused.reason());
                }
                None => assert_eq!(summary.source, source.as_str()),
            }
        }
    }

    #[test]
    fn what_has_no_better_source_is_read_by_system_calls() {
        let proc = Walk::new("/proc").likely_source();
        assert_eq!(proc.source, "syscall");
        assert!(!proc.reason.is_empty());
        // With metadata the module and the operations read all file systems, where a kernel has them.
        let proc = Walk::new("/proc").fields(Fields::SIZE).likely_source();
        assert!(["syscall", "module", "ring"].contains(&proc.source));
        let asked = Walk::new("/").source(SourceChoice::Syscall).likely_source();
        assert_eq!(asked.source, "syscall");
    }
}
