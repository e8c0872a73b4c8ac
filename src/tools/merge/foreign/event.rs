//! An event of a trace of another tool.

use super::spans::OpenSpans;
use crate::merge::inputs::event::SoundEvent;
use crate::merge::output::parts::OutputParts;
use crate::merge::result::MergeError;
use cpu_prof_core::format::number::digits;
use cpu_prof_core::format::trace::event::edit::EventEdit;
use cpu_prof_core::format::trace::event::head::Member;

/// An event, with its place in the output.
pub(super) struct ForeignEvent<'a> {
    pub sound: SoundEvent<'a>,
    /// Pid in the output.
    pub pid: Option<u32>,
    /// Thread id in the output.
    pub tid: Option<u32>,
    /// Time, microseconds; none for events without one.
    pub ts: Option<i64>,
}

impl ForeignEvent<'_> {
    /// Returns the time; 0 for events without one.
    pub(super) fn ts(&self) -> i64 {
        self.ts.unwrap_or_default()
    }

    /// Returns the process and the thread in the output; 0 for those that the event does not name.
    pub(super) fn thread(&self) -> (u32, u32) {
        (self.pid.unwrap_or_default(), self.tid.unwrap_or_default())
    }

    /// Replaces the process and the thread by those in the output, and the id of a profile if a new
    /// id is given.
    pub(super) fn renumber(&self, profile_id: Option<&str>, edit: &mut EventEdit) {
        let mut replace = |member, number: Option<u32>| {
            if let (Some(place), Some(number)) = (self.sound.place(member), number)
                && digits(&self.sound.text[place.clone()]) != Some(number.into())
            {
                edit.replace(place, number);
            }
        };
        replace(Member::Pid, self.pid);
        replace(Member::Tid, self.tid);
        if let (Some(place), Some(id)) = (self.sound.place(Member::Id), profile_id) {
            edit.replace(place, id);
        }
    }

    /// Writes the event to the part of its time. An event without a time goes into each part.
    pub(super) fn write(
        &self,
        line: &[u8],
        spans: &mut OpenSpans,
        parts: &mut OutputParts,
    ) -> Result<(), MergeError> {
        let SoundEvent { text, head } = self.sound;
        let has_zero = parts.slices.has_zero;
        let ts = self.ts.filter(|ts| !self.sound.is_metadata() && (*ts != 0 || has_zero));
        let Some(ts) = ts else {
            return parts.list.iter_mut().try_for_each(|part| part.events(line));
        };
        let (pid, tid) = self.thread();
        if parts.slices.is_everything() {
            let dur = head.dur(text).unwrap_or_default().max(0);
            parts.list[0].note_span(pid, ts, ts.saturating_add(dur));
            return parts.list[0].events(line);
        }
        if spans.write(line, head.phase, (pid, tid), parts)? {
            return Ok(());
        }
        let Some(part) = parts.at(ts) else { return Ok(()) };
        part.note(pid, ts);
        part.events(line)
    }
}
