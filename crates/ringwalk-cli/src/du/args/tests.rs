use super::*;
use clap::Args as _;

fn parse(args: &[&str]) -> Result<DuArgs, clap::Error> {
    let command = DuArgs::augment_args(Command::new("du"));
    let matches = command.try_get_matches_from([&["du"], args].concat())?;
    DuArgs::from_arg_matches(&matches)
}

fn settings(args: &[&str]) -> Vec<Setting> {
    parse(args).unwrap().settings
}

fn value(option: Valued, value: &str) -> Setting {
    Setting::Value(option, value.into())
}

#[test]
fn the_table_is_consistent() {
    DuArgs::augment_args(Command::new("du")).debug_assert();
}

#[test]
fn order_is_kept() {
    let (human, kibi) = (Setting::Flag(Flag::Human), Setting::Flag(Flag::Kibibytes));
    assert_eq!(settings(&["-h", "-k"]), [human.clone(), kibi.clone()]);
    assert_eq!(settings(&["-kh"]), [kibi.clone(), human.clone()]);
    assert_eq!(settings(&["-hkh"]), [kibi, human]);
    assert_eq!(
        settings(&["-B1", "-d", "2", "--block-size=M", "-d3"]),
        [
            value(Valued::BlockSize, "1"),
            value(Valued::MaxDepth, "2"),
            value(Valued::BlockSize, "M"),
            value(Valued::MaxDepth, "3"),
        ]
    );
}

#[test]
fn values() {
    assert_eq!(settings(&["-t", "-5"]), [value(Valued::Threshold, "-5")]);
    assert_eq!(settings(&["--time"]), [value(Valued::Time, TIME_ALONE)]);
    assert_eq!(settings(&["--time=use"]), [value(Valued::Time, "use")]);
    assert_eq!(settings(&["--time="]), [value(Valued::Time, "")]);
    assert_eq!(parse(&["--time", "use"]).unwrap().operands, ["use"]);
    assert_eq!(settings(&["-B", ""]), [value(Valued::BlockSize, "")]);
}

#[test]
fn abbreviations() {
    assert_eq!(settings(&["--max=1"]), [value(Valued::MaxDepth, "1")]);
    assert_eq!(settings(&["--hu"]), [Setting::Flag(Flag::Human)]);
    assert_eq!(settings(&["--si"]), [Setting::Flag(Flag::Si)]);
    for inodes in ["--i", "--in", "--ino"] {
        assert_eq!(settings(&[inodes]), [Setting::Flag(Flag::Inodes)]);
    }
    assert!(parse(&["--s"]).is_err());
}

#[test]
fn operands() {
    assert_eq!(
        parse(&["b", "-s", "-", "--", "-x", ""]).unwrap().operands,
        ["b", "-", "-x", ""]
    );
}
