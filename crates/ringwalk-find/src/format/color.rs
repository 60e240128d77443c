//! Names in colours.

use super::ls_colors::{Key, LsColors};
use super::path::base_start;
use crate::facts::Facts;
use ringwalk::{Fields, FileType};
use ringwalk_gnu::terminal_safe;
use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;

/// The colours of names: by the type of the file, its mode, or the end of the name.
#[derive(Clone, Debug)]
pub struct Colors {
    ls_colors: LsColors,
    fields: Fields,
}

impl Colors {
    /// Reads the colours from `LS_COLORS`. Colours that are not set there are the same as in bfs.
    /// The variable is read up to the first entry that cannot be understood.
    pub fn from_environment() -> Self {
        use std::os::unix::ffi::OsStrExt as _;
        let value = std::env::var_os("LS_COLORS").unwrap_or_default();
        Self::parse(value.as_bytes())
    }

    fn parse(value: &[u8]) -> Self {
        let ls_colors = LsColors::parse(value);
        let any = |keys: &[Key]| keys.iter().any(|key| ls_colors.get(*key).is_some());
        let mut fields = Fields::empty();
        if any(&[
            Key::Executable,
            Key::SetUid,
            Key::SetGid,
            Key::Sticky,
            Key::OtherWritable,
            Key::StickyOtherWritable,
        ]) {
            fields |= Fields::MODE;
        }
        if any(&[Key::ManyLinks]) {
            fields |= Fields::NLINK;
        }
        Self { ls_colors, fields }
    }

    /// Returns the metadata that the colours of files and directories need. None if no colour
    /// depends on modes or numbers of links.
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// Appends the path. The last component has its own colour; the path before it has the colour
    /// of directories.
    pub fn write_path(&self, file: &impl Facts, out: &mut Vec<u8>) {
        self.write(file, |name, out| out.extend_from_slice(name), out);
    }

    /// As [`write_path`](Self::write_path), for a terminal: names are written in the form of
    /// [`terminal_safe`].
    pub fn write_path_to_terminal(&self, file: &impl Facts, out: &mut Vec<u8>) {
        self.write(file, terminal_safe, out);
    }

    fn write(&self, file: &impl Facts, name: impl Fn(&[u8], &mut Vec<u8>), out: &mut Vec<u8>) {
        let path = file.path();
        let (directory, base) = path.split_at(base_start(path).unwrap_or(0));
        if !directory.is_empty() {
            let color = self.ls_colors.get(Key::Directory);
            self.write_in(color, |out| name(directory, out), out);
        }
        self.write_in(self.color_of(file, base), |out| name(base, out), out);
    }

    fn write_in(&self, color: Option<&[u8]>, write: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        let Some(color) = color else {
            return write(out);
        };
        out.extend_from_slice(&self.ls_colors.left);
        out.extend_from_slice(color);
        out.extend_from_slice(&self.ls_colors.right);
        write(out);
        self.ls_colors.write_end(out);
    }

    fn color_of(&self, file: &impl Facts, base: &[u8]) -> Option<&[u8]> {
        let normal = || self.ls_colors.get(Key::Normal);
        let found = match file.file_type() {
            FileType::Symlink => match self.of_link(file, base) {
                Ok(color) => color,
                Err(color) => return color,
            },
            FileType::Regular | FileType::Directory => {
                let known = (!self.fields.is_empty()).then(|| file.metadata().ok());
                let known = known.flatten();
                let (mode, links) = known.map_or((0, 1), |known| {
                    let mode = known.permissions().unwrap_or(0);
                    (mode, known.nlink().unwrap_or(1))
                });
                self.of_type(file.file_type(), mode, links, file.path(), base)
            }
            other => self.of_type(other, 0, 1, file.path(), base),
        };
        found.or_else(normal)
    }

    fn of_type(
        &self,
        file_type: FileType,
        mode: u32,
        links: u32,
        path: &[u8],
        base: &[u8],
    ) -> Option<&[u8]> {
        let key = match file_type {
            FileType::Regular => return self.of_regular(mode, links, path, base),
            FileType::Directory => return self.of_directory(mode),
            FileType::Symlink => Key::Link,
            FileType::BlockDevice => Key::Block,
            FileType::CharacterDevice => Key::Character,
            FileType::Fifo => Key::Fifo,
            FileType::Socket => Key::Socket,
            FileType::Unknown => Key::Normal,
        };
        self.ls_colors.get(key)
    }

    fn of_regular(&self, mode: u32, links: u32, path: &[u8], base: &[u8]) -> Option<&[u8]> {
        let colors = &self.ls_colors;
        let when = |is: bool, key| is.then(|| colors.get(key)).flatten();
        let capable = || {
            let color = colors.get(Key::Capable)?;
            has_capabilities(path).then_some(color)
        };
        when(mode & 0o4000 != 0, Key::SetUid)
            .or_else(|| when(mode & 0o2000 != 0, Key::SetGid))
            .or_else(capable)
            .or_else(|| when(mode & 0o111 != 0, Key::Executable))
            .or_else(|| when(links > 1, Key::ManyLinks))
            .or_else(|| colors.of_name(base))
            .or_else(|| colors.get(Key::File))
    }

    fn of_directory(&self, mode: u32) -> Option<&[u8]> {
        let colors = &self.ls_colors;
        let when = |is: bool, key| is.then(|| colors.get(key)).flatten();
        let (sticky, writable) = (mode & 0o1000 != 0, mode & 0o002 != 0);
        when(sticky && writable, Key::StickyOtherWritable)
            .or_else(|| when(writable, Key::OtherWritable))
            .or_else(|| when(sticky, Key::Sticky))
            .or_else(|| colors.get(Key::Directory))
    }

    /// Returns the colour of a link. An error is final: no other colour is tried, even if it is
    /// none.
    fn of_link(&self, file: &impl Facts, base: &[u8]) -> Result<Option<&[u8]>, Option<&[u8]>> {
        let colors = &self.ls_colors;
        if !colors.link_as_target {
            let orphan = || {
                let color = colors.get(Key::Orphan)?;
                file.is_orphan().then_some(color)
            };
            return Ok(orphan().or_else(|| colors.get(Key::Link)));
        }
        match rustix::fs::statat(CWD, file.path(), AtFlags::empty()) {
            Ok(stat) => {
                let links = u32::try_from(stat.st_nlink).unwrap_or(u32::MAX);
                let file_type = FileType::from_mode(stat.st_mode);
                Ok(self.of_type(file_type, stat.st_mode, links, file.path(), base))
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(colors.get(Key::Orphan)),
            // As in bfs, which does not even use `no` then.
            Err(_) => Err(colors.get(Key::Missing)),
        }
    }
}

/// Returns true if the kernel gives the file capabilities when it is executed (capabilities(7),
/// "File capabilities").
fn has_capabilities(path: &[u8]) -> bool {
    let mut value = [0_u8; 64];
    rustix::fs::getxattr(path, c"security.capability", &mut value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    fn colored(ls_colors: &str, file: &Fake) -> String {
        let mut out = Vec::new();
        let colors = Colors::parse(ls_colors.as_bytes());
        colors.write_path(file, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn file(path: &str, file_type: FileType, mode: u32) -> Fake {
        let mut file = Fake {
            path: path.into(),
            file_type,
            ..Fake::default()
        };
        file.metadata.as_mut().unwrap().set_permissions(mode);
        file
    }

    #[test]
    fn fields() {
        let fields = |value: &str| Colors::parse(value.as_bytes()).fields();
        assert_eq!(fields(""), Fields::MODE);
        let no_modes = "ex=0:su=0:sg=0:tw=0:ow=0:st=0";
        assert_eq!(fields(no_modes), Fields::empty());
        assert_eq!(fields("mh=1"), Fields::MODE | Fields::NLINK);
    }

    #[test]
    fn directories_are_coloured_in_paths() {
        let regular = file("c/f", FileType::Regular, 0o644);
        assert_eq!(colored("", &regular), "\x1b[01;34mc/\x1b[0mf");
        assert_eq!(colored("di=0", &regular), "c/f");
        assert_eq!(colored("fi=2:lc=<:rc=>", &regular), "<01;34>c/<0><2>f<0>");
        assert_eq!(colored("ec=!:di=1", &regular), "\x1b[1mc/!f");
        let plain = "lc=<:rc=>:ec=!:di=1";
        for (path, expected) in [
            ("c", "<1>c!"),
            ("c//", "<1>c//!"),
            ("/", "<1>/!"),
            ("./c//dir/", "<1>./c//!<1>dir/!"),
        ] {
            let directory = file(path, FileType::Directory, 0o755);
            assert_eq!(colored(plain, &directory), expected);
        }
    }

    #[test]
    fn modes() {
        let all = "lc=<:rc=>:ec=!:su=1:sg=2:ex=3:st=6:tw=7:ow=8:di=9:fi=f:no=n";
        let regular = |mode| colored(all, &file("f", FileType::Regular, mode));
        assert_eq!(regular(0o6755), "<1>f!");
        assert_eq!(regular(0o2755), "<2>f!");
        assert_eq!(regular(0o601), "<3>f!");
        assert_eq!(regular(0o644), "<f>f!");
        let directory = |mode| colored(all, &file("d", FileType::Directory, mode));
        assert_eq!(directory(0o1777), "<7>d!");
        assert_eq!(directory(0o777), "<8>d!");
        assert_eq!(directory(0o1755), "<6>d!");
        assert_eq!(directory(0o755), "<9>d!");
        let sticky = file("d", FileType::Directory, 0o1777);
        assert_eq!(colored("lc=<:rc=>:ec=!:tw=0:ow=0", &sticky), "<37;44>d!");
        let mut linked = file("f.c", FileType::Regular, 0o644);
        linked.metadata.as_mut().unwrap().set_nlink(2);
        assert_eq!(colored("lc=<:rc=>:ec=!:mh=4:*.c=5", &linked), "<4>f.c!");
        assert_eq!(colored("lc=<:rc=>:ec=!:*.c=5", &linked), "<5>f.c!");
    }

    #[test]
    fn types() {
        let all = "lc=<:rc=>:ec=!:bd=1:cd=2:pi=3:so=4:no=5";
        for (file_type, color) in [
            (FileType::BlockDevice, "1"),
            (FileType::CharacterDevice, "2"),
            (FileType::Fifo, "3"),
            (FileType::Socket, "4"),
            (FileType::Unknown, "5"),
            (FileType::Regular, "5"),
        ] {
            let expected = format!("<{color}>x!");
            assert_eq!(colored(all, &file("x", file_type, 0)), expected);
        }
        let bare = "lc=<:rc=>:ec=!:bd=0:no=3";
        assert_eq!(colored(bare, &file("x", FileType::BlockDevice, 0)), "<3>x!");
    }

    #[test]
    fn links() {
        let all = "lc=<:rc=>:ec=!:ln=1:or=2";
        let mut link = file("l", FileType::Symlink, 0o777);
        assert_eq!(colored(all, &link), "<1>l!");
        link.target_type = Err(Errno::NOENT);
        assert_eq!(colored(all, &link), "<2>l!");
        assert_eq!(colored("lc=<:rc=>:ec=!:ln=1", &link), "<1>l!");
    }

    #[test]
    fn links_as_what_they_lead_to() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::os::unix::fs::symlink(".", at("to")).unwrap();
        std::os::unix::fs::symlink("no", at("orphan")).unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        let name = |name: &str| {
            let path = at(name);
            let link = file(path.to_str().unwrap(), FileType::Symlink, 0o777);
            let all = "lc=<:rc=>:ec=!:ln=target:di=1:or=2:mi=3";
            let colored = colored(all, &link);
            colored.rsplit_once("/!").unwrap().1.to_owned()
        };
        assert_eq!(name("to"), "<1>to!");
        assert_eq!(name("orphan"), "<2>orphan!");
        assert_eq!(name("loop"), "<3>loop!");
    }

    #[test]
    fn terminals_get_no_escapes_from_names() {
        let odd = file("a\x1b/b\x07", FileType::Regular, 0o644);
        let mut out = Vec::new();
        let colors = Colors::parse(b"lc=<:rc=>:ec=!:di=1");
        colors.write_path_to_terminal(&odd, &mut out);
        assert_eq!(out, b"<1>a?/!b?");
        out.clear();
        colors.write_path(&odd, &mut out);
        assert_eq!(out, b"<1>a\x1b/!b\x07");
    }
}
