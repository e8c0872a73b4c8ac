//! An event of a trace of another tool.

use super::spans::OpenSpans;
use crate::merge::inputs::event::SoundEvent;
use crate::merge::output::trace::OutputTrace;
use crate::merge::result::MergeError;
use cpu_prof_core::format::number::digits;
use cpu_prof_session::formats::trace::event::edit::EventEdit;
use cpu_prof_session::formats::trace::event::head::Member;

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

    /// Writes the event, if its time is in the slice. An event without a time is written in any case.
    pub(super) fn write(
        &self,
        line: &[u8],
        spans: &mut OpenSpans,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        let SoundEvent { text, head } = self.sound;
        let has_zero = trace.slice.has_zero;
        let ts = self.ts.filter(|ts| !self.sound.is_metadata() && (*ts != 0 || has_zero));
        let Some(ts) = ts else {
            return trace.events(line);
        };
        let (pid, tid) = self.thread();
        if trace.slice.is_everything() {
            let dur = head.dur(text).unwrap_or_default().max(0);
            trace.note_span(pid, ts, ts.saturating_add(dur));
            return trace.events(line);
        }
        if spans.write(line, head.phase, (pid, tid), trace)? || !trace.slice.has(ts) {
            return Ok(());
        }
        trace.note(pid, ts);
        trace.events(line)
    }
}
