//! Unit tests of `registry.rs`: rows, and the texts that list sources.

use super::*;

#[test]
fn every_name_reads_back_as_itself() {
    for source in SourceChoice::ALL.iter().copied() {
        assert_eq!(source.as_str().parse(), Ok(source));
        assert!(!source.as_str().is_empty() && !source.help().is_empty());
    }
    for name in ["SYSCALL", "", "rings", "test"] {
        let error = name.parse::<SourceChoice>().unwrap_err().to_string();
        assert!(error.contains(&format!("{name:?}")), "{error}");
        for known in SourceChoice::names() {
            assert!(error.contains(known), "{error}");
        }
    }
}

#[test]
fn no_two_rows_are_the_same() {
    let sources = || SourceChoice::ALL.iter().copied();
    for (index, source) in sources().enumerate() {
        for other in sources().skip(index + 1) {
            assert_ne!(source.as_str(), other.as_str());
            let shares = |name| other.file_systems().contains(name);
            assert!(!source.file_systems().iter().any(shares));
        }
    }
}

/// Returns the cells of the row that has `name` in its first column.
fn cells<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let begin = format!("| `{name}` |");
    let mut rows = text.lines().filter(|line| line.starts_with(&begin));
    let row = rows.next().unwrap_or_else(|| panic!("no row of {name}"));
    row.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn the_table_of_the_documentation_has_every_source() {
    let text = include_str!("../../../../../docs/sources.md");
    for source in SourceChoice::ALL.iter().copied() {
        if source == SourceChoice::Auto {
            continue;
        }
        let cells = cells(text, source.as_str());
        let plain = |cell: &str| cell.replace('`', "");
        assert!(plain(cells[3]).starts_with(&source.needs().to_string()));
        if source.file_systems().is_empty() {
            assert_eq!(cells[2], "all");
        }
        for file_system in source.file_systems() {
            assert!(cells[2].to_lowercase().contains(file_system));
        }
    }
    let begins = |line: &&str| line.starts_with("| `") && line.contains("` |");
    let table = text
        .split("\n\n")
        .find(|part| part.contains("| `syscall` |"));
    let rows = table.unwrap().lines().filter(begins).count();
    assert_eq!(rows, SourceChoice::ALL.len() - 1, "rows of other sources");
}
