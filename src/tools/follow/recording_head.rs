//! The first events of a recording, which name its process and its thread.

use std::io::{self, Read};

use cpu_prof_core::base::system::regular_file;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::ours;
use cpu_prof_session::formats::trace::event::head::EventHead;

use crate::read::sniff::read_header;

/// The most bytes before the first sample.
const MAX_BYTES: u64 = 1 << 20;

/// The text of a recording up to its first sample, and what the text tells.
#[derive(Debug, Clone)]
pub(super) struct RecordingHead {
    /// Text up to and with the event that begins the profile, and the line end.
    pub text: Vec<u8>,
    /// Start of the recording, microseconds.
    pub start_us: i64,
    /// Process id, as the process itself sees the id.
    pub pid: Option<u32>,
    /// Id of the system's start, if known.
    pub boot: Option<String>,
}

/// The state of a file's beginning.
pub(super) enum FoundHead {
    Recording(RecordingHead),
    /// The file may become a recording: the first events are not written so far. The process id is known
    /// once the metadata is.
    Unfinished {
        pid: Option<u32>,
    },
    /// The file is no recording that a follower can read, for this reason.
    Other(&'static str),
}

impl RecordingHead {
    /// Reads the beginning of a file.
    pub(super) fn of(input: &Input) -> io::Result<FoundHead> {
        let mut text = Vec::new();
        regular_file::open(&input.path)?.take(MAX_BYTES).read_to_end(&mut text)?;
        if !text.strip_prefix(b"{").is_some_and(ours::is_ours) {
            return Ok(match text.is_empty() {
                true => FoundHead::Unfinished { pid: None },
                false => FoundHead::Other("it is not a trace that cpu-prof has recorded"),
            });
        }
        let Some((length, start_us)) = profile_start(&text) else {
            return Ok(
                match text.len() as u64 == MAX_BYTES || !text.starts_with(b"{\"metadata\"") {
                    true => FoundHead::Other("it is not the recording of one thread"),
                    false => {
                        FoundHead::Unfinished { pid: read_header(input).and_then(|it| it.pid) }
                    }
                },
            );
        };
        let Some(header) = read_header(input) else {
            return Ok(FoundHead::Other("its metadata cannot be read"));
        };
        text.truncate(length);
        let boot = header.identity().map(|identity| identity.boot);
        Ok(FoundHead::Recording(Self { text, start_us, pid: header.pid, boot }))
    }
}

/// Returns the length of a text up to and with the event that begins the profile, and the event's time,
/// microseconds; none if another event has to follow.
fn profile_start(text: &[u8]) -> Option<(usize, i64)> {
    let mut length = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        length += line.len();
        let Some(event) = line.strip_suffix(b",\n") else { continue };
        if let Some(head) = EventHead::of_any(event)
            && head.name(event) == b"Profile"
        {
            return Some((length, head.ts(event)?));
        }
    }
    None
}
