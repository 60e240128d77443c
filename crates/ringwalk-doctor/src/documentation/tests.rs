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
