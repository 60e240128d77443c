//! Directories for tasks: nothing here blocks the thread that polls it. (Feature `async`.)
//!
//! No runtime is asked for. What takes time is done by a few threads of our own, which are started when there is something to
//! do, do what tasks of any runtime ask for, and end some seconds after the last request. All futures are [`Send`], and each may be dropped
//! at any point.
//!
//! ```
//! use ringwalk::{EntryBuffer, Fields, aio::Dir};
//!
//! /// Bytes of all files in a directory.
//! async fn bytes(path: &str) -> std::io::Result<u64> {
//!     let mut dir = Dir::open(path).read_plus(Fields::SIZE).await?;
//!     let (mut batch, mut bytes) = (EntryBuffer::new(), 0);
//!     while dir.next_batch(&mut batch).await? > 0 {
//!         bytes += batch.iter().filter_map(|e| e.metadata()).map(|m| m.size).sum::<u64>();
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
//! | file | what is in it |
//! |---|---|
//! | `dir.rs`, `entry.rs`, `open.rs` | the open directory, its entries, how it is opened |
//! | `reading.rs` | one buffer ahead, rewinding, metadata of what was read without |
//! | `walk_stream.rs` | the walk as a stream |
//! | `fault.rs` | errors that name the place |
//! | `driver/` | who does what tasks may not |

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
