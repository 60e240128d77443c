//! A file that does not exist, for tests.

use crate::facts::{Facts, LinkTarget};
use ringwalk::{FileType, Metadata, Timestamp};
use rustix::io::Errno;
use std::borrow::Cow;

/// The facts about the file.
pub(super) struct Fake {
    pub(super) path: Vec<u8>,
    pub(super) root_len: usize,
    pub(super) file_type: FileType,
    pub(super) metadata: Result<Metadata, Errno>,
    pub(super) link_target: Option<Vec<u8>>,
    pub(super) target_type: Result<FileType, Errno>,
    pub(super) file_system: Vec<u8>,
    pub(super) context: Vec<u8>,
    /// The name of the user and of the group with number 0.
    pub(super) account: Vec<u8>,
}

impl Default for Fake {
    fn default() -> Self {
        let at = |secs, nanos| Timestamp { secs, nanos };
        let mut metadata = Metadata::default();
        metadata.set_file_type(FileType::Regular);
        metadata.set_permissions(0o644);
        metadata.set_nlink(1);
        metadata.set_uid(0);
        metadata.set_gid(12);
        metadata.set_ino(1_401_217);
        metadata.set_size(6);
        metadata.set_blocks(3);
        metadata.set_dev(65024);
        metadata.set_mnt_id(1);
        metadata.set_mtime(at(1_605_000_000, 123_456_789));
        metadata.set_atime(at(0, 0));
        metadata.set_ctime(at(0, 0));
        metadata.set_btime(at(7, 0));
        Self {
            path: b"tree/dir/file".to_vec(),
            root_len: 4,
            file_type: FileType::Regular,
            metadata: Ok(metadata),
            link_target: None,
            target_type: Ok(FileType::Regular),
            file_system: b"ext4".to_vec(),
            context: b"label".to_vec(),
            account: b"root".to_vec(),
        }
    }
}

impl Facts for Fake {
    fn path(&self) -> &[u8] {
        &self.path
    }

    fn root_len(&self) -> usize {
        self.root_len
    }

    fn depth(&self) -> usize {
        2
    }

    fn file_type(&self) -> FileType {
        self.file_type
    }

    fn metadata(&self) -> Result<&Metadata, Errno> {
        self.metadata.as_ref().map_err(|errno| *errno)
    }

    fn link_target(&self) -> Option<Vec<u8>> {
        self.link_target.clone()
    }

    fn target(&self) -> LinkTarget {
        self.target_type.into()
    }

    fn is_orphan(&self) -> bool {
        self.target_type.is_err()
    }

    fn file_system(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.file_system)
    }

    fn context(&self) -> Option<Vec<u8>> {
        Some(self.context.clone())
    }

    fn user_name(&self, uid: u32) -> Option<Cow<'_, [u8]>> {
        (uid == 0).then_some(Cow::Borrowed(&self.account[..]))
    }

    fn group_name(&self, gid: u32) -> Option<Cow<'_, [u8]>> {
        (gid == 0).then_some(Cow::Borrowed(&self.account[..]))
    }
}
