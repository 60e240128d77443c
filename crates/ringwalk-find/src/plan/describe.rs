//! The plan in words: for `-D tree` and `--explain`.

use super::{Plan, Step, StepKind, When};
use crate::expression::{Command, Leaf, Test};
use ringwalk_gnu::quote;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

impl Plan<'_> {
    /// Returns the plan with the reason for each decision, as lines without the program's name.
    pub(crate) fn describe(&self, command: &Command) -> Vec<String> {
        let mut lines = vec!["expression, in the order of evaluation:".to_owned()];
        write_step(&self.expression, 1, &mut lines);
        if let Some(exclude) = &self.exclude {
            lines.push("left out, with all below:".to_owned());
            write_step(exclude, 1, &mut lines);
        }
        let part = 100.0 * self.expression.estimate.asks_metadata;
        lines.push(format!(
            "metadata: {}",
            match self.when {
                When::Never =>
                    "none is asked for; names and types come from the directories".to_owned(),
                When::Needed => format!(
                    "{}, asked for when it is needed, which is expected for {part:.0} % of the files",
                    self.field_names()
                ),
                When::Always => format!(
                    "{}, asked for of every file; it is expected to be needed for {part:.0} %",
                    self.field_names()
                ),
            }
        ));
        lines.push(format!(
            "workers: {}",
            match self.serial {
                Some(reason) => format!("one ({reason})"),
                None =>
                    "as many as help the walk; all of them may evaluate the expression".to_owned(),
            }
        ));
        lines.push(format!("order: {}", self.describe_order(command)));
        if let super::Reach::Beginning(prefixes) = &self.reach {
            let shown: Vec<_> = prefixes.iter().map(|prefix| quote::value(prefix)).collect();
            lines.push(format!(
                "directories: only those that lead to paths beginning with {}",
                if shown.is_empty() {
                    "nothing at all".to_owned()
                } else {
                    shown.join(", ")
                }
            ));
        }
        lines
    }

    fn describe_order(&self, command: &Command) -> &'static str {
        match (
            self.ordered,
            command.options.sorted,
            command.options.depth_first,
        ) {
            (true, _, false) => "by name, each directory before its contents",
            (true, _, true) => "by name, each directory after its contents",
            (false, true, _) => "by name within each directory",
            (false, false, true) => "each directory after its contents",
            (false, false, false) => "each directory before its contents",
        }
    }

    fn field_names(&self) -> String {
        let names: Vec<_> = self
            .fields
            .iter_names()
            .map(|(name, _)| name.to_lowercase())
            .collect();
        names.join(", ")
    }
}

fn write_step(step: &Step<'_>, level: usize, lines: &mut Vec<String>) {
    let mut line = "  ".repeat(level);
    let (name, parts): (_, &[Step<'_>]) = match &step.kind {
        StepKind::Test(leaf) => {
            line.push_str(&words(&leaf.words));
            let _ = write!(line, "  [{}]", notes(step, leaf));
            lines.push(line);
            return;
        }
        StepKind::Action(leaf) | StepKind::Gather(leaf, _) => {
            line.push_str(&words(&leaf.words));
            lines.push(line);
            return;
        }
        StepKind::Not(inner) => ("not", std::slice::from_ref(inner)),
        StepKind::And(parts) => ("and", parts),
        StepKind::Or(parts) => ("or", parts),
        StepKind::List(parts) => ("each of", parts),
    };
    line.push_str(name);
    lines.push(line);
    for part in parts {
        write_step(part, level + 1, lines);
    }
}

/// Returns how a test is decided, what it costs and how often it is expected to be true.
fn notes(step: &Step<'_>, leaf: &Leaf<Test>) -> String {
    let estimate = &step.estimate;
    let how = match leaf.is.method() {
        Some(method) => format!("{method}, "),
        None if estimate.asks_metadata > 0.0 => "metadata, ".to_owned(),
        None => String::new(),
    };
    let (cost, success) = (estimate.cost, 100.0 * estimate.success);
    format!("{how}about {cost:.0} ns, true of {success:.1} %")
}

/// Returns words in the form in which a shell takes them.
pub(crate) fn words(words: &[OsString]) -> String {
    let shown: Vec<_> = words
        .iter()
        .map(|word| quote::file(word.as_bytes()))
        .collect();
    shown.join(" ")
}

impl Plan<'_> {
    /// Returns the moments that files are compared with, in seconds since 1970, for `-D time`.
    pub(crate) fn describe_times(&self) -> Vec<String> {
        let mut lines = Vec::new();
        write_times(&self.expression, &mut lines);
        if let Some(exclude) = &self.exclude {
            write_times(exclude, &mut lines);
        }
        lines
    }
}

fn write_times(step: &Step<'_>, lines: &mut Vec<String>) {
    match &step.kind {
        StepKind::Test(leaf) => {
            if let Some(moments) = leaf.is.moments() {
                lines.push(format!("{}: {moments}", words(&leaf.words)));
            }
        }
        StepKind::Action(_) | StepKind::Gather(..) => {}
        StepKind::Not(inner) => write_times(inner, lines),
        StepKind::And(parts) | StepKind::Or(parts) | StepKind::List(parts) => {
            for part in parts {
                write_times(part, lines);
            }
        }
    }
}

impl Plan<'_> {
    /// Returns the counts for `-D rates`: how often each part was evaluated and was true.
    pub(crate) fn describe_rates(&self, counts: &[(u64, u64)]) -> Vec<String> {
        let mut lines = vec!["evaluated, true:".to_owned()];
        write_rates(&self.expression, 1, counts, &mut lines);
        if let Some(exclude) = &self.exclude {
            lines.push("left out: evaluated, true:".to_owned());
            write_rates(exclude, 1, counts, &mut lines);
        }
        lines
    }
}

fn write_rates(step: &Step<'_>, level: usize, counts: &[(u64, u64)], lines: &mut Vec<String>) {
    let (asked, held) = counts[step.number];
    let (name, parts): (_, &[Step<'_>]) = match &step.kind {
        StepKind::Test(leaf) => (words(&leaf.words), &[]),
        StepKind::Action(leaf) | StepKind::Gather(leaf, _) => (words(&leaf.words), &[]),
        StepKind::Not(inner) => ("not".to_owned(), std::slice::from_ref(inner)),
        StepKind::And(parts) => ("and".to_owned(), parts),
        StepKind::Or(parts) => ("or".to_owned(), parts),
        StepKind::List(parts) => ("each of".to_owned(), parts),
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let part = if asked == 0 {
        0.0
    } else {
        100.0 * held as f64 / asked as f64
    };
    lines.push(format!(
        "{}{name}  [{asked}, {held}: {part:.1} %]",
        "  ".repeat(level)
    ));
    for inner in parts {
        write_rates(inner, level + 1, counts, lines);
    }
}
