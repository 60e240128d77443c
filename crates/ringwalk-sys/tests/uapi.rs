//! Compares `ringwalk_sys::uapi` with the header of the kernel module, as a C compiler reads it.

use ringwalk_sys::uapi;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Returns sizes, offsets of fields and constants, by their expressions in C.
fn mirrored() -> BTreeMap<String, i128> {
    let mut all = BTreeMap::new();
    let number = |place: usize| i128::try_from(place).unwrap();
    let mut structure = |name: &str, size: usize, fields: &[(&str, usize)]| {
        all.insert(format!("sizeof(struct {name})"), number(size));
        for (field, place) in fields {
            all.insert(format!("offsetof(struct {name}, {field})"), number(*place));
        }
    };
    macro_rules! structures {
        ($($name:literal: $type:ident,)*) => {
            $(structure($name, size_of::<uapi::$type>(), uapi::$type::FIELDS);)*
        };
    }
    structures! {
        "ringwalk_sqe": Sqe,
        "ringwalk_info": Info,
        "ringwalk_getdents": Getdents,
        "ringwalk_fields": Fields,
        "ringwalk_readdirplus": Readdirplus,
        "ringwalk_readtree": Readtree,
        "ringwalk_group": Group,
        "ringwalk_entry": Entry,
        "ringwalk_stat": Stat,
        "ringwalk_time": Time,
    }
    let numbers = [
        ("RINGWALK_VERSION", i128::from(uapi::VERSION)),
        ("RINGWALK_MAGIC", i128::from(uapi::MAGIC)),
        ("RINGWALK_BUFFER_MAX", i128::from(uapi::BUFFER_MAX)),
        ("RINGWALK_F_INLINE", i128::from(uapi::F_INLINE)),
        ("RINGWALK_RESULT_END", i128::from(uapi::RESULT_END)),
        ("RINGWALK_OFF_CURRENT", i128::from(uapi::OFF_CURRENT)),
        ("RINGWALK_ENTRY_STAT", i128::from(uapi::ENTRY_STAT)),
        ("RINGWALK_IOC_INFO", i128::from(uapi::IOC_INFO)),
        ("RINGWALK_IOC_GETDENTS", i128::from(uapi::IOC_GETDENTS)),
        (
            "RINGWALK_IOC_READDIRPLUS",
            i128::from(uapi::IOC_READDIRPLUS),
        ),
        ("RINGWALK_IOC_READTREE", i128::from(uapi::IOC_READTREE)),
    ];
    all.extend(numbers.map(|(name, value)| (name.to_owned(), value)));
    all
}

/// Returns the text of a C program that prints the value of each expression.
fn program<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut text = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include <linux/ringwalk.h>\nint main(void)\n{\n",
    );
    for name in names {
        let (format, kind) = match name.as_str() {
            "RINGWALK_OFF_CURRENT" => ("%lld", "long long"),
            _ => ("%llu", "unsigned long long"),
        };
        let _ = writeln!(text, "printf(\"{name}={format}\\n\", ({kind})({name}));");
    }
    text + "return 0;\n}\n"
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no programs")]
fn the_mirror_is_the_header() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/module/include/uapi");
    if !include.exists() || Command::new("cc").arg("--version").output().is_err() {
        // A guest has neither the header nor a compiler.
        println!("skipped: no header here, or no C compiler");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (source, binary) = (dir.path().join("uapi.c"), dir.path().join("uapi"));
    let mirrored = mirrored();
    std::fs::write(&source, program(mirrored.keys())).unwrap();
    let compiled = Command::new("cc")
        .args(["-Wall", "-Werror", "-I"])
        .arg(&include)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .status();
    assert!(compiled.unwrap().success());
    let printed = Command::new(&binary).output().unwrap().stdout;
    let found: BTreeMap<String, i128> = String::from_utf8(printed)
        .unwrap()
        .lines()
        .filter_map(|line| line.rsplit_once('='))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect();
    assert_eq!(found, mirrored);
}
