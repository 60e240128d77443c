//! What the keys of the table do.

use super::{App, Asked, Mode, Prompt, Wish};
use crate::keys::{Action, Key, Place, binding};
use crate::tree::{Direction, GroupKey, Id, Item, ReadState, SortKey, Weight};
use crate::view::{List, PaneKind};
use std::time::Instant;

impl App {
    /// Does what a key is for.
    pub(crate) fn key(&mut self, key: Key) {
        self.draw_now();
        if !self.end_search(key) {
            return;
        }
        // An entry that nobody touched may move away from under the cursor; not from now on.
        self.list.hold();
        match &mut self.mode {
            Mode::Browse => self.browse_key(key),
            Mode::Help(_) | Mode::Info(..) => self.reading_key(key),
            Mode::Prompt(_) => self.prompt_key(key),
            Mode::Asking(_) => self.asking_key(key),
            Mode::Deleting(_) => self.deleting_key(key),
        }
    }

    /// Scrolls the help or the details, or closes them.
    fn reading_key(&mut self, key: Key) {
        let (Mode::Help(line) | Mode::Info(_, line)) = &mut self.mode else {
            return;
        };
        // Drawing limits the line to those there are.
        match binding(key).map(|binding| binding.action) {
            Some(Action::Down) => *line = line.saturating_add(1),
            Some(Action::Up) => *line = line.saturating_sub(1),
            Some(Action::PageDown) => *line = line.saturating_add(10),
            Some(Action::PageUp) => *line = line.saturating_sub(10),
            Some(Action::First) => *line = 0,
            Some(Action::Last) => *line = usize::MAX,
            Some(action @ (Action::Redraw | Action::Suspend)) => self.act(action),
            _ => self.mode = Mode::Browse,
        }
    }

    fn browse_key(&mut self, key: Key) {
        self.message = None;
        let Some(binding) = binding(key) else {
            return self.tell(format!("{key} has no meaning; ? shows the keys"));
        };
        if binding.place == Place::List && self.pane.is_some() {
            return self.tell(format!("{key} works in the list only; Esc goes back to it"));
        }
        self.act(binding.action);
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Down => self.step(1),
            Action::Up => self.step(-1),
            Action::PageDown => self.step(self.page()),
            Action::PageUp => self.step(-self.page()),
            Action::First => self.step(isize::MIN),
            Action::Last => self.step(isize::MAX),
            Action::Open => self.open(),
            Action::Above => self.above(),
            Action::SortSize => self.sort_by_weight(Weight::Size),
            Action::SortAlloc => self.sort_by_weight(Weight::Alloc),
            Action::SortFreeable => self.sort(SortKey::Freeable),
            Action::SortEntries => self.sort(SortKey::Entries),
            Action::SortMtime => self.sort(SortKey::Mtime),
            Action::SortName => self.sort(SortKey::Name),
            Action::SortOwner => self.sort(SortKey::Owner),
            Action::SortGrowth => self.sort_by_growth(),
            Action::DirectoriesFirst => {
                self.order.order.directories_first ^= true;
                self.ask_listing(Instant::now());
            }
            Action::Weight => self.toggle_weight(),
            Action::Largest => self.open_pane(PaneKind::Largest),
            Action::Extensions => self.open_pane(PaneKind::Groups(GroupKey::Extension)),
            Action::Owners => self.open_pane(PaneKind::Groups(GroupKey::Owner)),
            Action::Ages => self.open_pane(PaneKind::Groups(GroupKey::Age)),
            Action::Unreadable => self.open_pane(PaneKind::Unreadable),
            Action::Treemap => self.open_pane(PaneKind::Treemap),
            Action::Close => self.close(),
            Action::Filter => self.prompt(Asked::Filter),
            Action::Search => self.prompt(Asked::Search),
            Action::SearchAgain => self.search(),
            Action::Mark => self.mark(),
            Action::Invert => self.invert(),
            Action::UnmarkAll => self.marks.clear(),
            Action::MarkMatching => self.prompt(Asked::MarkMatching),
            Action::Info => self.info(),
            Action::Delete => self.ask_deletion(),
            Action::Unshared => self.look_for_shared(),
            Action::Rescan => self.rescan(),
            Action::RescanDirectory => self.rescan_at(self.list.directory),
            Action::Shell => self.shell(),
            Action::Export => self.prompt(Asked::Export),
            Action::Help => self.mode = Mode::Help(0),
            Action::Redraw => self.wish = Some(Wish::Redraw),
            Action::Suspend => self.wish = Some(Wish::Suspend),
            Action::Quit => self.wish = Some(Wish::Quit),
        }
    }

    fn step(&mut self, rows: isize) {
        match &mut self.pane {
            Some(pane) => {
                let count = pane.len();
                pane.cursor.step(rows, count);
            }
            None => self.list.cursor.step(rows, self.list.len()),
        }
    }

    fn page(&self) -> isize {
        self.pane
            .as_ref()
            .map_or(self.list.cursor, |pane| pane.cursor)
            .page()
    }

    /// Returns the entry under the cursor, or says that there is none.
    pub(super) fn current(&mut self) -> Option<Item> {
        let Some(id) = self.current_id() else {
            self.tell("there is no entry under the cursor");
            return None;
        };
        match self.tree.items(&[id]) {
            Ok(mut items) if !items.is_empty() => items.pop(),
            Ok(_) => {
                self.tell("the entry is gone");
                None
            }
            Err(error) => {
                self.complain(format!("cannot read the entry: {error}"));
                None
            }
        }
    }

    fn open(&mut self) {
        let Some(item) = self.current() else { return };
        if !item.is_directory() {
            if self.pane.is_some() {
                return self.show_in_list(item.id);
            }
            return self.tell("this is not a directory; i shows its details");
        }
        match item.state {
            ReadState::OtherFileSystem => {
                self.tell("this directory is on another file system and was not read");
            }
            _ => self.enter(item.id, None),
        }
    }

    fn above(&mut self) {
        if self.pane.is_some() && !self.is_treemap() {
            self.pane = None;
            return;
        }
        match self.tree.parent(self.list.directory) {
            Ok(Some(parent)) => self.enter(parent, Some(self.list.directory)),
            Ok(None) => self.tell("this is the top of the tree"),
            Err(error) => self.complain(format!("cannot go up: {error}")),
        }
    }

    /// Closes the pane and shows an entry in the list of its directory.
    fn show_in_list(&mut self, id: Id) {
        match self.tree.parent(id) {
            Ok(Some(directory)) => {
                self.pane = None;
                self.enter(directory, Some(id));
            }
            Ok(None) => self.tell("the entry is gone"),
            Err(error) => self.complain(format!("cannot find the directory: {error}")),
        }
    }

    /// Shows the list of a directory.
    pub(super) fn enter(&mut self, directory: Id, wanted: Option<Id>) {
        let path = match self.tree.path(directory) {
            Ok(path) => path,
            Err(error) => return self.complain(format!("cannot open the directory: {error}")),
        };
        if let Some(id) = self.list.current_id() {
            self.remembered.insert(self.list.directory, id);
        }
        let wanted = wanted.or_else(|| self.remembered.get(&directory).copied());
        self.list = List::open(directory, path, wanted, &self.list);
        self.ask_listing(Instant::now());
        self.renew_pane();
    }

    fn sort(&mut self, key: SortKey) {
        let order = &mut self.order.order;
        let is_again = order.key == key && !self.order.by_growth;
        order.direction = match order.direction {
            Direction::Usual if is_again => Direction::Reversed,
            _ => Direction::Usual,
        };
        order.key = key;
        self.order.by_growth = false;
        self.ask_listing(Instant::now());
    }

    /// Sorts by one of the two sizes and shows that one.
    fn sort_by_weight(&mut self, weight: Weight) {
        self.weight = weight;
        self.sort(crate::view::key_of(weight));
    }

    fn sort_by_growth(&mut self) {
        if let Err(reason) = &self.services.comparison {
            let text = format!("cannot sort by growth: {reason}");
            return self.complain(text);
        }
        let order = &mut self.order.order;
        order.direction = match order.direction {
            Direction::Usual if self.order.by_growth => Direction::Reversed,
            _ => Direction::Usual,
        };
        self.order.by_growth = true;
        self.ask_listing(Instant::now());
    }

    fn toggle_weight(&mut self) {
        let old = self.weight;
        self.weight = match old {
            Weight::Alloc => Weight::Size,
            Weight::Size => Weight::Alloc,
        };
        if self.order.order.key == crate::view::key_of(old) {
            self.order.order.key = crate::view::key_of(self.weight);
        }
        self.ask_listing(Instant::now());
        self.renew_pane();
    }

    fn close(&mut self) {
        if self.forget_unshared() {
            return self.tell("the look at extents was given up");
        }
        if self.pane.take().is_none() && self.filter.take().is_some() {
            self.ask_listing(Instant::now());
        }
    }

    fn info(&mut self) {
        if let Some(item) = self.current() {
            self.mode = Mode::Info(item.id, 0);
        }
    }

    fn prompt(&mut self, asked: Asked) {
        let (service, what) = match asked {
            Asked::Filter => (self.services.filter.as_ref().err(), "filter"),
            Asked::MarkMatching => (self.services.filter.as_ref().err(), "mark"),
            Asked::Export => (self.services.actions.as_ref().err(), "export"),
            Asked::Search => (None, "search"),
        };
        if let Some(reason) = service {
            let text = format!("cannot {what}: {reason}");
            return self.complain(text);
        }
        let text = match (asked, &self.filter) {
            (Asked::Filter, Some(filter)) => filter.text.clone(),
            _ => String::new(),
        };
        self.mode = Mode::Prompt(Prompt { asked, text });
    }

    fn rescan(&mut self) {
        if let Some(item) = self.current() {
            self.rescan_at(item.id);
        }
    }

    fn rescan_at(&mut self, id: Id) {
        let result = match &self.services.actions {
            Ok(actions) => actions.rescan(id),
            Err(reason) => Err(reason.clone()),
        };
        match result {
            Ok(()) => {
                self.kept.remove(&id);
                self.tell("reading it again");
            }
            Err(reason) => self.complain(format!("cannot read it again: {reason}")),
        }
    }

    fn shell(&mut self) {
        match &self.services.actions {
            Ok(_) => self.wish = Some(Wish::Shell(self.list.path.clone())),
            Err(reason) => {
                let text = format!("cannot start a shell: {reason}");
                self.complain(text);
            }
        }
    }
}
