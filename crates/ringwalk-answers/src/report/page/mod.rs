//! A page of HTML that shows a snapshot: `ringwalk report --format html`.
//!
//! ```text
//!   rows ──> choice ──> nodes, largest files ──> tree ──> page
//!    │                                            │
//!    ├──> report by owner and age                 └── growth, from a comparison
//!    └──> rows that could not be read
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `choose.rs` | the choice of the rows that the page shows |
//! | `outside.rs` | files of a subtree that are charged outside of it |
//! | `nodes.rs` | the chosen rows as a tree |
//! | `growth.rs` | growth of the nodes since an older snapshot, and the largest changes |
//! | `visible.rs` | text of others: escapes |
//! | `numbers.rs` | sizes, shares and dates as text |
//! | `data.rs` | the tree as JSON for the script |
//! | `tables.rs` | the parts of the page that need no script |
//! | `write.rs` | the page: template and parts |
//! | `page.html`, `page.css`, `page.js` | the template with its security policy, style, script |
//!
//! The page needs no network: the policy forbids it. Names are data of the script, which writes
//! them as text only.

mod choose;
mod data;
mod growth;
mod nodes;
mod numbers;
mod outside;
mod tables;
mod visible;
mod write;

use super::scope::Scope;
use super::{Key, Report, ReportError, ReportOptions};
use choose::{Limits, choose};
use growth::Growth;
use nodes::Node;
use outside::Outside;
use ringwalk_snapshot::{Info, Moment, RootInfo, RowCounter, Snapshot};
use ringwalk_text::SizeFormat;
use std::num::NonZeroUsize;
use visible::visible_bytes;

/// The files and directories that a page shows, unless there is another limit. With them, the page
/// of a tree with usual names has 1.2 MB.
pub const NODES: usize = 20_000;

/// Bytes of the page for each node, on average. If names are longer, fewer nodes fit.
const NODE_BYTES: usize = 80;

/// Bytes of the page for long names, such as the name of a root.
const SPARE_BYTES: usize = 64 << 10;

/// Lines of the tables.
const TOP_FILES: usize = 100;
const TOP_CHANGES: usize = 100;
const TOP_FAILURES: usize = 100;

/// What a page shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PageOptions {
    /// The largest number of files and directories in the diagrams: [`NODES`] by default. The
    /// others are added up.
    pub nodes: usize,
    /// The subtree to show: an absolute path in the snapshot, without symbolic links. `None` for
    /// everything. A file with several hard links then counts once within the subtree.
    pub under: Option<Vec<u8>>,
    /// How sizes are shown.
    pub sizes: SizeFormat,
    /// The number of threads. `None` for one on each CPU that the process may use.
    pub threads: Option<NonZeroUsize>,
    /// Counts the rows that were read, for a display of progress. Each is read twice.
    pub progress: RowCounter,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self {
            nodes: NODES,
            under: None,
            sizes: SizeFormat::default(),
            threads: None,
            progress: RowCounter::default(),
        }
    }
}

/// A page that can be written.
#[derive(Debug)]
pub struct Page {
    info: Info,
    /// The path that the page is about; `None` for all trees of the snapshot.
    under: Option<Vec<u8>>,
    /// How sizes are shown.
    sizes: SizeFormat,
    /// The first node is the top. A directory comes before everything below it.
    nodes: Vec<Node>,
    files: Vec<Node>,
    failed: Vec<Node>,
    /// Sums by owner and age.
    report: Report,
    growth: Option<Growth>,
}

impl Page {
    /// Returns the number of failures within the page. Files are missing from it if it is not 0.
    pub fn errors(&self) -> u64 {
        self.report.errors
    }

    /// Returns true if the page has a comparison with an older snapshot that is not certain: one of
    /// the two is incomplete.
    pub fn has_uncertain_growth(&self) -> bool {
        self.growth
            .as_ref()
            .is_some_and(|growth| !growth.is_certain)
    }

    /// Returns the absolute path of a node.
    fn absolute(&self, node: &Node) -> Vec<u8> {
        let root = usize::try_from(node.root).unwrap_or(usize::MAX);
        let root = self.info.roots.get(root);
        root.unwrap_or(&RootInfo::default()).absolute(&node.path)
    }

    /// Returns when the snapshot began.
    fn start(&self) -> Moment {
        self.info.run.start
    }
}

/// Makes the page of a snapshot. Memory depends on the number of nodes, not on the snapshot.
///
/// # Errors
///
/// When the snapshot cannot be read or does not have the subtree.
pub fn page(snapshot: &Snapshot, options: &PageOptions) -> Result<Page, ReportError> {
    let threads = super::threads(options.threads);
    let scope = match &options.under {
        Some(path) => Scope::under(snapshot, path)?,
        None => Scope::all(snapshot)?,
    };
    let mut by = ReportOptions::by([Key::Owner, Key::Age]);
    by.under.clone_from(&options.under);
    by.threads = options.threads;
    by.progress = options.progress.clone();
    let report = super::report(snapshot, &by)?;
    let outside = Outside::find(snapshot, &scope, threads)?;
    let limits = Limits {
        // A page without its top has nothing to show.
        nodes: options.nodes.max(1),
        files: TOP_FILES,
        failed: TOP_FAILURES,
    };
    options.progress.begin(report.total.entries);
    let progress = |rows| options.progress.add(rows);
    let choice = choose(snapshot, &scope, &outside, limits, threads, progress)?;
    let read = |rows: Vec<u64>| nodes::read(snapshot, &rows, &outside, threads);
    let rows = |ranked: &[choose::Ranked]| ranked.iter().map(|each| each.row).collect();
    let nodes = read(rows(&choice.nodes))?;
    let budget = options
        .nodes
        .saturating_mul(NODE_BYTES)
        .saturating_add(SPARE_BYTES);
    let has_one_top = scope.bases.len() <= 1;
    let all = (!has_one_top).then(|| Node::of_all_roots(report.total, report.errors));
    let mut page = Page {
        info: snapshot.info().clone(),
        under: options.under.clone(),
        sizes: options.sizes,
        nodes: nodes::tree(nodes, all, budget),
        files: read(rows(&choice.files))?,
        failed: read(choice.failed)?,
        report,
        growth: None,
    };
    // The top has its whole path, as a root has.
    if page.under.is_some()
        && let Some(top) = page.nodes.first()
    {
        let path = page.absolute(top);
        page.nodes[0].name = visible_bytes(&path);
    }
    Ok(page)
}

#[cfg(test)]
mod tests;
