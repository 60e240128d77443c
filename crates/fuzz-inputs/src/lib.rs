//! Gives each fuzz target its committed inputs, as a unit test that needs no fuzzer.
//!
//! The targets are compiled from `fuzz/fuzz_targets`, as they are. They ask the crate
//! `libfuzzer_sys` for the macro `fuzz_target`; here that name means this crate, whose macro makes
//! a test of a target.

#![cfg(test)]
// The targets say `no_main` for the fuzzer; it has no meaning here.
#![allow(unused_attributes)]

extern crate self as libfuzzer_sys;

use arbitrary::{Arbitrary, Unstructured};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/fuzz_targets/dates.rs"]
mod dates;
#[path = "../../../fuzz/fuzz_targets/dirents.rs"]
mod dirents;
#[path = "../../../fuzz/fuzz_targets/expression.rs"]
mod expression;
#[path = "../../../fuzz/fuzz_targets/ext4.rs"]
mod ext4;
#[path = "../../../fuzz/fuzz_targets/hash_cache.rs"]
mod hash_cache;
#[path = "../../../fuzz/fuzz_targets/ncdu.rs"]
mod ncdu;
#[path = "../../../fuzz/fuzz_targets/printf.rs"]
mod printf;
#[path = "../../../fuzz/fuzz_targets/readdirplus.rs"]
mod readdirplus;
#[path = "../../../fuzz/fuzz_targets/regex.rs"]
mod regex;
#[path = "../../../fuzz/fuzz_targets/snapshot.rs"]
mod snapshot;

/// Makes a test of a fuzz target: it must accept all committed inputs. The macro stands behind the
/// targets, so that they find it by its path only.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: $type:ty| $body:block) => {
        #[test]
        fn accepts_its_committed_inputs() {
            $crate::for_each_input(module_path!(), |bytes| {
                if let Some($input) = $crate::decode::<$type>(bytes) {
                    $body
                }
            });
        }
    };
}

/// Returns a folder of the fuzzer.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz")
        .join(name)
}

/// Returns the paths in a folder.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).expect("the folder");
    listed
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// Calls `target` with each committed input of the target with this module.
fn for_each_input(module: &str, target: impl Fn(&[u8])) {
    let (_, name) = module.rsplit_once("::").expect("a module of this crate");
    let inputs = paths(&folder("corpus").join(name));
    assert!(!inputs.is_empty());
    for input in inputs {
        // A failed test shows what was printed last.
        println!("{}", input.display());
        target(&fs::read(input).expect("an input"));
    }
}

/// Returns an input as the type that a target takes, as the fuzzer does; `None` if the bytes do not
/// suffice.
fn decode<'b, T: Arbitrary<'b>>(bytes: &'b [u8]) -> Option<T> {
    T::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

#[test]
fn each_target_is_here() {
    for target in paths(&folder("fuzz_targets")) {
        let name = target.file_name().expect("a name").to_str().expect("text");
        assert!(include_str!("lib.rs").contains(&format!("/fuzz_targets/{name}\"]")));
    }
}
