//! Unit tests of `zsh.rs`.

use super::*;

#[test]
fn the_function_stands_before_the_call() {
    let end = "if [ \"$funcstack[1]\" = \"_ringwalk\" ]; then\n    _ringwalk \"$@\"\nfi\n";
    let script = extend(&format!(
        "#compdef ringwalk\n\n_ringwalk() {{\n    clap\n}}\n\n{end}"
    ))
    .unwrap();
    assert!(script.starts_with("#compdef ringwalk\n"));
    assert!(script.ends_with(end));
    assert!(script.contains("_ringwalk() {\n    local -i at=2\n"));
    assert!(
        script.contains("'-maxdepth:Go down at most so many levels below the starting points'")
    );
    assert!(script.contains("(-type|-xtype) compadd -- b c d f l p s; return ;;"));
    assert_eq!(extend("something else"), None);
}
