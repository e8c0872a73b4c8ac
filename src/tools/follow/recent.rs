//! The last seconds of one recording.
//!
//! A reader has read all that is older, and has kept only nodes and names. A copy of this reader reads
//! the last seconds at each look, so that a look sees what a reading of the whole file would see.

use std::collections::VecDeque;
use std::io;
use std::mem;

use cpu_prof_core::base::system::regular_file;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::profile::read_scope::ReadScope;
use cpu_prof_session::formats::trace::read::TraceReader;
use cpu_prof_session::formats::trace::scan::{SoundItem, SoundItems};
use cpu_prof_session::model::ScriptKey;
use cpu_prof_session::model::frame_table::FrameTable;

use super::appended::{AppendError, AppendedText, SettledLines};
use super::needed_nodes::NeededFrames;
use super::recording_head::RecordingHead;
use crate::read::file::{FileContents, ReadFile};
use crate::read::sniff::end_of_text;

/// No time: a reading with this scope keeps only nodes and names.
const NOTHING: ReadScope = ReadScope { from_us: i64::MAX, ..ReadScope::LINES };

/// Bytes at the end of a file in which its last event is.
const END_BYTES: usize = 64 << 10;

/// Time by which an event can be written after later ones, microseconds.
const LATE_US: i64 = 2_000_000;

/// The last seconds of a recording.
pub(super) struct RecentTrace {
    head: RecordingHead,
    /// Count of the items in the text of the head.
    head_items: usize,
    /// State before the recent lines.
    old: TraceReader,
    /// Count of the nodes of `old` that came before the nodes were last forgotten.
    known_nodes: usize,
    /// Time up to which `old` has read, microseconds.
    old_until_us: i64,
    frames: FrameTable,
    /// Source maps of scripts that are in no file.
    script_maps: Vec<(ScriptKey, String)>,
    recent: VecDeque<SettledLines>,
    appended: AppendedText,
    /// Time of the last event, microseconds.
    pub end_us: i64,
    /// Whether the recording has ended.
    pub is_complete: bool,
}

impl RecentTrace {
    /// Returns the trace of a file, of which only the head is read.
    pub(super) fn of(input: &Input, head: RecordingHead) -> io::Result<Self> {
        let file = regular_file::open(&input.path)?;
        let mut trace = Self {
            head_items: 0,
            old: TraceReader::new(NOTHING),
            known_nodes: 0,
            old_until_us: i64::MIN,
            frames: FrameTable::new(),
            script_maps: Vec::new(),
            recent: VecDeque::new(),
            appended: AppendedText::after(&file, &head.text, head.start_us)?,
            end_us: head.start_us,
            is_complete: false,
            head,
        };
        trace.head_items = feed(&mut trace.old, &mut trace.frames, 0, &trace.head.text);
        Ok(trace)
    }

    /// Returns whether all since a time can be seen, microseconds.
    pub(super) fn reaches(&self, from_us: i64) -> bool {
        self.old_until_us <= from_us
    }

    /// Reads what was appended to the file, at least up to a time. What ends before `from_us` is not needed
    /// at a later look. Both are microseconds.
    pub(super) fn read(
        &mut self,
        input: &Input,
        from_us: i64,
        until_us: i64,
    ) -> Result<(), AppendError> {
        let mut file = self.appended.open(&input.path)?;
        let is_far = |recent: &VecDeque<SettledLines>| {
            recent.back().is_some_and(|lines| lines.until_us.saturating_sub(LATE_US) > until_us)
        };
        while !is_far(&self.recent) && self.appended.piece(&mut file, &mut self.recent)? {
            self.age(from_us);
        }
        let tail = &self.appended.tail;
        let end = [b"\n", &tail[tail.len().saturating_sub(END_BYTES)..]].concat();
        let end = end_of_text(&end);
        let settled_us = self.recent.back().map_or(self.old_until_us, |lines| lines.until_us);
        self.end_us = end.last_us.unwrap_or(settled_us).max(settled_us).max(self.head.start_us);
        self.is_complete = end.ending.is_some();
        Ok(())
    }

    /// Reads the lines that end before a time, microseconds, into the old state.
    fn age(&mut self, from_us: i64) {
        let count = self.recent.iter().take_while(|lines| lines.until_us <= from_us).count();
        if count == 0 {
            return;
        }
        let mut text = self.head.text.clone();
        for lines in self.recent.drain(..count) {
            text.extend_from_slice(&lines.text);
            self.old_until_us = lines.until_us;
        }
        feed(&mut self.old, &mut self.frames, self.head_items, &text);
        self.script_maps.extend(self.old.take_script_maps());
        self.forget_nodes();
    }

    /// Forgets the nodes that the recorder has forgotten: past its limit, the recorder announces all
    /// nodes anew, under new ids.
    fn forget_nodes(&mut self) {
        /// Twice the default of the recorder's limit (`CPU_PROF_MAX_NODES`).
        const MAX_NEW: usize = 400_000;
        if self.old.node_count() > self.known_nodes + MAX_NEW {
            self.known_nodes = self.old.forget_nodes(self.known_nodes);
        }
    }

    /// Returns what a reading of the whole file would show of a time from `from_us`, microseconds.
    pub(super) fn look(&mut self, from_us: i64, to_us: i64) -> ReadFile {
        self.age(from_us);
        let mut reader = self.old.clone();
        reader.set_scope(ReadScope { from_us, to_us, ..ReadScope::LINES });
        let mut text = self.head.text.clone();
        self.recent.iter().for_each(|lines| text.extend_from_slice(&lines.text));
        text.extend_from_slice(&self.appended.tail);
        feed(&mut reader, &mut self.frames, self.head_items, &text);
        let mut script_maps = mem::take(&mut self.script_maps);
        script_maps.extend(reader.take_script_maps());
        let unreadable_events = reader.unreadable_events();
        let labels = reader.take_labels();
        let mut processes = reader.finish();
        let mut needed = NeededFrames::of(&self.frames);
        let threads = processes.iter_mut().flat_map(|process| &mut process.threads);
        threads.flat_map(|thread| &mut thread.profiles).for_each(|profile| needed.keep(profile));
        let contents = FileContents {
            has_one_clock: false,
            processes,
            is_trace: true,
            times: None,
            is_damaged: false,
            unreadable_events,
            notes: Vec::new(),
        };
        ReadFile { contents, frames: needed.frames, labels, script_maps }
    }
}

/// Reads the items of a text behind the first `skipped`. Returns the count of all.
fn feed(reader: &mut TraceReader, frames: &mut FrameTable, skipped: usize, text: &[u8]) -> usize {
    let mut items = SoundItems::new(text);
    let mut count = 0;
    loop {
        let is_ours = items.is_ours();
        // The end of a text is the end of a file that is still being written.
        let Ok(Some(item)) = items.next() else { return count };
        count += 1;
        match item {
            _ if count <= skipped => {}
            SoundItem::Event { text, head } => reader.event(text, head, is_ours, frames),
            SoundItem::Member { key, value } => reader.member(key, value),
        }
    }
}
