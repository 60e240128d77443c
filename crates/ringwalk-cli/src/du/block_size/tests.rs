use super::*;

fn written(size: BlockSize, amount: u64) -> String {
    let mut out = Vec::new();
    size.write(amount, &mut out);
    String::from_utf8(out).unwrap()
}

fn with(spec: &str, amount: u64) -> String {
    written(BlockSize::parse(spec.as_bytes()).unwrap(), amount)
}

#[test]
fn fixed_sizes_round_up() {
    assert_eq!(with("1", 0), "0");
    assert_eq!(with("1", u64::MAX - 1), "18446744073709551614");
    assert_eq!(with("1K", 1), "1");
    assert_eq!(with("1K", 1024), "1");
    assert_eq!(with("1K", 1025), "2");
    assert_eq!(with("010", 9), "2");
    assert_eq!(with("0x10", 17), "2");
    assert_eq!(with("'1024", 8192), "8");
    assert_eq!(with("1K", u64::MAX), "Infinity");
}

#[test]
fn a_unit_alone_is_written_behind() {
    assert_eq!(with("k", 8192), "8K");
    assert_eq!(with("KB", 8192), "9kB");
    assert_eq!(with("kiB", 8192), "8KiB");
    assert_eq!(with("MB", 1), "1MB");
    assert_eq!(with("MiB", 1), "1MiB");
    assert_eq!(with("E", 1), "1E");
    assert_eq!(with("1M", 1), "1");
}

#[test]
fn human_sizes() {
    let human = |amount| written(BlockSize::HUMAN, amount);
    assert_eq!(human(0), "0");
    assert_eq!(human(1023), "1023");
    assert_eq!(human(1024), "1.0K");
    assert_eq!(human(1025), "1.1K");
    assert_eq!(human(9999), "9.8K");
    assert_eq!(human(10239), "10K");
    assert_eq!(human(10241), "11K");
    assert_eq!(human(1_047_552), "1023K");
    assert_eq!(human(1_047_553), "1.0M");
    assert_eq!(human(10_137_600), "9.7M");
    assert_eq!(human(u64::MAX - 1), "16E");
    let si = |amount| written(BlockSize::SI, amount);
    assert_eq!(si(999), "999");
    assert_eq!(si(1000), "1.0k");
    assert_eq!(si(999_001), "1.0M");
    assert_eq!(si(9999), "10k");
    assert_eq!(si(102_400_000), "103M");
    assert_eq!(with("h", 8192), "8.0K");
    assert_eq!(with("si", 8192), "8.2k");
}

#[test]
fn faults() {
    let fault = |spec: &str| BlockSize::parse(spec.as_bytes()).unwrap_err();
    for spec in ["x", "0", "0K", "", "-1", "'", "'x", "B", "08", "0x"] {
        assert_eq!(fault(spec), Fault::Invalid, "{spec}");
    }
    for spec in ["1x", "1i", "ki", "1Q", "1e", "kB1", "K0"] {
        assert_eq!(fault(spec), Fault::Suffix, "{spec}");
    }
    for spec in ["3Y", "Z", "99999999999999999999"] {
        assert_eq!(fault(spec), Fault::TooLarge, "{spec}");
    }
}

#[test]
fn the_environment() {
    let size = |set: &[(&str, &str)]| {
        BlockSize::from_environment(|name| {
            set.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.as_bytes().to_vec())
        })
    };
    assert_eq!(size(&[]), BlockSize::bytes(1024));
    assert_eq!(size(&[("POSIXLY_CORRECT", "")]), BlockSize::bytes(512));
    assert_eq!(size(&[("BLOCKSIZE", "7")]), BlockSize::bytes(7));
    let two = [("BLOCKSIZE", "7"), ("BLOCK_SIZE", "si")];
    assert_eq!(size(&two), BlockSize::SI);
    assert_eq!(size(&[("DU_BLOCK_SIZE", "x")]), BlockSize::bytes(1024));
    assert_eq!(size(&[("DU_BLOCK_SIZE", "3x")]), BlockSize::bytes(3));
    assert_eq!(size(&[("DU_BLOCK_SIZE", "")]), BlockSize::bytes(1024));
    assert_eq!(with("M", 1), "1M");
    assert_eq!(
        written(size(&[("DU_BLOCK_SIZE", "M")]), 1),
        "1M",
        "a unit alone keeps its letter"
    );
    assert_eq!(size(&[("DU_BLOCK_SIZE", "1Y")]), BlockSize::bytes(u64::MAX));
}
