//! A compact encoding of consecutive numbers and texts.

/// Bits of a number per byte; the eighth bit says that more follow.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

pub fn put_number(into: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        into.push(number as u8 | MORE);
        number >>= BITS;
    }
    into.push(number as u8);
}

/// Bytes preceded by their length.
pub fn put_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    put_number(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

/// An optional text.
pub fn put_option(into: &mut Vec<u8>, text: Option<&str>) {
    put_number(into, u64::from(text.is_some()));
    if let Some(text) = text {
        put_bytes(into, text.as_bytes());
    }
}

/// Decodes values in the order in which they were encoded. Returns `None` from the first invalid
/// one on.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(BITS as usize) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & !MORE) << shift;
            if byte & MORE == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number of a smaller type.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.small()?;
        self.take(length)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub fn option(&mut self) -> Option<Option<&'a str>> {
        match self.number()? {
            0 => Some(None),
            _ => self.text().map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_put_is_read(number: u64, text in "\\PC{0,40}", other in prop::option::of("\\PC{0,9}")) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            put_bytes(&mut bytes, text.as_bytes());
            put_option(&mut bytes, other.as_deref());
            let mut read = Bytes(&bytes);
            prop_assert_eq!(read.number(), Some(number));
            prop_assert_eq!(read.text(), Some(text.as_str()));
            prop_assert_eq!(read.option(), Some(other.as_deref()));
            prop_assert!(read.is_empty() && read.number().is_none());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let mut read = Bytes(&bytes);
            while read.number().is_some() && read.option().is_some() {}
        }
    }
}
