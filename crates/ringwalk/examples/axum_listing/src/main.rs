//! A web server that lists directories of any size. Nothing blocks its one thread. A listing takes
//! the memory of one or two buffers, however many entries there are and however slowly the client
//! reads.
//!
//! ```text
//! $ cd crates/ringwalk/examples/axum_listing
//! $ cargo run -- /var/lib 127.0.0.1:8080
//! listening on 127.0.0.1:8080
//! $ curl http://127.0.0.1:8080/list/dpkg
//! {"name":"status","size":1523042,"type":"file"}
//! {"name":"info","size":45056,"type":"directory"}
//! ```
//!
//! There is one line for each entry, in the directory's order. A name that is not UTF-8 comes with
//! its bytes as numbers (`"bytes"`). An entry whose metadata cannot be read comes with the reason
//! (`"error"`). If the directory cannot be read on, the answer breaks off, so that no client takes
//! it for complete. Only directories below the one that is served can be listed: no symbolic link
//! is followed on the way.

use std::net::SocketAddr;
use std::path::{Component, Path as FilePath};
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, io};

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::get};
use futures_lite::stream::try_unfold;
use ringwalk::aio::Dir;
use ringwalk::{EntryBuffer, EntryRef, Fields, FileType};
use serde_json::{Value, json};

/// Opens the directory at this path below `root`, component by component: [`Dir::open_at`] follows
/// no link.
async fn open_below(root: &Dir, path: &FilePath) -> io::Result<Dir> {
    let mut dir = root.open_at(".").await?;
    for component in path.components() {
        match component {
            Component::Normal(name) => dir = dir.open_at(name).await?,
            Component::CurDir => {}
            Component::RootDir | Component::ParentDir | Component::Prefix(_) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
    }
    Ok(dir)
}

/// Returns the line of an entry.
fn line(entry: &EntryRef<'_>) -> String {
    let name = String::from_utf8_lossy(entry.name());
    let mut told = json!({ "name": name, "type": type_name(entry.file_type()) });
    if std::str::from_utf8(entry.name()).is_err() {
        told["bytes"] = Value::from(entry.name());
    }
    match (entry.metadata(), entry.stat_error()) {
        (Some(metadata), _) => told["size"] = metadata.size().into(),
        (None, Some(errno)) => told["error"] = errno.to_string().into(),
        (None, None) => {}
    }
    format!("{told}\n")
}

fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Directory => "directory",
        FileType::Regular => "file",
        FileType::Symlink => "link",
        _ => "other",
    }
}

/// Returns the whole listing as a body. The next buffer is read when the client has taken the last.
fn body(mut dir: Dir) -> Body {
    dir.read_plus(Fields::SIZE);
    let lines = try_unfold((dir, EntryBuffer::new()), async |(mut dir, mut batch)| {
        let read = dir.next_batch(&mut batch).await;
        let read = read.inspect_err(|error| eprintln!("axum_listing: {error}"))?;
        let lines: String = batch.iter().map(|entry| line(&entry)).collect();
        // The next buffer has been read already, so nothing else would let other tasks run before
        // the client has enough.
        tokio::task::yield_now().await;
        io::Result::Ok((read > 0).then_some((lines, (dir, batch))))
    });
    Body::from_stream(lines)
}

async fn list(root: Arc<Dir>, path: &str) -> Response {
    match open_below(&root, FilePath::new(path)).await {
        Ok(dir) => ([(header::CONTENT_TYPE, "application/x-ndjson")], body(dir)).into_response(),
        Err(error) => {
            let status = match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => StatusCode::NOT_FOUND,
                io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
                io::ErrorKind::InvalidInput => StatusCode::BAD_REQUEST,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            (status, format!("{path}: {error}\n")).into_response()
        }
    }
}

async fn serve(root: &str, address: SocketAddr) -> io::Result<()> {
    let root = Arc::new(Dir::open(root).await?);
    let router = Router::new()
        .route("/", get(async || "GET /list/PATH\n"))
        .route(
            "/list/",
            get(async |State(root): State<Arc<Dir>>| list(root, "").await),
        )
        .route(
            "/list/{*path}",
            get(
                async |State(root): State<Arc<Dir>>, Path(path): Path<String>| {
                    list(root, &path).await
                },
            ),
        )
        .with_state(root);
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    axum::serve(listener, router).await
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (root, address) = match arguments.as_slice() {
        [root] => (root, "127.0.0.1:0"),
        [root, address] => (root, address.as_str()),
        _ => {
            eprintln!("usage: axum_listing DIR [ADDRESS:PORT]");
            return ExitCode::from(2);
        }
    };
    let Ok(address) = address.parse() else {
        eprintln!("axum_listing: {address}: expected an address and a port, as 127.0.0.1:8080");
        return ExitCode::from(2);
    };
    // There is one thread, so blocking it would be seen at once.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    match runtime.and_then(|runtime| runtime.block_on(serve(root, address))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("axum_listing: {error}");
            ExitCode::FAILURE
        }
    }
}
