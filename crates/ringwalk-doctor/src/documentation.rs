//! Where users find a page of the documentation.

use std::path::Path;

/// Returns the place of a page of `docs/`: its file if it is installed with the running program,
/// otherwise its address.
pub(crate) fn page(name: &str) -> String {
    let program = std::env::current_exe().ok();
    program
        .and_then(|program| installed(&program, name))
        .unwrap_or_else(|| format!("{}/blob/main/docs/{name}", env!("CARGO_PKG_REPOSITORY")))
}

/// Returns the file of a page that belongs to a program in `PREFIX/bin`.
fn installed(program: &Path, name: &str) -> Option<String> {
    let prefix = program.parent()?.parent()?;
    let page = prefix.join("share/doc/ringwalk").join(name);
    page.is_file().then(|| page.display().to_string())
}

#[cfg(test)]
mod tests;
