//! Commands as `-exec` and the like run them: their arguments, their directory, and the outcome.

use ringwalk_find::execute::{Collector, CommandTemplate, Console, Ran, ask};
use rustix::fs::{Mode, OFlags, open};
use std::ffi::OsStr;
use std::fs;
use std::io::{PipeReader, Read, Write, pipe};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Counts the calls of its methods.
#[derive(Default)]
struct Counting {
    flushes: usize,
    lines: Vec<String>,
}

impl Console for Counting {
    fn flush(&mut self) {
        self.flushes += 1;
    }

    fn traces(&self) -> bool {
        true
    }

    fn trace(&mut self, line: &str) {
        // The longest lists make long lines.
        self.lines.push(line.chars().take(200).collect());
    }
}

fn template(words: &[&OsStr]) -> CommandTemplate {
    CommandTemplate {
        words: words.iter().map(Into::into).collect(),
        in_directory: false,
        many: false,
        ask: false,
    }
}

fn shell(script: &str, rest: &[&OsStr]) -> CommandTemplate {
    template(&[&["sh", "-c", script].map(OsStr::new)[..], rest].concat())
}

fn directory(path: &Path) -> OwnedFd {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(path, flags, Mode::empty()).unwrap()
}

fn run(template: &CommandTemplate, path: &str) -> Ran {
    template.run(path.as_bytes(), None, b"", &mut Counting::default())
}

/// Gives the names to commands that append them to a file, each command's names with an empty line
/// after them. Returns the bytes that the names of each took of the kernel's room.
fn all_arrive(names: &[String]) -> Vec<usize> {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let append = shell(
        r#"{ printf '%s\n' "$@"; echo; } >> "$0""#,
        &[log.as_os_str()],
    );
    let collector = Collector::new(&append);
    let mut console = Counting::default();
    let mut commands = 0;
    for name in names {
        if let Some(ran) = collector.push(name.as_bytes(), &mut console) {
            assert!(ran.succeeded && !ran.find_fails, "{ran:?}");
            commands += 1;
        }
    }
    let ran = collector.finish(&mut console).unwrap();
    assert!(ran.succeeded && !ran.find_fails, "{ran:?}");
    assert_eq!(console.flushes, commands + 1);
    let text = fs::read_to_string(&log).unwrap();
    let given: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(given.len(), names.len());
    assert!(given.iter().eq(names), "all of them, once and in order");
    let lists: Vec<usize> = text
        .split("\n\n")
        .filter(|list| !list.is_empty())
        .map(|list| list.lines().map(|name| name.len() + 9).sum())
        .collect();
    assert_eq!(
        lists.len(),
        commands + 1,
        "the limit was right: none had to be cut"
    );
    lists
}

fn numbered(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("./some/directory/{number:06}"))
        .collect()
}

/// Returns the room that the kernel gives to arguments and environment, by execve(2).
fn room() -> usize {
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    let quarter = stack.map_or(usize::MAX, |stack| usize::try_from(stack / 4).unwrap());
    quarter.clamp(128 << 10, 6 << 20)
}

#[test]
fn a_hundred_thousand_names_fill_commands_to_the_limit() {
    let lists = all_arrive(&numbered(100_000));
    let (_last, full) = lists.split_last().unwrap();
    let environment: usize = std::env::vars_os()
        .map(|(name, value)| name.len() + value.len() + 10)
        .sum();
    for bytes in full {
        let used = bytes + environment;
        assert!(used <= room() && used > room() - 8192, "{used}");
    }
}

/// The test below runs this one, in a process of its own.
#[test]
#[ignore = "only in the surroundings that another test makes"]
fn in_a_small_room() {
    assert_eq!(room(), 128 << 10);
    let lists = all_arrive(&numbered(5000));
    assert!(lists.len() > 5, "the environment leaves a quarter");
}

#[test]
fn a_large_environment_leaves_less_and_a_small_stack_too() {
    let tests = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", "ulimit -s 256; exec \"$@\"", "sh"])
        .arg(tests)
        .args(["--exact", "in_a_small_room", "--ignored"])
        .env("LARGE", "x".repeat(100_000))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn the_longest_argument() {
    let longest = "x".repeat(131_071);
    let count = shell("test ${#0} = 131071", &["{}".as_ref()]);
    assert!(run(&count, &longest).succeeded);
    let longer = format!("{longest}y");
    let ran = run(&count, &longer);
    assert!(!ran.succeeded && ran.find_fails && !ran.ends);
    assert!(ran.messages[0].starts_with("command too long: "));
    assert!(ran.messages[0].contains(&longer));

    let collector = Collector::new(&shell("test ${#0} = 131071", &[]));
    let console = &mut Counting::default();
    assert_eq!(collector.push(longest.as_bytes(), console), None);
    let ran = collector.push(longer.as_bytes(), console).unwrap();
    assert!(ran.succeeded && ran.find_fails && !ran.ends);
    assert!(ran.messages[0].contains(&longer));
    let ran = collector.finish(console).unwrap();
    assert!(ran.succeeded && !ran.find_fails, "{ran:?}");
}

#[test]
fn names_may_hold_any_byte() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let name: Vec<u8> = (1..=255).collect();
    let one = shell(
        r#"printf '%s' "$1" > "$0""#,
        &[log.as_os_str(), "<{}>".as_ref()],
    );
    let ran = one.run(&name, None, b"", &mut Counting::default());
    assert!(ran.succeeded);
    assert_eq!(
        fs::read(&log).unwrap(),
        [b"<", name.as_slice(), b">"].concat()
    );
}

#[test]
fn a_directory_that_was_swapped_is_not_entered() {
    let dir = tempfile::tempdir().unwrap();
    let (tree, moved) = (dir.path().join("tree"), dir.path().join("moved"));
    let outside = dir.path().join("outside");
    for path in [&tree, &outside] {
        fs::create_dir(path).unwrap();
        fs::write(path.join("victim"), b"").unwrap();
    }
    let opened = directory(&tree);
    fs::rename(&tree, &moved).unwrap();
    std::os::unix::fs::symlink(&outside, &tree).unwrap();

    let mut remove = template(&["rm", "{}"].map(OsStr::new));
    remove.in_directory = true;
    let console = &mut Counting::default();
    let ran = remove.run(b"tree/victim", Some(opened.as_fd()), b"victim", console);
    assert!(ran.succeeded);
    assert!(outside.join("victim").exists());
    assert!(!moved.join("victim").exists());

    let collector = Collector::new(&template(&[OsStr::new("touch")]));
    let mut batch = collector.batch();
    for name in [&b"-one"[..], b"two"] {
        let ran = collector.add(&mut batch, opened.as_fd(), name, console);
        assert_eq!(ran, None);
    }
    let ran = collector.flush(&mut batch, opened.as_fd(), console);
    assert!(!ran.unwrap().find_fails);
    assert!(moved.join("-one").exists() && moved.join("two").exists());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_starting_point_is_in_the_directory_of_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let script = r#"printf '%s %s' "$(basename "$PWD")" "$1" > "$0""#;
    let mut show = shell(script, &[log.as_os_str(), "{}".as_ref()]);
    show.in_directory = true;
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    let path = dir.path().join("a/b/");
    assert!(run(&show, path.to_str().unwrap()).succeeded);
    assert_eq!(fs::read_to_string(&log).unwrap(), "a ./b/");

    let gone = dir.path().join("none/b");
    let ran = run(&show, gone.to_str().unwrap());
    assert!(!ran.succeeded && ran.find_fails && ran.ends);
    let text = "Failed to save working directory in order to run a command on ";
    assert!(ran.messages[0].starts_with(text));
    assert!(
        ran.messages[0].ends_with("/none/b’: No such file or directory")
            || ran.messages[0].ends_with("/none/b': No such file or directory")
    );
}

/// Answers come from a pipe, and questions go into one.
struct Piped {
    answers: PipeReader,
    questions: std::io::PipeWriter,
}

impl Console for Piped {
    fn flush(&mut self) {
        self.questions.write_all(b"[flushed]").unwrap();
    }

    fn confirm(&mut self, question: &[u8]) -> bool {
        ask(question, &self.questions, &self.answers)
    }
}

#[test]
fn commands_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let script = r#"{ echo "$1"; readlink /proc/self/fd/0; } >> "$0""#;
    let mut template = shell(script, &[log.as_os_str(), "{}".as_ref()]);
    template.ask = true;
    let (answers, mut writer) = pipe().unwrap();
    let (mut asked, questions) = pipe().unwrap();
    writer.write_all(b"y\nno\nYes, please\n").unwrap();
    drop(writer);
    let mut console = Piped { answers, questions };
    let answers: Vec<Ran> = ["a/1", "a/2", "a/3", "a/4"]
        .iter()
        .map(|path| template.run(path.as_bytes(), None, b"", &mut console))
        .collect();
    drop(console);
    let values: Vec<bool> = answers.iter().map(|ran| ran.succeeded).collect();
    assert_eq!(values, [true, false, true, false]);
    assert!(
        answers
            .iter()
            .all(|ran| ran.messages.is_empty() && !ran.find_fails)
    );
    let mut text = String::new();
    asked.read_to_string(&mut text).unwrap();
    let expected = [1, 2, 3, 4].map(|number| format!("[flushed]< sh ... a/{number} > ? "));
    assert_eq!(text, expected.concat());
    assert_eq!(
        fs::read_to_string(&log).unwrap(),
        "a/1\n/dev/null\na/3\n/dev/null\n"
    );
}

#[test]
fn what_is_run_can_be_traced() {
    let mut console = Counting::default();
    let words = ["sh", "-c", "exit 3", "{}"].map(OsStr::new);
    let ran = template(&words).run(b"a", None, b"", &mut console);
    assert!(!ran.succeeded);
    assert!(console.lines[0].starts_with("DebugExec: launching process (argc=4): "));
    assert!(console.lines[1].starts_with("DebugExec: process (PID="));
    assert!(console.lines[1].ends_with(") terminated with exit status: 3"));
    assert_eq!((console.lines.len(), console.flushes), (2, 1));
}

/// Returns GNU find's standard error, without its name, and its status.
fn gnu(dir: &Path, action: &str, words: &[&str], end: &[&str]) -> (Vec<String>, bool) {
    let output = Command::new("find")
        .current_dir(dir)
        .args([".", "-maxdepth", "0", action])
        .args(words)
        .args(end)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let messages = text
        .lines()
        .map(|line| line.strip_prefix("find: ").unwrap().to_owned())
        .collect();
    (messages, !output.status.success())
}

#[test]
fn failures_are_reported_as_by_gnu_find() {
    let version = Command::new("find").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(b"find (GNU")) {
        eprintln!("skipped: no GNU find");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    fs::write(&plain, b"true").unwrap();
    let script = dir.path().join("no interpreter");
    fs::write(&script, b"#!/nonexistent\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let (plain, script) = (plain.to_str().unwrap(), script.to_str().unwrap());
    let commands: &[&[&str]] = &[
        &["true"],
        &["false"],
        &["sh", "-c", "exit 77"],
        &["sh", "-c", "kill -KILL $$"],
        &["sh", "-c", "kill -TERM $$"],
        &["no such command"],
        &[plain],
        &[script],
        &["/"],
        &["x\ny"],
    ];
    for words in commands {
        for action in ["-exec", "-execdir"] {
            let words_os: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
            let mut template = template(&words_os);
            template.in_directory = action == "-execdir";
            let ran = run(&template, ".");
            let ours = (ran.messages, ran.find_fails);
            let (messages, failed) = gnu(dir.path(), action, words, &[";"]);
            // GNU find reports that a command cannot be run, but its status does not show it.
            let runs = messages.iter().all(|told| told.contains("terminated"));
            assert_eq!(ours, (messages, failed || !runs), "{words:?}");

            let collector = Collector::new(&template);
            let console = &mut Counting::default();
            let ran = if template.in_directory {
                collector.run_at_start(b".", console)
            } else {
                assert_eq!(collector.push(b".", console), None);
                collector.finish(console).unwrap()
            };
            let ours = (ran.messages, ran.find_fails);
            assert_eq!(
                ours,
                gnu(dir.path(), action, words, &["{}", "+"]),
                "{words:?}"
            );
        }
    }
}
