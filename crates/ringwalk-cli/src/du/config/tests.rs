use super::*;

fn resolve(settings: &[Setting], operands: &[&str]) -> (Result<Config, Refusal>, Vec<String>) {
    let args = DuArgs {
        settings: settings.to_vec(),
        operands: operands.iter().map(OsString::from).collect(),
    };
    let mut said = Vec::new();
    let config = Config::new(&args, &mut |text| said.push(text.to_owned()));
    (config, said)
}

fn value(option: Valued, value: &str) -> Setting {
    Setting::Value(option, value.into())
}

#[test]
fn the_last_of_a_kind_wins() {
    let flags = [
        Flag::Bytes,
        Flag::Human,
        Flag::Dereference,
        Flag::NoDereference,
    ];
    let (config, said) = resolve(&flags.map(Setting::Flag), &[]);
    let config = config.unwrap();
    assert_eq!(config.measurement.size, Size::Apparent);
    assert_eq!(config.lines.block_size, BlockSize::HUMAN);
    assert_eq!(config.measurement.rule, Rule::new(Follow::Never));
    assert_eq!(config.operands, ["."]);
    assert!(!config.failed);
    assert!(said.is_empty());
}

#[test]
fn summaries() {
    let summarize = Setting::Flag(Flag::Summarize);
    let with = |other: Setting| resolve(&[summarize.clone(), other], &["a"]);
    let (config, said) = with(value(Valued::MaxDepth, "0"));
    assert_eq!(config.unwrap().measurement.max_depth, 0);
    assert_eq!(
        said,
        ["warning: summarizing is the same as using --max-depth=0"]
    );
    let (config, said) = with(value(Valued::MaxDepth, "1"));
    assert_eq!(config.unwrap_err(), Refusal::Usage);
    assert_eq!(said, ["warning: summarizing conflicts with --max-depth=1"]);
    let (config, said) = with(value(Valued::MaxDepth, "-1"));
    assert_eq!(config.unwrap_err(), Refusal::Usage);
    assert_eq!(said, ["warning: summarizing conflicts with --max-depth=-1"]);
    let (config, _) = with(Setting::Flag(Flag::All));
    assert_eq!(config.unwrap_err(), Refusal::Usage);
}

#[test]
fn depths_have_a_sign() {
    for (given, levels) in [
        ("-1", Some(0)),
        ("-0", Some(0)),
        ("-0x10", Some(0)),
        ("+2", Some(2)),
        ("-9223372036854775808", Some(0)),
        ("9223372036854775807", usize::try_from(i64::MAX).ok()),
        ("-9223372036854775809", None),
        ("9223372036854775808", None),
        ("1.5", None),
        ("-", None),
    ] {
        let (config, _) = resolve(&[value(Valued::MaxDepth, given)], &["a"]);
        let found = config.ok().map(|config| config.measurement.max_depth);
        assert_eq!(found, levels, "{given}");
    }
}

#[test]
fn values_that_are_wrong() {
    let (config, said) = resolve(
        &[
            value(Valued::MaxDepth, "x"),
            value(Valued::BlockSize, "w"),
            value(Valued::MaxDepth, "z"),
        ],
        &[],
    );
    assert_eq!(config.unwrap_err(), Refusal::Plain);
    assert_eq!(
        said.len(),
        2,
        "a wrong depth lets options be read on: {said:?}"
    );
    assert_eq!(said[1], "invalid -B argument 'w'");
    let (config, said) = resolve(&[value(Valued::ExcludeFrom, "/nonexistent/x")], &[]);
    assert_eq!(config.unwrap_err(), Refusal::Usage);
    assert_eq!(said, ["/nonexistent/x: No such file or directory"]);
}

#[test]
fn thresholds() {
    assert_eq!(threshold(b"1K"), Ok(Threshold::Least(1024)));
    assert_eq!(threshold(b"-1K"), Ok(Threshold::Most(1024)));
    assert_eq!(threshold(b"-8E"), Ok(Threshold::Most(1 << 63)));
    assert_eq!(threshold(b"-0"), Err(None));
    assert_eq!(threshold(b"8E"), Err(Some(Fault::TooLarge)));
    assert!(Threshold::Least(5).admits(5) && !Threshold::Least(5).admits(4));
    assert!(Threshold::Most(5).admits(5) && !Threshold::Most(5).admits(6));
}

#[test]
fn inodes_have_no_unit() {
    let flags = [Flag::Inodes, Flag::Kibibytes].map(Setting::Flag);
    let config = resolve(&flags, &["a"]).0.unwrap();
    assert_eq!(config.lines.block_size, BlockSize::bytes(1));
}

#[test]
fn exclusive_space() {
    let with = |flag| resolve(&[Flag::Exclusive, flag].map(Setting::Flag), &[]);
    let size = |config: Config| config.measurement.size;
    assert_eq!(size(with(Flag::All).0.unwrap()), Size::Exclusive);
    let (config, said) = with(Flag::Bytes);
    assert_eq!(config.unwrap_err(), Refusal::Usage);
    assert_eq!(
        said,
        ["cannot measure both apparent sizes and exclusive space"]
    );
    let (config, said) = with(Flag::Inodes);
    assert_eq!(size(config.unwrap()), Size::Inodes);
    assert_eq!(
        said,
        ["warning: option --exclusive is ineffective with --inodes"]
    );
}

#[test]
fn operands() {
    let (config, said) = resolve(&[], &["a//", "", "//", "///"]);
    let config = config.unwrap();
    assert_eq!(config.operands, ["a/", "//", "/"]);
    assert!(config.failed);
    let several = Rule::new(Follow::Never).several_operands(true);
    assert_eq!(config.measurement.rule, several);
    assert_eq!(said, ["invalid zero-length file name"]);
    let (config, _) = resolve(&[value(Valued::Files0From, "/dev/null")], &["a"]);
    assert_eq!(config.unwrap_err(), Refusal::Usage);
    let (config, _) = resolve(&[value(Valued::Files0From, "/dev/null")], &[]);
    assert!(config.unwrap().operands.is_empty());
}
