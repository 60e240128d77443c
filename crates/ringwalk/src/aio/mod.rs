//! Directories for tasks: nothing here blocks the thread that polls it. (Feature `async`.)
//!
//! No runtime is needed. A few threads of the library make the calls that take time, for tasks of
//! any runtime. The threads are started when there is something to do, and end some seconds after
//! the last request. While all requests are answered from memory, there are no more threads than
//! CPUs; where requests wait for a device or a server, up to 64. Where the kernel reads directories
//! on rings (`docs/kernel.md`), requests that would wait go there. All futures are [`Send`], and
//! each may be dropped at any point.
//!
//! ```
//! use ringwalk::{EntryBuffer, Fields, aio::Dir};
//!
//! /// Bytes of all files in a directory.
//! async fn bytes(path: &str) -> std::io::Result<u64> {
//!     let mut dir = Dir::open(path).read_plus(Fields::SIZE).await?;
//!     let (mut batch, mut bytes) = (EntryBuffer::new(), 0);
//!     while dir.next_batch(&mut batch).await? > 0 {
//!         bytes += batch.iter().filter_map(|e| e.metadata()?.size()).sum::<u64>();
//!     }
//!     Ok(bytes)
//! }
//!
//! # futures_lite::future::block_on(async {
//! assert!(bytes("src").await? > 0);
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```
//!
//! For a whole tree there is [`Walk::stream`](crate::Walk::stream).
//!
//! | file | contents |
//! |---|---|
//! | `dir.rs`, `entry.rs`, `open.rs` | the open directory, its entries, how it is opened |
//! | `reading.rs` | reading one buffer ahead, rewinding, metadata that is asked for later |
//! | `walk_stream.rs` | the walk as a stream |
//! | `fault.rs` | failures of the driver, as errors that name the path |
//! | `driver/` | the threads and the ring that make the calls |

mod dir;
mod driver;
mod entry;
mod fault;
mod open;
mod reading;
mod walk_stream;

pub use dir::Dir;
pub use entry::DirEntry;
pub use open::Open;
pub use walk_stream::WalkStream;
