//! Names in large pieces of memory: a byte for the length, then the name.

/// The size of a piece.
const PIECE: usize = 1 << 20;

/// Names, by their place. A name is at most 255 bytes long (`NAME_MAX`).
#[derive(Debug, Default)]
pub(super) struct Names {
    pieces: Vec<Vec<u8>>,
}

/// The place of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NamePlace(u32);

impl NamePlace {
    pub(super) fn to_number(self) -> u32 {
        self.0
    }

    /// Returns the place with a number that [`to_number`](Self::to_number) returned.
    pub(super) fn of_number(number: u32) -> Self {
        Self(number)
    }
}

impl Names {
    /// Adds a name. Returns `None` if there is no more room (4 GiB), or the name is too long.
    pub(super) fn push(&mut self, name: &[u8]) -> Option<NamePlace> {
        let len = u8::try_from(name.len()).ok()?;
        let fits = |piece: &Vec<u8>| piece.len() + 1 + name.len() <= PIECE;
        if !self.pieces.last().is_some_and(fits) {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let number = self.pieces.len() - 1;
        let piece = self.pieces.last_mut()?;
        let place = u32::try_from(number * PIECE + piece.len()).ok()?;
        piece.push(len);
        piece.extend_from_slice(name);
        Some(NamePlace(place))
    }

    pub(super) fn get(&self, place: NamePlace) -> &[u8] {
        let place = place.0 as usize;
        let (len, rest) = self.pieces[place / PIECE][place % PIECE..]
            .split_first()
            .expect("each place is that of a name");
        &rest[..usize::from(*len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_beyond_one_piece() {
        let mut names = Names::default();
        let name = |number: usize| format!("{number}-{}", "x".repeat(number % 240)).into_bytes();
        let places: Vec<_> = (0..20_000)
            .map(|number| names.push(&name(number)))
            .collect();
        assert!(names.pieces.len() > 1);
        for (number, place) in places.into_iter().enumerate() {
            assert_eq!(names.get(place.unwrap()), name(number));
        }
        assert_eq!(names.push(&[b'x'; 256]), None);
    }
}
