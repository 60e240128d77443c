//! The browser put together: a tree, and the services that belong to it.
//!
//! | file | contents |
//! |---|---|
//! | `filter.rs` | matches of an expression |
//! | `growth.rs` | growth since an older snapshot |
//! | `deletion.rs` | deletion, on a thread of its own |
//! | `saved_deletion.rs` | deletion of what a snapshot shows, after it was read again |
//! | `export.rs` | a snapshot, or a part of it, in the format of a file |
//! | `live_actions.rs` | shell, reading again and export of a live tree |
//! | `saved_actions.rs` | export of a snapshot |

mod deletion;
mod export;
mod filter;
mod growth;
mod live_actions;
mod saved_actions;
mod saved_deletion;
#[cfg(test)]
mod tests;

use crate::compare;
use crate::filter::Searched;
use crate::live::{LiveTree, Reading};
use crate::saved::SnapshotView;
use crate::service::{Comparison, Service, Services};
use crate::tree::Tree;
use crate::{App, Options};
use deletion::{LiveDeleter, Places};
use filter::Expressions;
use growth::Growth;
use live_actions::LiveActions;
use ringwalk::Walk;
use ringwalk_snapshot::cluster::is_live;
use saved_actions::SavedActions;
use saved_deletion::SavedDeleter;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const READ_ONLY: &str = "nothing is deleted with --read-only";

/// Gives walks the options of the user: source, workers.
pub type SetUp = Arc<dyn Fn(Walk) -> Walk + Send + Sync>;

/// What the user wants to browse, and how.
#[derive(Clone)]
pub struct Request {
    /// A directory, a snapshot, the folder of a shared walk, or a file of ncdu.
    pub input: PathBuf,
    /// An older snapshot to compare with.
    pub compare: Option<PathBuf>,
    /// Nothing may be deleted.
    pub read_only: bool,
    /// True if deletion moves entries to the trash.
    pub trash: bool,
    /// Directories of other file systems are listed and not read.
    pub one_file_system: bool,
    /// Sets up each walk.
    pub set_up: SetUp,
}

/// A browser that is ready to run, and the walk that fills its tree.
pub struct Browser {
    /// The browser.
    pub app: App,
    /// Its tree.
    pub tree: Arc<dyn Tree>,
    /// The walk, if the tree is live. Dropping it ends the walk.
    pub reading: Option<Reading>,
}

/// Opens what the user wants to browse.
///
/// # Errors
///
/// A message that names the file and the reason.
pub fn open(request: &Request, options: Options) -> io::Result<Browser> {
    if is_live(&request.input) {
        open_live(request, options)
    } else {
        open_saved(request, options)
    }
}

fn open_live(request: &Request, options: Options) -> io::Result<Browser> {
    let set_up = Arc::clone(&request.set_up);
    let path = &request.input;
    let (tree, reading) = LiveTree::start(
        path,
        request.one_file_system,
        Box::new(move |walk| set_up(walk)),
    )
    .map_err(|error| named(path, &error))?;
    let stay = request.one_file_system;
    let set_up = Arc::clone(&request.set_up);
    let searched = Searched::Live {
        path: path.as_os_str().to_owned(),
        set_up: Arc::new(move |walk| {
            let walk = set_up(walk);
            if stay {
                walk.stay(ringwalk::Stay::Device)
            } else {
                walk
            }
        }),
    };
    let deleter = if request.read_only {
        Err(READ_ONLY.to_owned())
    } else {
        let places = Places::of_user(request.trash);
        Ok(Arc::new(LiveDeleter::new(Arc::clone(&tree), places)) as _)
    };
    let services = Services {
        filter: Ok(Arc::new(Expressions(searched))),
        comparison: comparison(request, &(Arc::clone(&tree) as _))?,
        deleter,
        actions: Ok(Arc::new(LiveActions::new(
            Arc::clone(&tree),
            request.clone(),
        ))),
    };
    Ok(Browser {
        app: App::new(Arc::clone(&tree) as _, services, options)?,
        tree,
        reading: Some(reading),
    })
}

fn open_saved(request: &Request, options: Options) -> io::Result<Browser> {
    let view = Arc::new(SnapshotView::open(&request.input)?);
    let saved = Arc::clone(view.tree());
    let tree: Arc<dyn Tree> = Arc::<SnapshotView>::clone(&view);
    let deleter = if request.read_only {
        Err(READ_ONLY.to_owned())
    } else {
        Ok(Arc::new(SavedDeleter::new(view, request.clone())) as _)
    };
    let services = Services {
        filter: Ok(Arc::new(Expressions(Searched::Snapshot(Arc::clone(
            &saved,
        ))))),
        comparison: comparison(request, &tree)?,
        deleter,
        actions: Ok(Arc::new(SavedActions::new(Arc::clone(&tree), saved))),
    };
    Ok(Browser {
        app: App::new(Arc::clone(&tree), services, options)?,
        tree,
        reading: None,
    })
}

fn comparison(request: &Request, tree: &Arc<dyn Tree>) -> io::Result<Service<dyn Comparison>> {
    let Some(older) = &request.compare else {
        return Ok(Err("growth is known with --compare OLD only".to_owned()));
    };
    let comparison = compare::Comparison::open(older, &tree.path_of_top())?;
    Ok(Ok(Arc::new(Growth::new(comparison, Arc::clone(tree)))))
}

/// Returns an error that names a file.
fn named(path: &Path, error: &io::Error) -> io::Error {
    let name = ringwalk_gnu::quote::file_always(path.as_os_str().as_encoded_bytes());
    let reason = ringwalk_gnu::reason(error);
    io::Error::new(
        error.kind(),
        format!("cannot read directory {name}: {reason}"),
    )
}
