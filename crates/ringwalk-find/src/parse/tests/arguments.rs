//! How the arguments of tests and actions are understood.

use super::{NOW, command, test};
use crate::expression::{
    Action, CallTest, Compare, EntryTest, Expression, MetadataTest, PermissionMatch, Span, Test,
};
use crate::time::Time;
use ringwalk::{FileType, Timestamp};

#[test]
fn sizes() {
    for (line, expected_count, expected_unit) in [
        ("-size 3", Compare::Exactly(3), 512),
        ("-size +3b", Compare::More(3), 512),
        ("-size -3c", Compare::Less(3), 1),
        ("-size 3w", Compare::Exactly(3), 2),
        ("-size 3k", Compare::Exactly(3), 1024),
        ("-size 3M", Compare::Exactly(3), 1 << 20),
        ("-size 3G", Compare::Exactly(3), 1 << 30),
    ] {
        match test(line) {
            Test::Metadata(MetadataTest::Size { count, unit }) => {
                assert_eq!((count, unit), (expected_count, expected_unit), "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn numbers_of_things() {
    assert!(matches!(
        test("-links +1"),
        Test::Metadata(MetadataTest::Links(Compare::More(1)))
    ));
    assert!(matches!(
        test("-inum 7"),
        Test::Metadata(MetadataTest::Inode(Compare::Exactly(7)))
    ));
    assert!(matches!(
        test("-uid -5"),
        Test::Metadata(MetadataTest::Uid(Compare::Less(5)))
    ));
    assert!(matches!(
        test("-gid 0"),
        Test::Metadata(MetadataTest::Gid(Compare::Exactly(0)))
    ));
    assert!(matches!(
        test("-user root"),
        Test::Metadata(MetadataTest::Uid(Compare::Exactly(0)))
    ));
    assert!(matches!(
        test("-group root"),
        Test::Metadata(MetadataTest::Gid(Compare::Exactly(0)))
    ));
    assert!(matches!(
        test("-user 4000000000"),
        Test::Metadata(MetadataTest::Uid(Compare::Exactly(4_000_000_000)))
    ));
}

#[test]
fn types() {
    let (Test::Entry(EntryTest::Type(types)), Test::Call(CallTest::XType(other))) =
        (test("-type f,l,d"), test("-xtype b,c,p,s"))
    else {
        panic!("no types");
    };
    for file_type in [FileType::Regular, FileType::Symlink, FileType::Directory] {
        assert!(types.contains(file_type) && !other.contains(file_type));
    }
    for file_type in [
        FileType::BlockDevice,
        FileType::CharacterDevice,
        FileType::Fifo,
        FileType::Socket,
    ] {
        assert!(other.contains(file_type) && !types.contains(file_type));
    }
}

#[test]
fn permissions() {
    for (line, how, file, directory) in [
        ("-perm 644", PermissionMatch::Exactly, 0o644, 0o644),
        ("-perm -a+X", PermissionMatch::All, 0, 0o111),
        ("-perm /u+s,g+s", PermissionMatch::Any, 0o6000, 0o6000),
        ("-perm +x", PermissionMatch::Exactly, 0o111, 0o111),
        ("-perm -+x", PermissionMatch::All, 0o111, 0o111),
        ("-perm -+w", PermissionMatch::All, 0o200, 0o200),
        ("-perm /a+w", PermissionMatch::Any, 0o222, 0o222),
    ] {
        let Test::Metadata(MetadataTest::Permission(permission)) = test(line) else {
            panic!("{line}");
        };
        let found = (permission.how, permission.file, permission.directory);
        assert_eq!(found, (how, file, directory), "{line}");
    }
}

#[test]
fn ages() {
    let at = |secs, nanos| Timestamp { secs, nanos };
    for (line, time, span) in [
        (
            "-mtime +1",
            Time::Modification,
            Span::Before(at(1_699_827_200, 500_000_000)),
        ),
        (
            "-amin -5",
            Time::Access,
            Span::After(at(1_699_999_700, 500_000_000)),
        ),
        // The day ended at midnight, 6400 seconds later.
        (
            "-daystart -ctime 0",
            Time::Change,
            Span::Within(at(1_699_920_000, 0), at(1_700_006_400, 0)),
        ),
    ] {
        match test(line) {
            Test::Metadata(MetadataTest::Age(found_time, found)) => {
                assert_eq!((found_time, found), (time, span), "{line}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    // It holds for what comes after it only.
    let Expression::And(operands) = command("-mmin +0 -daystart -mmin +0").expression else {
        panic!("no conjunction");
    };
    let spans = operands.iter().filter_map(|operand| match operand {
        Expression::Test(leaf) => match leaf.is {
            Test::Metadata(MetadataTest::Age(_, span)) => Some(span),
            _ => None,
        },
        _ => None,
    });
    let spans: Vec<_> = spans.collect();
    assert_eq!(
        spans,
        [Span::Before(NOW), Span::Before(at(1_700_006_400, 0))]
    );
}

#[test]
fn what_is_newer() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let link = directory.path().join("link");
    std::fs::write(&file, "").unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::new(5, 7);
    std::fs::File::open(&file)
        .unwrap()
        .set_modified(old)
        .unwrap();
    std::os::unix::fs::symlink("file", &link).unwrap();
    let old = Timestamp { secs: 5, nanos: 7 };
    let newer = |line: String| match test(&line) {
        Test::Metadata(MetadataTest::Newer(time, moment)) => (time, moment),
        other => panic!("{line}: {other:?}"),
    };
    let (file, link) = (file.display(), link.display());
    assert_eq!(newer(format!("-newer {file}")), (Time::Modification, old));
    assert_eq!(newer(format!("-anewer {file}")), (Time::Access, old));
    assert_eq!(newer(format!("-cnewer {file}")), (Time::Change, old));
    assert_eq!(newer(format!("-newerBm {file}")), (Time::Birth, old));
    assert!(newer(format!("-newermc {file}")).1 > old);
    assert!(newer(format!("-newer {link}")).1 > old);
    for through in ["-H", "-L"] {
        assert_eq!(
            newer(format!("{through} -newer {link}")).1,
            old,
            "{through}"
        );
    }
    // -follow holds for what comes after it.
    let Expression::And(operands) =
        command(&format!("-newer {link} -follow -newer {link}")).expression
    else {
        panic!("no conjunction");
    };
    let mut moments = operands.iter().filter_map(|operand| match operand {
        Expression::Test(leaf) => match leaf.is {
            Test::Metadata(MetadataTest::Newer(_, moment)) => Some(moment),
            _ => None,
        },
        _ => None,
    });
    assert!(moments.next().unwrap() > old);
    assert_eq!(moments.next(), Some(old));
    assert_eq!(
        newer("-newerat @3".to_owned()),
        (Time::Access, Timestamp { secs: 3, nanos: 0 })
    );
}

#[test]
fn commands() {
    for (line, words, in_directory, many, ask) in [
        ("-exec a {} b ;", &["a", "{}", "b"][..], false, false, false),
        ("-exec a b {} +", &["a", "b"], false, true, false),
        ("-exec a + ;", &["a", "+"], false, false, false),
        (
            "-exec a {} b + ;",
            &["a", "{}", "b", "+"],
            false,
            false,
            false,
        ),
        ("-execdir a {} +", &["a"], true, true, false),
        ("-ok a {} + ;", &["a", "{}", "+"], false, false, true),
        ("-okdir a ;", &["a"], true, false, true),
        ("-exec {} +", &[], false, true, false),
        ("-exec a x{} + ;", &["a", "x{}", "+"], false, false, false),
        ("-exec + a + {} +", &["+", "a", "+"], false, true, false),
    ] {
        match command(line).expression {
            Expression::Action(leaf) => match leaf.is {
                Action::Execute(template) => {
                    assert_eq!(template.words, words, "{line}");
                    let found = (template.in_directory, template.many, template.ask);
                    assert_eq!(found, (in_directory, many, ask), "{line}");
                }
                other => panic!("{line}: {other:?}"),
            },
            other => panic!("{line}: {other:?}"),
        }
    }
}
