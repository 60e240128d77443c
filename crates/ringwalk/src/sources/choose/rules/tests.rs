//! Unit tests of `rules.rs`.

use super::*;

fn name<T>(found: Result<(SourceChoice, T), Refused>) -> Result<&'static str, String> {
    found
        .map(|(source, _)| source.as_str())
        .map_err(|why| why.to_string())
}

#[test]
fn auto_takes_the_source_of_the_file_system() {
    let auto = SourceChoice::Auto;
    let walk = |file_system| {
        name(
            for_walk(auto, file_system)
                .and_then(|(name, source)| check_auto(auto, source).map(|()| (name, source))),
        )
    };
    for file_system in ["ext2", "ext3", "ext4"] {
        assert_eq!(walk(file_system), Ok("ext4"));
    }
    assert_eq!(walk("btrfs"), Ok("btrfs"));
    assert!(walk("xfs").unwrap_err().contains("faster, not a walk"));
    assert_eq!(
        walk("tmpfs").unwrap_err(),
        "nothing better is known for tmpfs"
    );
    for file_system in ["ext4", "xfs", "btrfs"] {
        let sweep = name(for_sweep(SourceChoice::Auto, file_system));
        assert_eq!(sweep, Ok(file_system));
    }
}

#[test]
fn a_name_reads_its_own_file_systems_only() {
    for choice in SourceChoice::ALL.iter().copied() {
        if choice == SourceChoice::Auto {
            continue;
        }
        for file_system in ["ext3", "xfs", "btrfs", "tmpfs"] {
            let reads = choice.file_systems().contains(&file_system);
            let expected = if reads {
                Ok(choice.as_str())
            } else {
                Err(format!("it is on {file_system}"))
            };
            assert_eq!(name(for_walk(choice, file_system)), expected);
            assert_eq!(name(for_sweep(choice, file_system)), expected);
        }
    }
}

#[test]
fn a_directory_counts_for_four_entries() {
    assert_eq!(
        [(1999, 0), (0, 499), (1996, 1), (4000, 0)].map(|(e, d)| is_worth_a_look(e, d)),
        [false, false, true, true]
    );
}
