//! The bytes of code around an address.

/// Bytes of a page of memory. What is on another page may not be there.
const PAGE: u64 = 4096;

/// The bytes around an address of code, as far as they are on the same page of memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeBytes(u64);

impl CodeBytes {
    /// Returns the bytes around an address.
    ///
    /// # Safety
    /// The byte at the address can be read, as long as these bytes are in use.
    pub(super) unsafe fn around(address: u64) -> Self {
        Self(address)
    }

    /// Returns the byte at an offset from the address; none if it is on another page.
    pub(super) fn byte(&self, offset: i64) -> Option<u8> {
        let at = self.0.wrapping_add_signed(offset);
        // SAFETY: the byte is on a page of which another byte can be read.
        (at / PAGE == self.0 / PAGE).then(|| unsafe { (at as *const u8).read_volatile() })
    }

    /// Returns whether these bytes are at an offset from the address.
    pub(super) fn has(&self, offset: i64, bytes: &[u8]) -> bool {
        (offset..).zip(bytes).all(|(offset, byte)| self.byte(offset) == Some(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_another_page_are_not_there() {
        let pages = vec![7_u8; 3 * PAGE as usize];
        let page = (pages.as_ptr() as u64).next_multiple_of(PAGE);
        // SAFETY: the page is in the vector.
        let first = unsafe { CodeBytes::around(page) };
        assert_eq!((first.byte(-1), first.byte(0)), (None, Some(7)));
        assert!(first.has(0, &[7; PAGE as usize]) && !first.has(1, &[7; PAGE as usize]));
        assert!(!first.has(0, &[7, 8]));
    }
}
