//! Takes the documentation of functions and classes from the stub, so that `help(ringwalk.scan)`
//! says what an editor shows.
//!
//! Each docstring at the top level of `_ringwalk.pyi` becomes a file `NAME.txt` for `include_str!`.

use std::path::Path;
use std::{env, fs};

/// Where the stub is: beside this file in a checkout, at the top of the package's sdist.
const STUBS: [&str; 2] = [
    "python/ringwalk/_ringwalk.pyi",
    "../../python/ringwalk/_ringwalk.pyi",
];
const QUOTES: &str = "\"\"\"";

fn main() {
    let path = STUBS
        .into_iter()
        .find(|path| Path::new(path).exists())
        .expect("the stub is there");
    println!("cargo::rerun-if-changed={path}");
    let stub = fs::read_to_string(path).expect("the stub can be read");
    let out = env::var("OUT_DIR").expect("cargo says where files go");
    for (name, text) in docstrings(&stub) {
        fs::write(Path::new(&out).join(format!("{name}.txt")), text).expect("it can be written");
    }
}

/// Names of functions and classes, with their docstrings.
fn docstrings(stub: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut name = "";
    let mut lines = stub.lines();
    while let Some(line) = lines.next() {
        let is_end = |character: char| !character.is_alphanumeric() && character != '_';
        if let Some(rest) = line.strip_prefix("def ").or(line.strip_prefix("class ")) {
            name = rest.split(is_end).next().unwrap_or_default();
        }
        // Those of methods are further to the right.
        let Some(first) = line
            .strip_prefix("    ")
            .and_then(|line| line.strip_prefix(QUOTES))
        else {
            continue;
        };
        let mut text = String::new();
        let mut line = first;
        while !line.ends_with(QUOTES) {
            text.push_str(line);
            text.push('\n');
            line = lines.next().expect("the docstring ends");
            line = line.strip_prefix("    ").unwrap_or(line);
        }
        text.push_str(line.trim_end_matches(QUOTES));
        found.push((name, text));
    }
    found
}
