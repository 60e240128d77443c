//! The declarations of `ringwalk.h` with their comments.

/// A declaration of the header: a function, a struct, a type or a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Declaration {
    /// The lines of the comment above it, without `//`.
    pub(super) comment: Vec<String>,
    /// The lines of C.
    pub(super) code: Vec<String>,
}

impl Declaration {
    /// Returns the name that is declared; `None` for what the pages do not describe, such as the
    /// name of a struct alone.
    pub(super) fn name(&self) -> Option<&str> {
        let first = self.code.first()?;
        if let Some(definition) = first.strip_prefix("#define ") {
            return definition.split_once(' ').map(|(name, _)| name);
        }
        if let Some(struct_name) = first.strip_prefix("struct ") {
            return struct_name.strip_suffix(" {");
        }
        if let Some(typedef) = first.strip_prefix("typedef int (*") {
            return typedef.split_once(')').map(|(name, _)| name);
        }
        let (before, _) = first.split_once('(')?;
        before.rsplit([' ', '*']).next()
    }

    /// Returns true for a function.
    pub(super) fn is_function(&self) -> bool {
        let is_other = |code: &String| {
            ["#", "struct ", "typedef "]
                .iter()
                .any(|start| code.starts_with(start))
        };
        let first = self.code.first();
        first.is_some_and(|code| code.contains('(') && !is_other(code))
    }

    /// Returns true for a number.
    pub(super) fn is_number(&self) -> bool {
        let first = self.code.first();
        first.is_some_and(|code| code.starts_with("#define "))
    }

    /// Returns the members of a struct.
    pub(super) fn members(&self) -> Vec<Declaration> {
        match &self.code[..] {
            [_, members @ .., _] => split(members.iter().map(|line| line.trim())),
            _ => Vec::new(),
        }
    }

    /// Returns the part of a function's comment below a heading such as `Errors`; with `None`, the
    /// part above the first heading.
    pub(super) fn part(&self, heading: Option<&str>) -> &[String] {
        const HEADINGS: [&str; 3] = ["Return value:", "Errors:", "The caller must ensure:"];
        let lines = &self.comment[..];
        let is_heading = |line: &String| HEADINGS.contains(&line.as_str());
        let begin = match heading {
            None => 0,
            Some(heading) => {
                let of = |line: &String| line.strip_suffix(':') == Some(heading);
                match lines.iter().position(of) {
                    Some(at) => at + 1,
                    None => return &[],
                }
            }
        };
        let rest = &lines[begin..];
        &rest[..rest.iter().position(is_heading).unwrap_or(rest.len())]
    }
}

/// Returns all declarations of the header that have a name.
pub(super) fn declarations(header: &str) -> Vec<Declaration> {
    let all = split(header.lines());
    all.into_iter()
        .filter(|declaration| declaration.name().is_some())
        .collect()
}

/// Splits lines of C into declarations. A declaration ends with a line that ends it, and a comment
/// that is followed by an empty line belongs to none.
fn split<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<Declaration> {
    let mut found = Vec::new();
    let mut next = Declaration::default();
    for line in lines {
        if next.code.is_empty() && line.starts_with("//") {
            let text = line.trim_start_matches('/');
            let text = text.strip_prefix(' ').unwrap_or(text);
            next.comment.push(text.to_owned());
            continue;
        }
        if line.is_empty() && next.code.is_empty() {
            next = Declaration::default();
            continue;
        }
        next.code.push(line.to_owned());
        let is_struct = next.code[0].starts_with("struct ") && next.code[0].ends_with('{');
        let is_over = if is_struct {
            line == "};"
        } else {
            line.starts_with('#') || line.ends_with(';') || line.ends_with('{')
        };
        if is_over {
            found.push(std::mem::take(&mut next));
        }
    }
    found
}
