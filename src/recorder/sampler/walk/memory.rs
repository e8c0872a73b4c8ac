//! Memory of V8's heap, read so that nothing can fault, a page at a time: a call of the kernel costs the same for a word
//! and for a page, and what is looked up together lies together.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use cpu_prof_core::base::system::checked_memory::{read_bytes, read_word};

/// Bytes that are read at a time. No part of a page can be missing.
const PAGE: usize = 4096;
/// The most pages that are kept.
const MAX_PAGES: usize = 256;

/// The pages that were read since the last [`HeapMemory::forget`].
#[derive(Debug, Default)]
pub(super) struct HeapMemory {
    pages: RefCell<ReadPages>,
}

#[derive(Debug, Default)]
struct ReadPages {
    /// Where a page is in `bytes`, by its address; none if it could not be read.
    known: FxHashMap<u64, Option<usize>>,
    bytes: Vec<u8>,
    /// The page that was asked for last, as in `known`.
    last: Option<(u64, Option<usize>)>,
}

impl HeapMemory {
    /// Forgets all pages: what runs from now on can change them.
    pub(super) fn forget(&self) {
        self.pages.borrow_mut().clear();
    }

    /// Returns the word at an address; none if it cannot be read.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let within = address as usize % PAGE;
        if 8 > PAGE - within {
            return read_word(address);
        }
        let mut pages = self.pages.borrow_mut();
        let start = pages.find(address - within as u64)? + within;
        let bytes = pages.bytes.get(start..start + 8)?.try_into().ok()?;
        Some(u64::from_ne_bytes(bytes))
    }

    /// Returns bytes; none if they cannot be read.
    pub(super) fn bytes(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let length = usize::try_from(length).ok()?;
        let within = address as usize % PAGE;
        if length <= PAGE - within {
            let mut pages = self.pages.borrow_mut();
            let start = pages.find(address - within as u64)? + within;
            return pages.bytes.get(start..start + length).map(<[u8]>::to_vec);
        }
        let mut bytes = vec![0; length];
        read_bytes(address, &mut bytes).then_some(bytes)
    }
}

impl ReadPages {
    fn clear(&mut self) {
        self.known.clear();
        self.bytes.clear();
        self.last = None;
    }

    /// Returns where a page is in the bytes; none if it cannot be read.
    fn find(&mut self, page: u64) -> Option<usize> {
        if let Some((last, found)) = self.last
            && last == page
        {
            return found;
        }
        let known = self.known.get(&page).copied();
        let found = known.unwrap_or_else(|| self.read(page));
        self.last = Some((page, found));
        found
    }

    fn read(&mut self, page: u64) -> Option<usize> {
        if self.known.len() >= MAX_PAGES {
            self.clear();
        }
        let start = self.bytes.len();
        self.bytes.resize(start + PAGE, 0);
        let bytes = self.bytes.get_mut(start..)?;
        let found = read_bytes(page, bytes).then_some(start);
        if found.is_none() {
            self.bytes.truncate(start);
        }
        self.known.insert(page, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn words_and_bytes_are_those_of_memory() {
        let bytes: Vec<u8> = (0..3 * PAGE).map(|index| (index % 251) as u8).collect();
        let at = bytes.as_ptr() as u64;
        let memory = HeapMemory::default();
        for index in (0..bytes.len() - 8).step_by(5) {
            let expected = u64::from_ne_bytes(bytes[index..index + 8].try_into().unwrap());
            assert_eq!(memory.word(at + index as u64), Some(expected));
        }
        for (from, length) in [(3, 20), (100, 2 * PAGE), (PAGE, 0)] {
            let found = memory.bytes(at + from as u64, length as u64);
            assert_eq!(found.as_deref(), Some(&bytes[from..from + length]));
        }
    }

    #[test]
    fn what_is_not_there_is_not_read() {
        let memory = HeapMemory::default();
        assert_eq!([8, 4090, 4092].map(|address| memory.word(address)), [None; 3]);
        assert_eq!(memory.word(u64::MAX - 6), None);
        assert_eq!(memory.bytes(16, 8), None);
        assert_eq!(memory.bytes(16, 1 << 14), None);
    }

    #[test]
    fn changes_are_seen_after_pages_are_forgotten() {
        let word = AtomicU64::new(1);
        let memory = HeapMemory::default();
        let at = word.as_ptr() as u64;
        assert_eq!(memory.word(at), Some(1));
        word.store(2, Ordering::Relaxed);
        memory.forget();
        assert_eq!(memory.word(at), Some(2));
    }

    #[test]
    fn more_pages_than_are_kept_can_be_read() {
        let words: Vec<u64> = (0..(MAX_PAGES as u64 + 9) * PAGE as u64 / 8).collect();
        let memory = HeapMemory::default();
        for index in [0..words.len(), 0..words.len()].into_iter().flatten().step_by(500) {
            let at = &raw const words[index] as u64;
            assert_eq!(memory.word(at), Some(index as u64));
        }
        assert!(memory.pages.borrow().bytes.len() <= MAX_PAGES * PAGE);
    }
}
