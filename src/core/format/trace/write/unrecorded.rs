//! The event that tells what ran under a recorded process without a recording. Who has watched the processes of a
//! run adds it to the recording of their parent, so that every tool knows it from then on.

use super::event::{At, Event};
use super::event_args::{Args, Data};
use super::events::Events;
use crate::format::trace::lines::{FOOTER, SEPARATOR};
use crate::profile::cpu_use::UnrecordedPrograms;

/// The name of the event.
pub const UNRECORDED_PROGRAMS: &str = "programs.unrecorded";

/// Returns the end of a recording with the event before its last one, which has to stay the last; none for an end
/// that no recording of ours has. The offset is that of the place where the new end begins, in bytes of `end`.
pub fn with_unrecorded(
    end: &[u8],
    at: At,
    programs: UnrecordedPrograms,
) -> Option<(usize, Vec<u8>)> {
    let whole = end.strip_suffix(FOOTER)?;
    let offset = memchr::memmem::rfind(whole, SEPARATOR)?;
    let mut events = Events::default();
    let args = Args::Data { data: Data::UnrecordedPrograms(programs) };
    events.push(&Event::instant(UNRECORDED_PROGRAMS, at, args));
    Some((offset, [SEPARATOR, events.as_bytes(), &end[offset..]].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_stands_before_the_last_one() {
        let at = At { pid: 7, tid: 0, ts: 30 };
        let programs = UnrecordedPrograms { nodes: 2, nodes_us: 5000, others_us: 10 };
        let end = b"{\"ts\":20},\n{\"name\":\"trace.end\",\"ts\":30}\n]}";
        let (offset, text) = with_unrecorded(end, at, programs).unwrap();
        let whole = [&end[..offset], &text].concat();
        assert_eq!(
            String::from_utf8(whole).unwrap(),
            "{\"ts\":20},\n{\"cat\":\"disabled-by-default-devtools.timeline\",\"name\":\"programs.unrecorded\",\
             \"ph\":\"I\",\"s\":\"t\",\"pid\":7,\"tid\":0,\"ts\":30,\"args\":{\"data\":{\"nodes\":2,\"nodesUs\":5000,\
             \"othersUs\":10}}},\n{\"name\":\"trace.end\",\"ts\":30}\n]}"
        );
        assert_eq!(with_unrecorded(b"{\"a\":1}\n", at, programs), None);
        assert_eq!(with_unrecorded(b"{}\n]}", at, programs), None);
    }
}
