//! The details of a node beyond its frame: ticks per position, and why V8 does not optimize the node's
//! function.

use std::ffi::{c_char, c_uint};
use std::ptr;
use std::sync::atomic::{Ordering, fence};

use super::symbols;
use cpu_prof_core::profile::position::{PositionTicks, SourcePosition};

/// Fills the words before V8 writes to them. V8 never writes this value as the last word of an
/// entry, which is a number of ticks.
const UNTOUCHED: c_uint = c_uint::MAX;

/// Words reserved for each entry: more than the entries of any V8 so far.
const MAX_ENTRY_WORDS: usize = 4;

/// Collects the details of one profile's nodes.
pub(super) struct ProfileDetails {
    api: &'static symbols::Api,
    /// Buffer for the line ticks that V8 writes, reused for each node.
    words: Vec<c_uint>,
    /// Address that V8 returns for the root, which has no reason.
    no_reason: *const c_char,
    /// Ticks of all nodes.
    ticks: Vec<PositionTicks>,
    candidates: Vec<DeoptCandidate>,
}

/// A node that seems to have a reason.
struct DeoptCandidate {
    node: *const symbols::CpuProfileNode,
    /// Index of the node in its window.
    index: u32,
    /// Address of the reason when the node was added.
    reason: *const c_char,
}

impl ProfileDetails {
    pub(super) fn new(api: &'static symbols::Api) -> Self {
        Self {
            api,
            words: Vec::new(),
            no_reason: ptr::null(),
            ticks: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// Adds a node. The root must be the first.
    ///
    /// # Safety
    /// `node` is a node of a finished profile that is not deleted as long as `self` is in use.
    pub(super) unsafe fn add(&mut self, node: *const symbols::CpuProfileNode, index: u32) {
        // SAFETY: the caller promises a valid node. V8 writes at most `count` entries, and the
        // buffer has room for more.
        let (count, reason) = unsafe {
            let count = (self.api.node_line_count)(node);
            self.words.clear();
            self.words.resize(count as usize * MAX_ENTRY_WORDS, UNTOUCHED);
            let is_written =
                count > 0 && (self.api.node_line_ticks)(node, self.words.as_mut_ptr(), count);
            (if is_written { count as usize } else { 0 }, (self.api.node_bailout_reason)(node))
        };
        self.ticks.extend(entries(&self.words, count).map(|(position, ticks)| PositionTicks {
            node: index,
            position,
            ticks,
        }));
        if index == 0 {
            self.no_reason = reason;
        } else if reason != self.no_reason && !reason.is_null() {
            self.candidates.push(DeoptCandidate { node, index, reason });
        }
    }

    /// Returns the ticks of all nodes.
    pub(super) fn into_ticks(self) -> Vec<PositionTicks> {
        self.ticks
    }

    /// Returns the nodes with a reason. Must be called after all nodes and samples were read.
    ///
    /// A reason belongs to the function, not to the profile: V8's sampling thread can set the reason
    /// meanwhile, without a lock. So an address counts only if it is the same twice, some time
    /// apart.
    pub(super) fn deopts(&self) -> Vec<(u32, String)> {
        fence(Ordering::SeqCst);
        self.candidates
            .iter()
            .filter_map(|candidate| {
                // SAFETY: the caller of `add` promised that the profile is not deleted. Reasons
                // are constants of V8.
                let reason = unsafe {
                    let again = (self.api.node_bailout_reason)(candidate.node);
                    (again == candidate.reason).then(|| symbols::text(again))?
                };
                // V8's inspector leaves out the same texts.
                let is_reason = !reason.is_empty() && reason != "no reason";
                is_reason.then_some((candidate.index, reason))
            })
            .collect()
    }
}

/// Returns the positions and ticks of `count` entries: `line, ticks` up to Node 24, `line, column,
/// ticks` in Node 26. The number of written words tells the shape. Entries of any other shape are
/// skipped.
fn entries(words: &[c_uint], count: usize) -> impl Iterator<Item = (SourcePosition, u32)> {
    let written = words.iter().rposition(|word| *word != UNTOUCHED).map_or(0, |last| last + 1);
    let size = [2, 3].into_iter().find(|size| size * count == written);
    let (size, count) = size.map_or((MAX_ENTRY_WORDS, 0), |size| (size, count));
    words.chunks_exact(size).take(count).map(move |entry| {
        let column = if size > 2 { entry[1] } else { 0 };
        (SourcePosition { line: entry[0], column }, entry[size - 1])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &[c_uint], count: usize) -> Vec<(u32, u32, u32)> {
        let mut words = vec![UNTOUCHED; count * MAX_ENTRY_WORDS];
        words[..written.len()].copy_from_slice(written);
        entries(&words, count).map(|(at, ticks)| (at.line, at.column, ticks)).collect()
    }

    #[test]
    fn both_shapes_of_entries_are_read() {
        assert_eq!(read(&[7, 100, 9, 200], 2), [(7, 0, 100), (9, 0, 200)]);
        assert_eq!(read(&[7, 1, 100, 7, 9, 200], 2), [(7, 1, 100), (7, 9, 200)]);
        assert_eq!(read(&[7, 100], 1), [(7, 0, 100)]);
        assert_eq!(read(&[7, 1, 100], 1), [(7, 1, 100)]);
    }

    #[test]
    fn entries_of_other_shapes_are_skipped() {
        assert_eq!(read(&[], 0), []);
        assert_eq!(read(&[], 2), []);
        assert_eq!(read(&[7, 1, 2, 100], 1), []);
        assert_eq!(read(&[7, 1, 100], 2), []);
    }
}
