//! Reads of this process's memory that cannot fault: the kernel copies what is there.

use std::ffi::{c_ulong, c_void};
use std::mem;

/// The most places that one call of the kernel reads.
const AT_ONCE: usize = 256;

/// Fills `bytes` from an address, which need not be valid. Returns whether all of them could be read. May be called
/// in a signal handler.
pub fn read_bytes(address: u64, bytes: &mut [u8]) -> bool {
    let mut to = [part(bytes.as_mut_ptr() as u64, bytes.len())];
    copy(&mut to, &[part(address, bytes.len())]) == bytes.len()
}

/// Fills `words` from an address, which need not be valid. Returns whether all of them could be read. May be called in
/// a signal handler.
pub fn read_words(address: u64, words: &mut [u64]) -> bool {
    let length = mem::size_of_val(words);
    let mut to = [part(words.as_mut_ptr() as u64, length)];
    copy(&mut to, &[part(address, length)]) == length
}

/// Returns the word at an address; none if the address is not valid. May be called in a signal handler.
pub fn read_word(address: u64) -> Option<u64> {
    let mut words = [0];
    read_words(address, &mut words).then_some(words[0])
}

/// Returns whether an address is in a program or a library that the process has loaded.
pub fn is_in_image(address: u64) -> bool {
    // SAFETY: all zeros are a valid struct, which the call fills, or fails. The address is not read.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(address as *const libc::c_void, &mut info) != 0
    }
}

/// Reads `N` words from each address, in few calls of the kernel. None where an address is not valid.
pub fn read_each<const N: usize>(addresses: &[u64]) -> Vec<Option<[u64; N]>> {
    let mut found = vec![None; addresses.len()];
    let mut words = [[0_u64; N]; AT_ONCE];
    let length = mem::size_of::<[u64; N]>();
    let mut start = 0;
    while start < addresses.len() {
        let end = addresses.len().min(start + AT_ONCE);
        let from: Vec<_> = addresses[start..end].iter().map(|at| part(*at, length)).collect();
        let mut to: Vec<_> = words[..end - start]
            .iter_mut()
            .map(|to| part(to.as_mut_ptr() as u64, length))
            .collect();
        // The kernel stops at the first address that is not valid.
        let read = copy(&mut to, &from) / length;
        for (index, words) in words[..read].iter().enumerate() {
            found[start + index] = Some(*words);
        }
        start = if start + read == end { end } else { start + read + 1 };
    }
    found
}

fn part(address: u64, length: usize) -> libc::iovec {
    libc::iovec { iov_base: address as *mut c_void, iov_len: length }
}

/// Copies memory of this process within it. Returns the count of bytes.
fn copy(to: &mut [libc::iovec], from: &[libc::iovec]) -> usize {
    // SAFETY: the kernel writes to the parts of `to`, which the callers own, as much as they are long, and checks
    // each address of `from`.
    let copied = unsafe {
        libc::process_vm_readv(
            libc::getpid(),
            to.as_ptr(),
            to.len() as c_ulong,
            from.as_ptr(),
            from.len() as c_ulong,
            0,
        )
    };
    usize::try_from(copied).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_read() {
        let words = [7_u64, 8, 9];
        let at = words.as_ptr() as u64;
        assert_eq!(read_word(at + 8), Some(8));
        assert_eq!(read_word(8), None);
        let mut bytes = [0; 3];
        assert!(read_bytes(at + 16, &mut bytes) && bytes == [9, 0, 0]);
        assert!(!read_bytes(0, &mut bytes));
    }

    #[test]
    fn each_address_has_its_own_words() {
        let words: Vec<u64> = (0..1000).collect();
        let at = |index: usize| &raw const words[index] as u64;
        let addresses: Vec<u64> =
            (0..990).map(|index| if index % 7 == 3 { 8 } else { at(index) }).collect();
        let found = read_each::<2>(&addresses);
        for (index, found) in found.iter().enumerate() {
            let expected = [index as u64, index as u64 + 1];
            assert_eq!(*found, (index % 7 != 3).then_some(expected), "{index}");
        }
        assert_eq!(read_each::<1>(&[]), []);
    }
}
