//! For systems where memory that need not be there cannot be read.

/// Returns whether the bytes could be read: they cannot.
pub fn read_bytes(_address: u64, _bytes: &mut [u8]) -> bool {
    false
}

/// Returns whether the words could be read: they cannot.
pub fn read_words(_address: u64, _words: &mut [u64]) -> bool {
    false
}

/// Returns the word at an address: it is not known.
pub fn read_word(_address: u64) -> Option<u64> {
    None
}

/// Returns the words at each address: they are not known.
pub fn read_each<const N: usize>(addresses: &[u64]) -> Vec<Option<[u64; N]>> {
    vec![None; addresses.len()]
}

/// Returns false: nothing is known of addresses.
pub fn is_in_image(_: u64) -> bool {
    false
}
