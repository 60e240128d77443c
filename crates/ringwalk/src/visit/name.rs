//! The name of a directory that is walked.

use std::ffi::CStr;

/// Bytes of a name, NUL included, that are kept without memory of their own. Most names are
/// shorter, and a name is made and dropped for each directory.
const SHORT: usize = 22;

#[derive(Debug)]
pub(crate) enum Name {
    /// The name and its length without the NUL.
    Short(u8, [u8; SHORT]),
    Long(Box<CStr>),
}

impl Name {
    pub(crate) fn as_c_str(&self) -> &CStr {
        match self {
            Self::Short(_, bytes) => CStr::from_bytes_until_nul(bytes).unwrap_or_default(),
            Self::Long(name) => name,
        }
    }

    /// Returns the name without the NUL. Paths are put together from names, so the length is stored
    /// rather than searched for.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => &bytes[..usize::from(*length)],
            Self::Long(name) => name.to_bytes(),
        }
    }
}

impl From<&CStr> for Name {
    fn from(name: &CStr) -> Self {
        let bytes = name.to_bytes_with_nul();
        let mut short = [0; SHORT];
        match (short.get_mut(..bytes.len()), u8::try_from(bytes.len() - 1)) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(bytes);
                Self::Short(length, short)
            }
            _ => Self::Long(name.into()),
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
            assert_eq!(Name::from(&*name).bytes(), name.to_bytes());
        }
    }

    #[test]
    fn a_name_takes_three_words() {
        assert_eq!(size_of::<Name>(), 24);
    }
}
