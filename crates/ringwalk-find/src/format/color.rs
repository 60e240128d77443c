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
mod tests;
