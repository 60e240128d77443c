//! The name of a directory that is walked.

use std::ffi::CStr;

/// Bytes, NUL included, of a name that is kept without memory of its own: most are shorter, and a directory is made and
/// dropped for each.
const SHORT: usize = 23;

#[derive(Debug)]
pub(crate) enum Name {
    Short([u8; SHORT]),
    Long(Box<CStr>),
}

impl Name {
    pub(crate) fn as_c_str(&self) -> &CStr {
        match self {
            Self::Short(bytes) => CStr::from_bytes_until_nul(bytes).unwrap_or_default(),
            Self::Long(name) => name,
        }
    }
}

impl From<&CStr> for Name {
    fn from(name: &CStr) -> Self {
        let bytes = name.to_bytes_with_nul();
        let mut short = [0; SHORT];
        match short.get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                Self::Short(short)
            }
            None => Self::Long(name.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn names_of_every_length_are_kept() {
        for length in 0..=300 {
            let name = CString::new(vec![b'n'; length]).unwrap();
            assert_eq!(Name::from(&*name).as_c_str(), &*name);
        }
    }
}
