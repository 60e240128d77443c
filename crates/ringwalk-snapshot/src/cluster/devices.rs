//! File systems of parts that several machines have written.
//!
//! A device number belongs to one machine: another machine may number the same file system
//! differently. In the snapshot, each file system has one number.

use super::part::PartFacts;
use crate::info::FileSystemInfo;
use ringwalk::identity::Sameness;
use std::collections::HashMap;

/// The file systems of all parts.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// The number in the snapshot, by machine and device.
    numbers: HashMap<(String, u64), u64>,
    /// The number in the snapshot of the file system of each root.
    roots: HashMap<usize, u64>,
    /// The first machine. The snapshot has its device numbers, except where another machine took
    /// them.
    first_host: Option<String>,
    known: Vec<FileSystemInfo>,
}

impl Devices {
    /// Adds the file systems of a part. Returns the number in the snapshot of each.
    pub(super) fn add(&mut self, part: &PartFacts, file_systems: &[FileSystemInfo]) -> Vec<u64> {
        let numbers: Vec<_> = file_systems
            .iter()
            .map(|each| self.number(part, each))
            .collect();
        // A fact that one part could not find out may be in another part.
        for (file_system, number) in file_systems.iter().zip(&numbers) {
            match self.known.iter_mut().find(|known| known.device == *number) {
                Some(known) => complete(known, file_system),
                None => self.known.push(FileSystemInfo {
                    device: *number,
                    ..file_system.clone()
                }),
            }
        }
        numbers
    }

    /// Returns what is known of all file systems.
    pub(super) fn into_known(self) -> Vec<FileSystemInfo> {
        self.known
    }

    fn number(&mut self, part: &PartFacts, file_system: &FileSystemInfo) -> u64 {
        let device = file_system.device;
        let key = (part.host.clone(), device);
        let roots = || {
            (0..)
                .zip(&part.root_devices)
                .filter(|(_, root)| **root == device)
        };
        let of_root = roots().find_map(|(root, _): (usize, _)| self.roots.get(&root).copied());
        let known = self.numbers.get(&key).copied().or(of_root);
        let number = known.unwrap_or_else(|| self.new_number(part, file_system));
        for (root, _) in roots() {
            self.roots.insert(root, number);
        }
        self.numbers.insert(key, number);
        number
    }

    /// Returns the number of a file system that this machine has not had yet.
    fn new_number(&mut self, part: &PartFacts, file_system: &FileSystemInfo) -> u64 {
        let first = self.first_host.get_or_insert_with(|| part.host.clone());
        if *first != part.host {
            let own = |number: u64| {
                let mut all = self.numbers.iter();
                all.any(|((host, _), known)| *host == part.host && *known == number)
            };
            let mut known = self.known.iter();
            let same = known.find(|known| is_same(known, file_system) && !own(known.device));
            if let Some(same) = same {
                return same.device;
            }
        }
        let mut number = file_system.device;
        while self.known.iter().any(|known| known.device == number) {
            number += 1;
        }
        number
    }
}

/// Returns true if two machines mean the same file system: by its name, or without any name by its
/// place. If the inode numbers of a type do not last, each machine has other numbers. So such file
/// systems do not count as the same here.
fn is_same(a: &FileSystemInfo, b: &FileSystemInfo) -> bool {
    let (a, b) = (a.known(), b.known());
    match a.compare(&b) {
        Sameness::Different => false,
        Sameness::SamePlace => {
            let is_nameless = a.uuid.is_none() && b.uuid.is_none() && a.mount_point.is_some();
            is_nameless && a.trust().keeps_inode
        }
        Sameness::SameName | Sameness::Same => true,
    }
}

/// Adds what is not known yet.
fn complete(known: &mut FileSystemInfo, more: &FileSystemInfo) {
    known.uuid = known.uuid.take().or_else(|| more.uuid.clone());
    known.kind = known.kind.take().or_else(|| more.kind.clone());
    known.mount_point = known
        .mount_point
        .take()
        .or_else(|| more.mount_point.clone());
    known.subvolume = known.subvolume.or(more.subvolume);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Text;
    use crate::schema::Contents;

    fn part(host: &str, root: u64) -> PartFacts {
        PartFacts {
            version: 1,
            task: 1,
            host: host.to_owned(),
            root_devices: vec![root],
            directories: 0,
            left: 0,
            resumed: None,
            failures: 0,
            contents: Contents::default(),
        }
    }

    fn file_system(device: u64, uuid: Option<&str>) -> FileSystemInfo {
        FileSystemInfo {
            device,
            uuid: uuid.map(str::to_owned),
            ..FileSystemInfo::default()
        }
    }

    #[test]
    fn machines_number_the_same_file_systems_differently() {
        let mut devices = Devices::default();
        let one = [file_system(40, None), file_system(41, Some("a"))];
        assert_eq!(devices.add(&part("one", 40), &one), [40, 41]);
        // The root is at 41 there, and another file system at 40.
        let two = [
            file_system(41, None),
            file_system(7, Some("a")),
            file_system(40, Some("b")),
        ];
        assert_eq!(devices.add(&part("two", 41), &two), [40, 41, 42]);
        assert_eq!(devices.add(&part("two", 41), &two[1..]), [41, 42]);
        assert_eq!(devices.into_known().len(), 3);
    }

    /// Copies of a file system have the same UUID, and one machine can have mounted both.
    #[test]
    fn one_machine_has_two_file_systems_with_the_same_uuid() {
        let mut devices = Devices::default();
        let both = [file_system(1, Some("a")), file_system(2, Some("a"))];
        assert_eq!(devices.add(&part("one", 1), &both), [1, 2]);
        assert_eq!(devices.add(&part("two", 1), &both), [1, 2]);
    }

    #[test]
    fn parts_complete_each_other() {
        let mut devices = Devices::default();
        devices.add(&part("one", 1), &[file_system(1, None)]);
        devices.add(&part("one", 1), &[file_system(1, Some("a"))]);
        let known = devices.into_known();
        assert_eq!(known.len(), 1);
        assert_eq!(known[0].uuid.as_deref(), Some("a"));
    }

    /// tmpfs numbers its inodes from the same beginning on every machine.
    #[test]
    fn a_place_is_the_same_file_system_only_where_inode_numbers_last() {
        let at = |device, kind: &str| FileSystemInfo {
            kind: Some(kind.to_owned()),
            mount_point: Some(Text::from(&b"/mnt"[..])),
            ..file_system(device, None)
        };
        let numbers = |kind| {
            let mut devices = Devices::default();
            devices.add(&part("one", 9), &[at(5, kind)]);
            devices.add(&part("two", 9), &[at(5, kind)])
        };
        assert_eq!(numbers("nfs4"), [5]);
        for kind in ["tmpfs", "overlay", "fuse.sshfs", "unheard-of"] {
            assert_eq!(numbers(kind), [6], "{kind}");
        }
        // Equal device numbers of two machines say nothing.
        let mut devices = Devices::default();
        devices.add(&part("one", 9), &[file_system(5, None)]);
        assert_eq!(devices.add(&part("two", 9), &[file_system(5, None)]), [6]);
    }

    #[test]
    fn subvolumes_are_the_same_by_their_numbers() {
        let subvolume = |device, number| FileSystemInfo {
            kind: Some("btrfs".to_owned()),
            subvolume: Some(number),
            ..file_system(device, Some("u"))
        };
        let mut devices = Devices::default();
        devices.add(&part("one", 9), &[subvolume(40, 5), subvolume(41, 256)]);
        let two = [subvolume(40, 256), subvolume(41, 5), subvolume(42, 257)];
        assert_eq!(devices.add(&part("two", 9), &two), [41, 40, 42]);
    }
}
