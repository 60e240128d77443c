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
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_installed_page_is_named_by_its_file() {
        let prefix = std::env::temp_dir().join(format!("ringwalk-docs-{}", std::process::id()));
        let program = prefix.join("bin/ringwalk");
        assert_eq!(installed(&program, "kernel.md"), None);
        let folder = prefix.join("share/doc/ringwalk");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kernel.md"), "").unwrap();
        let page = folder.join("kernel.md").display().to_string();
        let found = installed(&program, "kernel.md");
        fs::remove_dir_all(&prefix).unwrap();
        assert_eq!(found, Some(page));
    }

    #[test]
    fn a_page_that_is_not_installed_is_named_by_its_address() {
        let page = page("kernel.md");
        assert_eq!(
            page,
            "https://github.com/ringwalk/ringwalk/blob/main/docs/kernel.md"
        );
    }
}
