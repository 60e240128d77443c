//! Extended attributes.

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xattr {
    /// The name with its namespace, such as `user.comment`.
    pub name: Vec<u8>,
    /// The value; at most 64 KiB.
    pub value: Vec<u8>,
}
