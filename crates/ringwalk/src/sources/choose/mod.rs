//! Chooses the source of a walk, and reports the choice with its reason.
//!
//! ```text
//!   asked for by name ── named.rs: looked for before the walk; an error if it cannot be used
//!
//!   auto ── system calls ──> a worker has seen much (rules.rs: `worth`)
//!                              │
//!                              ├─> the source of the file system   (rules.rs: `for_walk`)
//!                              └─> else, with metadata: module, then ring
//! ```
//!
//! Two decisions are made elsewhere, later in the walk. [`VolumeRouting`] leaves single directories
//! to system calls, and gives a volume up if it leaves most of the work to them. [`KernelSide`]
//! gives the kernel up if it refuses directories that system calls can read.
//!
//! | file | contents |
//! |---|---|
//! | `named.rs` | a source that was asked for by name, and why it cannot be used |
//! | `rules.rs` | which walks, file systems and users a source serves |

mod named;
pub(crate) mod rules;

pub(crate) use named::NamedSource;
pub use named::SourceError;

use crate::sources::Source;
use crate::sources::kernel::{KernelSide, KernelSource};
use crate::sources::registry::SourceChoice;
use crate::sources::syscall::SyscallSource;
use crate::sources::volume::VolumeRouting;
use crate::sources::wanted::Wanted;
use crate::sources::ways::Way;
use crate::walk::Walk;
use crate::walk::descriptors::{Descriptors, Extra};
use crate::walk::options::Options;
use crate::walk::settings::Order;
use ringwalk_sys::DirectoryReader;

/// The kernel's interface for reading in batches, or the reason why it is missing.
type Kernel = Result<DirectoryReader, String>;

/// The sources of one walk besides system calls.
pub(crate) struct SourceSelection {
    choice: SourceChoice,
    /// True if the walk has an older tree.
    has_older: bool,
    pub(crate) routing: VolumeRouting,
    kernel: KernelSide,
}

impl SourceSelection {
    /// Creates the sources of a walk. `named` holds the findings about a source that was asked for
    /// by name.
    pub(crate) fn new(options: &Options, named: NamedSource) -> Self {
        let (volumes, kernel) = named.into_found(options);
        Self {
            choice: options.source,
            has_older: options.older.is_some(),
            routing: VolumeRouting::new(options, volumes),
            kernel: KernelSide::new(kernel),
        }
    }

    /// Returns true if a better source may be found during the walk.
    pub(crate) fn is_open(&self) -> bool {
        self.choice == SourceChoice::Auto
    }

    /// Returns true if workers read by the kernel module or the patched kernel.
    pub(crate) fn has_kernel(&self) -> bool {
        self.kernel.reader().is_some()
    }

    /// Returns the source from which a worker reads directories. Volumes are not such a source:
    /// workers ask them first, for each directory.
    pub(crate) fn for_worker<'s, S: Send + Sync + 's>(
        &'s self,
        options: &Options,
    ) -> Box<dyn Source<S> + 's> {
        for_worker(options, &self.kernel)
    }

    /// Looks for a better source, once a worker has seen enough entries and directories to make
    /// that worthwhile. Returns true if the worker must read by the kernel from now on.
    pub(crate) fn look<S>(
        &self,
        options: &Options,
        (entries, directories): (u64, u64),
        wanted: Wanted,
        descriptors: &Descriptors<S>,
    ) -> bool {
        if !rules::is_worth_a_look(entries, directories) {
            return false;
        }
        if self.routing.may_open() {
            // If no descriptors are left for the kernel source, system calls read on.
            descriptors.with(Extra::Volume, || self.routing.open(options));
            descriptors.count_volumes(self.routing.volumes().len());
        }
        if self.may_use_kernel(wanted) {
            self.kernel.look();
        }
        self.has_kernel()
    }

    /// Returns true if `auto` looks for the kernel module and the operations. A volume that lists
    /// directories is cheaper still, unless it leaves most of the work to system calls. For names
    /// alone, system calls are as cheap.
    fn may_use_kernel(&self, wanted: Wanted) -> bool {
        self.is_open() && !self.routing.is_listing() && wanted.asks_all()
    }

    /// Returns the name of the source that was read from.
    pub(crate) fn name(&self) -> &'static str {
        self.reported().as_str()
    }

    fn reported(&self) -> SourceChoice {
        let volume = self.routing.source();
        if self.routing.is_listing()
            && let Some(volume) = volume
        {
            return volume;
        }
        self.kernel
            .source()
            .or(volume)
            .unwrap_or(SourceChoice::Syscall)
    }

    /// Returns why the walk used this source, or no better one, and whether it used an older tree.
    pub(crate) fn reason(&self) -> String {
        let reason = self.reason_of_source();
        // A volume itself says what it took, or why it took nothing.
        if !self.has_older || self.routing.source().is_some() {
            return reason;
        }
        let separator = if reason.is_empty() { "" } else { "; " };
        format!("{reason}{separator}nothing taken from the older snapshot")
    }

    fn reason_of_source(&self) -> String {
        let volume = self.routing.source().unwrap_or(SourceChoice::Syscall);
        let is_kernel = matches!(self.choice.way(), Way::Kernel(_));
        if is_kernel || self.reported() != volume {
            let reason = self.kernel.describe().or_else(|| self.kernel.refused());
            return reason.unwrap_or_default();
        }
        let volumes = self.routing.reason(self.choice);
        match self.kernel.refused() {
            Some(refused) if volume == SourceChoice::Syscall && !volumes.is_empty() => {
                format!("{volumes}; {refused}")
            }
            Some(refused) if volume == SourceChoice::Syscall => refused,
            _ => volumes,
        }
    }

    /// Returns how many directories the sources refused, which system calls then read.
    pub(crate) fn fell_back(&self) -> u64 {
        self.routing.fell_back() + self.kernel.fell_back()
    }

    /// Returns why the last of those was refused.
    pub(crate) fn fallback_reason(&self) -> Option<String> {
        let kernel = self.kernel.fallback_reason();
        kernel.or_else(|| self.routing.fallback_reason())
    }
}

/// Returns the source from which a worker reads directories, by the interface that the kernel
/// offers.
pub(crate) fn for_worker<'s, S: Send + Sync + 's>(
    options: &Options,
    kernel: &'s KernelSide,
) -> Box<dyn Source<S> + 's> {
    #[cfg(test)]
    if let Some(source) = for_tests(options, kernel) {
        return source;
    }
    if let Some(reader) = kernel.reader() {
        return Box::new(KernelSource::new(kernel, reader, options));
    }
    let whole = options.order == Order::Name;
    Box::new(SyscallSource::new(options.buffer_size, whole))
}

/// Returns the source for tests, if it was asked for.
#[cfg(test)]
fn for_tests<'s, S: Send + Sync + 's>(
    options: &Options,
    kernel: &'s KernelSide,
) -> Option<Box<dyn Source<S> + 's>> {
    use crate::sources::kernel::KernelTransport;
    use crate::sources::shuffled::ShuffledSource;
    type Emulated<'s, S> = KernelSource<'s, S, KernelTransport>;
    match options.source {
        SourceChoice::Shuffled => Some(Box::new(ShuffledSource::new(options.wanted_of_entries()))),
        SourceChoice::Emulated(behaviour) => {
            Some(Box::new(Emulated::emulated(kernel, *behaviour, options)))
        }
        _ => None,
    }
}

/// A source, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikelySource {
    /// The name that `--source` takes.
    pub source: &'static str,
    /// The reason as text for people; may be empty.
    pub reason: String,
}

impl Walk {
    /// Returns the source by which this walk would read its first root, if the root is not a small
    /// one. The walk itself finds the same source, except for facts that show only during the walk:
    /// that it is small, or that most of its files were changed lately.
    pub fn likely_source(&self) -> LikelySource {
        let options = self.options();
        let selection = SourceSelection::new(options, NamedSource::default());
        selection.routing.open(options);
        if selection.may_use_kernel(options.wanted_of_entries()) {
            selection.kernel.look();
        }
        LikelySource {
            source: selection.name(),
            reason: selection.reason(),
        }
    }
}

#[cfg(test)]
mod tests;
