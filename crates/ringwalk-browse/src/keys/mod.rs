//! The table of keys. Key handling, the help screen and the manual are made from it.
//!
//! | file | contents |
//! |---|---|
//! | `key.rs` | one key, and how it is written |
//! | `table.rs` | the table |

mod key;
mod table;

pub use key::{Key, parse};
pub use table::TABLE;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Moves the cursor one line down.
    Down,
    /// Moves the cursor one line up.
    Up,
    /// Moves the cursor one screen down.
    PageDown,
    /// Moves the cursor one screen up.
    PageUp,
    /// Moves the cursor to the first line.
    First,
    /// Moves the cursor to the last line.
    Last,
    /// Opens the directory under the cursor, or shows a listed file in its directory.
    Open,
    /// Goes to the directory above.
    Above,
    /// Sorts by apparent size.
    SortSize,
    /// Sorts by allocated size.
    SortAlloc,
    /// Sorts by what deletion frees.
    SortFreeable,
    /// Sorts by the number of entries.
    SortEntries,
    /// Sorts by the time of the last change.
    SortMtime,
    /// Sorts by name.
    SortName,
    /// Sorts by owner.
    SortOwner,
    /// Sorts by growth since the older snapshot.
    SortGrowth,
    /// Shows apparent in place of allocated sizes, or the other way round.
    Weight,
    /// Puts directories before other files, or no longer.
    DirectoriesFirst,
    /// Shows the largest files below the directory.
    Largest,
    /// Shows totals by extension.
    Extensions,
    /// Shows totals by owner.
    Owners,
    /// Shows totals by age.
    Ages,
    /// Shows what could not be read.
    Unreadable,
    /// Shows the directory as a treemap.
    Treemap,
    /// Closes what covers the list; in the list, ends the filter.
    Close,
    /// Asks for a find expression and shows only what matches.
    Filter,
    /// Asks for a part of a name and moves the cursor to it.
    Search,
    /// Repeats the last search.
    SearchAgain,
    /// Marks the entry under the cursor, or takes the mark away.
    Mark,
    /// Marks the unmarked entries of the directory, and takes the marks of the others away.
    Invert,
    /// Takes all marks away.
    UnmarkAll,
    /// Asks for a find expression and marks what matches below the directory.
    MarkMatching,
    /// Shows everything known about the entry under the cursor.
    Info,
    /// Deletes the marked entries or the one under the cursor, after a question.
    Delete,
    /// Looks for extents that the marked entries, or the one under the cursor, share with other
    /// files.
    Unshared,
    /// Reads the entry under the cursor again.
    Rescan,
    /// Reads the directory that is shown again.
    RescanDirectory,
    /// Starts a shell in the directory.
    Shell,
    /// Asks for a file and writes the directory with all below it there.
    Export,
    /// Shows the keys.
    Help,
    /// Draws the whole screen anew.
    Redraw,
    /// Stops the program until the shell continues it.
    Suspend,
    /// Ends the program. A test counts the actions by this one, which is the last.
    Quit,
}

/// A section of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// Moving the cursor.
    Moving,
    /// Orders of the list.
    Sorting,
    /// What is shown.
    Views,
    /// Filter, search and marks.
    Choosing,
    /// What is done with entries.
    Entries,
    /// The program itself.
    Program,
}

impl Section {
    /// All sections, in the order of the help.
    pub const ALL: [Self; 6] = [
        Self::Moving,
        Self::Sorting,
        Self::Views,
        Self::Choosing,
        Self::Entries,
        Self::Program,
    ];

    /// Returns the heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Moving => "Moving",
            Self::Sorting => "Sorting (the same key again reverses the order)",
            Self::Views => "Views",
            Self::Choosing => "Filter, search and marks",
            Self::Entries => "Entries",
            Self::Program => "Program",
        }
    }
}

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the list and in the treemap.
    List,
    /// In the list, the treemap and the panes.
    Anywhere,
}

impl Place {
    /// Returns the place in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::List => "list and treemap",
            Self::Anywhere => "everywhere",
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The keys. Any of them will do.
    pub keys: &'static [Key],
    /// What they do.
    pub action: Action,
    /// What they do, in words.
    pub help: &'static str,
    /// Where they work.
    pub place: Place,
    /// The section of the table.
    pub section: Section,
}

impl Binding {
    /// Returns the names of the keys, separated by commas.
    pub fn names(&self) -> String {
        let names: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
        names.join(", ")
    }
}

/// Returns the row of a key.
pub fn binding(key: Key) -> Option<&'static Binding> {
    TABLE.iter().find(|binding| binding.keys.contains(&key))
}

#[cfg(test)]
mod tests;
