//! The tree as JSON for the script of the page.
//!
//! Each column of the nodes is an array, which takes half the bytes of an object for each node.
//! The script is in `page.js`.

use super::Page;
use super::visible::visible_bytes;
use crate::report::Sums;
use ringwalk_text::SizeFormat;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Nanoseconds in an hour.
const HOUR: i64 = 3600 * 1_000_000_000;

#[derive(Serialize)]
struct Data<'p> {
    /// The path of the top, with a slash behind it if it is not empty.
    top: String,
    /// When the snapshot began, in hours since 1970.
    hour: i64,
    /// The base of the units of sizes: 1024, 1000, or 0 for bytes.
    base: u64,
    /// Names of owners.
    owners: Vec<String>,
    names: Vec<&'p str>,
    /// Index of the directory that holds the node; -1 for the first node.
    parents: Vec<i64>,
    /// A letter of find for each node.
    kinds: String,
    alloc: Vec<u64>,
    size: Vec<u64>,
    entries: Vec<u64>,
    /// Hours from the newest change to the start of the snapshot; null if that is not known.
    ages: Vec<Option<i64>>,
    /// Index of the owner; -1 if there is none.
    uids: Vec<i64>,
    /// Allocated bytes by which nodes have grown; empty without a comparison.
    growth: Vec<i64>,
    /// For directories that are not shown completely: allocated bytes, apparent bytes and entries
    /// of the rest.
    rest: BTreeMap<usize, [u64; 3]>,
    /// Failures and files that were left out.
    notes: BTreeMap<usize, String>,
}

/// Returns the JSON of a page. It has no `<`, so no element of HTML begins or ends in it.
pub(super) fn json(page: &Page) -> String {
    let nodes = &page.nodes;
    let (owners, uids) = owners(page);
    let rest = nodes.iter().enumerate();
    let rest = rest.filter(|(_, node)| node.rest != Sums::default());
    let hour = page.start().seconds / 3600;
    let hours = |mtime: i64| hour.saturating_sub(mtime.div_euclid(HOUR));
    let reasons = nodes.iter().enumerate();
    let reasons = reasons.filter_map(|(at, node)| Some((at, super::tables::note(node)?)));
    let sum = |of: fn(&Sums) -> u64| nodes.iter().map(|node| of(&node.sums)).collect();
    let data = Data {
        top: top(page),
        hour,
        base: match page.sizes {
            SizeFormat::Human => 1024,
            SizeFormat::Si => 1000,
            SizeFormat::Bytes => 0,
        },
        owners,
        names: nodes.iter().map(|node| &*node.name).collect(),
        parents: nodes.iter().map(|node| index(node.parent)).collect(),
        kinds: nodes.iter().map(|node| node.kind).collect(),
        alloc: sum(|sums| sums.alloc),
        size: sum(|sums| sums.size),
        entries: sum(|sums| sums.entries),
        ages: nodes.iter().map(|node| node.mtime.map(hours)).collect(),
        uids,
        growth: match page.growth {
            Some(_) => nodes.iter().map(|node| node.growth).collect(),
            None => Vec::new(),
        },
        rest: rest
            .map(|(at, node)| (at, [node.rest.alloc, node.rest.size, node.rest.entries]))
            .collect(),
        notes: reasons.collect(),
    };
    // Maps with keys of numbers, text and numbers always serialize.
    let json = serde_json::to_string(&data).unwrap_or_default();
    json.replace('<', "\\u003c")
}

/// Returns the path that stands before the names below the first node.
fn top(page: &Page) -> String {
    match page.nodes.first() {
        Some(node) if node.root != u32::MAX => visible_bytes(&page.absolute(node)),
        _ => String::new(),
    }
}

/// Returns the names of all owners, and the index of each node's owner.
fn owners(page: &Page) -> (Vec<String>, Vec<i64>) {
    let mut names = Vec::new();
    let mut indices = HashMap::new();
    let mut of = |uid: u32| {
        let index = *indices.entry(uid).or_insert(names.len());
        if index == names.len() {
            names.push(owner(page, uid));
        }
        index
    };
    let uids = page.nodes.iter().map(|node| index(node.uid.map(&mut of)));
    let uids = uids.collect();
    (names, uids)
}

/// Returns the name of an owner, or the number.
pub(super) fn owner(page: &Page, uid: u32) -> String {
    let name = page.info.users.get(&uid);
    name.map_or_else(|| uid.to_string(), |name| visible_bytes(&name.0))
}

fn index(index: Option<usize>) -> i64 {
    index
        .and_then(|index| i64::try_from(index).ok())
        .unwrap_or(-1)
}
