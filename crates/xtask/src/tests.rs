//! Unit tests of `main.rs`.

use super::*;
use ringwalk_cli::registry::COMMANDS;

#[test]
fn every_asset_is_written_and_not_empty() {
    let directory = std::env::temp_dir().join(format!("ringwalk-assets-{}", std::process::id()));
    assets(&directory).unwrap();
    let commands = COMMANDS.iter().map(|command| command.name);
    let mut names: Vec<_> = commands
        .map(|name| format!("man/ringwalk-{name}.1"))
        .collect();
    let others = [
        "man/ringwalk.1",
        "man/ringwalk.3",
        "man/ringwalk_open.3",
        "man/ringwalk_next_batch.3",
        "completions/ringwalk.bash",
        "completions/_ringwalk",
        "completions/ringwalk.fish",
    ];
    names.extend(others.map(str::to_owned));
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
    let files: Vec<_> = names.iter().map(|name| read(name)).collect();
    std::fs::remove_dir_all(&directory).unwrap();
    for (name, file) in names.iter().zip(&files) {
        assert!(file.len() > 500, "{name} has {} bytes", file.len());
    }
    for (shell, file) in names.iter().zip(&files).rev().take(3) {
        // Values of --source, and of --by of report: no other option has these.
        for value in ["syscall", "btrfs", "owner", "ext"] {
            assert!(file.contains(value), "{shell} does not complete {value}");
        }
    }
}

#[test]
fn every_command_is_in_the_readme_and_the_description_of_the_package() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name| std::fs::read_to_string(top.join(name)).unwrap();
    let readme = read("README.md");
    let (_, table) = readme.split_once("\n## Commands\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let control = read("packaging/debian/control");
    let (_, package) = control.split_once("\nPackage: ringwalk\n").unwrap();
    let (package, _) = package.split_once("\nPackage: ").unwrap();
    let heads: Vec<_> = package
        .lines()
        .filter_map(|line| line.strip_prefix("  * ")?.split_once(':'))
        .flat_map(|(names, _)| names.split([',', ' ']))
        .collect();
    for command in COMMANDS {
        let name = command.name;
        assert!(table.contains(&format!("`ringwalk {name} ")), "{name}");
        assert!(heads.contains(&name), "{name}");
    }
}
