//! The last bytes of a trace, which tell how the recording ended.

use std::io::{self, Read, Seek, SeekFrom};

use serde_json::Value;

use cpu_prof_core::base::system::regular_file;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_session::formats::trace::event::head::EventHead;

/// What the last bytes of a trace tell.
#[derive(Debug, Default)]
pub(crate) struct FileEnd {
    /// The latest time, microseconds.
    pub last_us: Option<i64>,
    /// The time of the last heartbeat, microseconds: samples before are in the file. Other events can be later
    /// than samples that V8 still has.
    pub flushed_us: Option<i64>,
    /// How the process ended.
    pub ending: Option<ProcessEnding>,
}

/// Returns whether a recording's trace was completed: its last event says so.
pub(crate) fn is_complete(input: &Input) -> io::Result<bool> {
    let end = last_bytes(input)?;
    Ok(last_events(&end).any(|(event, head)| head.name(event) == b"trace.end"))
}

/// Reads the end of a trace that is not compressed.
pub(crate) fn end_of(input: &Input) -> FileEnd {
    last_bytes(input).map_or_else(|_| FileEnd::default(), |end| end_of_text(&end))
}

/// Reads the last bytes of a trace. Skips the first line, which may be cut off.
pub(crate) fn end_of_text(text: &[u8]) -> FileEnd {
    let mut end = FileEnd::default();
    for (event, head) in last_events(text) {
        let at_us = head.ts(event);
        end.last_us = end.last_us.max(at_us);
        match head.name(event) {
            b"thread.flush" => end.flushed_us = end.flushed_us.max(at_us),
            b"trace.end" => end.ending = Some(ending_of(event).unwrap_or_default()),
            _ => {}
        }
    }
    end
}

/// Returns how the process ended, according to the last event of its recording.
fn ending_of(event: &[u8]) -> Option<ProcessEnding> {
    let event: Value = serde_json::from_slice(event).ok()?;
    serde_json::from_value(event.pointer("/args/data")?.clone()).ok()
}

fn last_bytes(input: &Input) -> io::Result<Vec<u8>> {
    const END: u64 = 64 << 10;
    let mut file = regular_file::open(&input.path)?;
    file.seek(SeekFrom::Start(input.bytes.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns the events in the lines of a file's last bytes, without the first line, which may be cut
/// off.
fn last_events(end: &[u8]) -> impl Iterator<Item = (&[u8], EventHead)> {
    let lines = end.split(|byte| *byte == b'\n').skip(1);
    let events = lines.map(|line| line.strip_suffix(b",").unwrap_or(line));
    events.filter_map(|event| Some((event, EventHead::of_any(event)?)))
}
