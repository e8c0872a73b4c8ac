//! What V8 knows of a node beyond its frame: lines that were seen on top, and why V8 does not
//! optimize its function.

use std::ffi::{c_char, c_uint};
use std::ptr;
use std::sync::atomic::{Ordering, fence};

use super::{symbols, text};
use crate::profile::window::LineTicks;

/// Fills what V8 is to write to; never the last word of an entry, which is a count of ticks.
const UNTOUCHED: c_uint = c_uint::MAX;

/// Words of room for each entry: more than any V8 so far has needed.
const ROOM: usize = 4;

/// Gathers the details of one profile's nodes.
pub(super) struct ProfileDetails {
    api: &'static symbols::Api,
    /// Where V8 writes a node's lines, kept to be filled again.
    words: Vec<c_uint>,
    /// The root's reason, which is none.
    no_reason: *const c_char,
    suspects: Vec<DeoptCandidate>,
}

/// A node that seems to have a reason.
struct DeoptCandidate {
    node: *const symbols::CpuProfileNode,
    index: u32,
    reason: *const c_char,
}

impl ProfileDetails {
    pub(super) fn new(api: &'static symbols::Api) -> Self {
        Self { api, words: Vec::new(), no_reason: ptr::null(), suspects: Vec::new() }
    }

    /// Takes a node in, the root first.
    ///
    /// # Safety
    /// `node` is a node of a finished profile that is not deleted as long as this is in use.
    pub(super) unsafe fn add(
        &mut self,
        node: *const symbols::CpuProfileNode,
        index: u32,
        lines: &mut Vec<LineTicks>,
    ) {
        // SAFETY: as the caller promises. V8 writes at most `count` entries.
        let (count, reason) = unsafe {
            let count = (self.api.node_line_count)(node);
            self.words.clear();
            self.words.resize(count as usize * ROOM, UNTOUCHED);
            let whole =
                count > 0 && (self.api.node_line_ticks)(node, self.words.as_mut_ptr(), count);
            (if whole { count as usize } else { 0 }, (self.api.node_bailout_reason)(node))
        };
        lines.extend(entries(&self.words, count).map(|(line, ticks)| LineTicks {
            node: index,
            line,
            ticks,
        }));
        if index == 0 {
            self.no_reason = reason;
        } else if reason != self.no_reason && !reason.is_null() {
            self.suspects.push(DeoptCandidate { node, index, reason });
        }
    }

    /// Each node with a reason. To be called once all nodes and samples have been read.
    ///
    /// A reason belongs to the function and not to the profile: V8's sampling thread can set it
    /// just now, with no lock. So an address counts only if it was the same twice, some time apart.
    pub(super) fn deopts(&self) -> Vec<(u32, String)> {
        fence(Ordering::SeqCst);
        self.suspects
            .iter()
            .filter_map(|suspect| {
                // SAFETY: `add`'s caller promised; reasons are V8's constants.
                let reason = unsafe {
                    let again = (self.api.node_bailout_reason)(suspect.node);
                    (again == suspect.reason).then(|| text(again))?
                };
                // As V8's inspector has it.
                let is_reason = !reason.is_empty() && reason != "no reason";
                is_reason.then_some((suspect.index, reason))
            })
            .collect()
    }
}

/// The lines and ticks of `count` entries: `line, ticks` up to Node 24, `line, column, ticks` in
/// Node 26. What was written tells which; from any other V8 none are taken.
fn entries(words: &[c_uint], count: usize) -> impl Iterator<Item = (i32, u32)> {
    let written = words.iter().rposition(|word| *word != UNTOUCHED).map_or(0, |last| last + 1);
    let size = [2, 3].into_iter().find(|size| size * count == written);
    let (size, count) = size.map_or((ROOM, 0), |size| (size, count));
    words.chunks_exact(size).take(count).map(move |entry| (entry[0] as i32, entry[size - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &[c_uint], count: usize) -> Vec<(i32, u32)> {
        let mut words = vec![UNTOUCHED; count * ROOM];
        words[..written.len()].copy_from_slice(written);
        entries(&words, count).collect()
    }

    #[test]
    fn both_shapes_of_entries_are_read() {
        assert_eq!(read(&[7, 100, 9, 200], 2), [(7, 100), (9, 200)]);
        assert_eq!(read(&[7, 1, 100, 7, UNTOUCHED, 200], 2), [(7, 100), (7, 200)]);
        assert_eq!(read(&[7, 100], 1), [(7, 100)]);
        assert_eq!(read(&[7, 1, 100], 1), [(7, 100)]);
    }

    #[test]
    fn nothing_is_read_of_any_other() {
        assert_eq!(read(&[], 0), []);
        assert_eq!(read(&[], 2), []);
        assert_eq!(read(&[7, 1, 2, 100], 1), []);
        assert_eq!(read(&[7, 1, 100], 2), []);
    }
}
