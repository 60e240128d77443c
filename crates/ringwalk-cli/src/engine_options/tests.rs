use super::*;

fn resolve(
    common: &CommonArgs,
    source: &str,
    workers: &str,
) -> Result<EngineOptions, EnvironmentError> {
    EngineOptions::resolve_with(common, |name| match name {
        "RINGWALK_SOURCE" => Some(source.into()),
        "RINGWALK_WORKERS" => Some(workers.into()),
        "RINGWALK_EXPLAIN" | "RINGWALK_PROGRESS" | "RINGWALK_PREFETCH" | "RINGWALK_SYNC"
        | "RINGWALK_IN_FLIGHT" => None,
        other => panic!("{other} was asked for"),
    })
}

#[test]
fn defaults_without_flags_and_environment() {
    let options = EngineOptions::resolve_with(&CommonArgs::default(), |_| None);
    assert_eq!(options, Ok(EngineOptions::default()));
}

#[test]
fn the_environment_is_used_and_empty_means_unset() {
    let options = resolve(&CommonArgs::default(), "syscall", "3").unwrap();
    assert_eq!(options.source, SourceChoice::Syscall);
    assert_eq!(options.workers, NonZeroUsize::new(3));
    assert_eq!(
        resolve(&CommonArgs::default(), "", ""),
        Ok(EngineOptions::default())
    );
}

#[test]
fn a_flag_wins_even_over_a_bad_variable() {
    let flags = CommonArgs {
        source: Some(SourceChoice::Auto),
        workers: NonZeroUsize::new(2),
        ..CommonArgs::default()
    };
    let options = resolve(&flags, "nonsense", "nonsense").unwrap();
    assert_eq!(
        (options.source, options.workers),
        (SourceChoice::Auto, NonZeroUsize::new(2))
    );
}

#[test]
fn options_without_effect_are_refused_by_name() {
    let flags = CommonArgs {
        source: Some(SourceChoice::Auto),
        ..CommonArgs::default()
    };
    let options = resolve(&flags, "", "").unwrap();
    let refused = options
        .refuse(Lacks::Directories, "with --from")
        .unwrap_err();
    assert_eq!(refused, "option --source has no effect with --from");
    let flags = CommonArgs {
        workers: NonZeroUsize::new(2),
        progress: Some(ProgressWhen::Always),
        ..CommonArgs::default()
    };
    let options = resolve(&flags, "", "").unwrap();
    assert_eq!(options.refuse(Lacks::Walk, "here"), Ok(()));
    let refused = options.refuse(Lacks::Workers, "here").unwrap_err();
    assert_eq!(refused, "option --workers has no effect here");
    let options = resolve(&CommonArgs::default(), "syscall", "3").unwrap();
    assert_eq!(options.refuse(Lacks::Progress, "here"), Ok(()));
}

#[test]
fn a_bad_variable_is_named_with_its_value() {
    let message = resolve(&CommonArgs::default(), "rings", "1")
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("environment variable RINGWALK_SOURCE: invalid value 'rings': "),
        "{message}"
    );
    assert!(message.contains("no such source"), "{message}");
    let message = resolve(&CommonArgs::default(), "auto", "no\nne")
        .unwrap_err()
        .to_string();
    assert!(
        message
            .starts_with(r"environment variable RINGWALK_WORKERS: invalid value 'no'$'\n''ne': "),
        "{message}"
    );
}

#[test]
fn all_of_them_come_from_the_environment() {
    let flags = CommonArgs::default();
    let resolve = |name: &'static str, value: &'static str| {
        EngineOptions::resolve_with(&flags, move |asked| (asked == name).then(|| value.into()))
    };
    let options = |name, value| resolve(name, value).unwrap();
    assert!(options("RINGWALK_EXPLAIN", "1").explain);
    assert!(!options("RINGWALK_EXPLAIN", "0").explain);
    assert!(options("RINGWALK_SYNC", "1").sync);
    let always = options("RINGWALK_PROGRESS", "always");
    assert_eq!(always.progress, ProgressWhen::Always);
    let never = options("RINGWALK_PREFETCH", "never");
    assert_eq!(never.prefetch, PrefetchWhen::Never);
    for (name, value) in [
        ("RINGWALK_EXPLAIN", "yes"),
        ("RINGWALK_SYNC", "2"),
        ("RINGWALK_PROGRESS", "sometimes"),
        ("RINGWALK_PREFETCH", "Always"),
    ] {
        let message = resolve(name, value).unwrap_err().to_string();
        assert!(
            message.contains(name) && message.contains(value),
            "{message}"
        );
    }
}

#[test]
fn flags_go_before_the_environment() {
    let flags = CommonArgs {
        prefetch: Some(PrefetchWhen::Always),
        sync: true,
        ..CommonArgs::default()
    };
    let options = EngineOptions::resolve_with(&flags, |name| match name {
        "RINGWALK_PREFETCH" | "RINGWALK_SYNC" => Some("nonsense".into()),
        _ => None,
    });
    let options = options.unwrap();
    assert_eq!(
        (options.prefetch, options.sync),
        (PrefetchWhen::Always, true)
    );
}

#[test]
fn workers_are_whole_numbers_in_bounds() {
    assert_eq!(parse_workers("16"), Ok(NonZeroUsize::new(16).unwrap()));
    assert_eq!(parse_workers("1024"), Ok(NonZeroUsize::new(1024).unwrap()));
    for bad in [
        "",
        "0",
        "-1",
        "+1",
        "1.5",
        "1025",
        " 2",
        "99999999999999999999999",
    ] {
        assert!(parse_workers(bad).is_err(), "{bad:?}");
    }
}
