//! Unit tests of `choose/`.

use super::*;
use crate::Fields;

#[test]
fn a_refused_kernel_source_is_reported() {
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
fn file_systems_without_a_better_source_are_read_by_system_calls() {
    let proc = Walk::new("/proc").likely_source();
    assert_eq!(proc.source, "syscall");
    assert!(!proc.reason.is_empty());
    // With metadata, the module and the operations read all file systems, if a kernel has them.
    let proc = Walk::new("/proc").fields(Fields::SIZE).likely_source();
    assert!(["syscall", "module", "ring"].contains(&proc.source));
    let asked = Walk::new("/").source(SourceChoice::Syscall).likely_source();
    assert_eq!(asked.source, "syscall");
}
