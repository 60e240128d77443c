//! A line of text that somebody types.

use super::{App, Mode};
use crate::keys::Key;
use crate::service::{Export, Format};
use std::path::PathBuf;

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// An expression of find, as the filter.
    Filter,
    /// A part of a name.
    Search,
    /// An expression of find whose matches are marked.
    MarkMatching,
    /// A file for an export.
    Export,
}

impl Asked {
    /// Returns the words before the line.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Filter => "Filter: ",
            Self::Search => "Search: ",
            Self::MarkMatching => "Mark: ",
            Self::Export => "Export to: ",
        }
    }

    /// Returns what to type, for an empty line.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Filter => "an expression of find, such as -name '*.o' -mtime +30",
            Self::Search => "a part of a name",
            Self::MarkMatching => "an expression of find, such as -size +1G",
            Self::Export => "FILE.ndjson, FILE.json for ncdu, or FILE.parquet for a snapshot",
        }
    }
}

/// A line that is being typed. The cursor is at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// What the line is for.
    pub(crate) asked: Asked,
    /// What was typed.
    pub(crate) text: String,
}

impl Prompt {
    /// Edits the line. Returns true if the key has ended it: Enter.
    fn edit(&mut self, key: Key) -> bool {
        match key {
            Key::Char(letter) => self.text.push(letter),
            // Some terminals send Ctrl-H for Backspace.
            Key::Backspace | Key::Ctrl('h') => {
                self.text.pop();
            }
            Key::Ctrl('u') => self.text.clear(),
            Key::Ctrl('w') => {
                let rest = self.text.trim_end();
                let keep = rest.rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(keep);
            }
            Key::Enter => return true,
            _ => {}
        }
        false
    }
}

impl App {
    pub(super) fn prompt_key(&mut self, key: Key) {
        let Mode::Prompt(prompt) = &mut self.mode else {
            return;
        };
        self.message = None;
        if matches!(key, Key::Escape | Key::Ctrl('c')) {
            self.mode = Mode::Browse;
            return;
        }
        if !prompt.edit(key) {
            return;
        }
        let prompt = prompt.clone();
        let is_done = match prompt.asked {
            Asked::Filter => self.start_filter(&prompt.text),
            Asked::MarkMatching => self.start_marking(&prompt.text),
            Asked::Search => {
                if !prompt.text.is_empty() {
                    self.searched = prompt.text;
                }
                self.search();
                true
            }
            Asked::Export => self.export(&prompt.text),
        };
        // What was typed stays there to be corrected.
        if is_done {
            self.mode = Mode::Browse;
        }
    }

    /// Begins an export. Returns false if the name of the file is no good.
    fn export(&mut self, text: &str) -> bool {
        if text.is_empty() {
            return true;
        }
        let file = PathBuf::from(text);
        let Some(format) = Format::of(&file) else {
            self.complain("the name must end in .ndjson, .json or .parquet");
            return false;
        };
        let Ok(actions) = self.services.actions.clone() else {
            return true;
        };
        let matches = self.matches().cloned();
        if matches.as_ref().is_some_and(|it| !it.progress().finished) {
            self.complain("the filter is still looking for matches: export when it has ended");
            return false;
        }
        let directory = self.list.directory;
        let text = text.to_owned();
        self.answers.export.ask(&self.exporter, move || {
            let export = Export {
                format,
                file: &file,
                matches: matches.as_deref(),
            };
            let what = if matches.is_some() {
                "what matches was exported"
            } else {
                "exported"
            };
            let done = actions.export(directory, &export);
            done.map(|missing| (format!("{what} to {text}"), missing))
        });
        self.tell("exporting");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing() {
        let mut prompt = Prompt {
            asked: Asked::Filter,
            text: "-name x".to_owned(),
        };
        assert!(!prompt.edit(Key::Backspace));
        assert!(!prompt.edit(Key::Char('é')));
        assert_eq!(prompt.text, "-name é");
        prompt.edit(Key::Ctrl('w'));
        assert_eq!(prompt.text, "-name ");
        prompt.edit(Key::Ctrl('w'));
        assert_eq!(prompt.text, "");
        assert!(prompt.edit(Key::Enter));
    }
}
