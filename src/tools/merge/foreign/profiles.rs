//! The profiles of a trace that is not a recording.

use rustc_hash::FxHashMap;

use super::event::ForeignEvent;
use crate::merge::options::MergeOptions;
use crate::merge::output::mapped_frames::MappedFrames;
use crate::merge::output::merge_output::MergeOutput;
use crate::merge::output::profile_ids::ProfileIds;
use crate::merge::output::trace::OutputTrace;
use crate::merge::profiles::copied::{CopiedProfile, FirstChunk, announcement};
use crate::merge::profiles::cpuprofile;
use crate::merge::profiles::rewrite::ProfileRewriter;
use crate::merge::result::MergeError;
use cpu_prof_core::format::trace::event_names::{PROFILE_EVENTS, WHOLE_PROFILE};
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::profile::label_table::LabelTable;
use cpu_prof_session::formats::trace::event::edit::EventEdit;
use cpu_prof_session::formats::trace::event::head::Member;
use cpu_prof_session::model::frame_table::FrameTable;

/// A profile, by the pid in the trace and the file's id.
type ProfileKey = (u32, Vec<u8>);

/// The profiles of one trace.
#[derive(Default)]
pub(super) struct ForeignProfiles {
    /// New ids of profiles; none where the id stays.
    ids: FxHashMap<ProfileKey, Option<String>>,
    /// What was read of the profiles, each with its thread id in the output.
    copied: FxHashMap<ProfileKey, (u32, CopiedProfile)>,
    /// Profiles that do not pass unchanged.
    rewriters: FxHashMap<ProfileKey, ProfileRewriter>,
    /// Count of events that cannot be read.
    pub broken: u64,
}

impl ForeignProfiles {
    /// Returns the new id of an event's profile, with quotes; none if the id stays.
    pub(super) fn new_id(
        &mut self,
        event: &ForeignEvent<'_>,
        taken: &mut ProfileIds,
    ) -> Option<String> {
        let (pid, id) = (event.pid?, event.sound.id()?);
        if !event.sound.is_profile() {
            return None;
        }
        let new_id = self.ids.entry((pid, id.to_owned())).or_insert_with(|| {
            let is_free = taken.take(id);
            (!is_free).then(|| taken.free(pid, event.tid.unwrap_or_default()))
        });
        new_id.clone()
    }

    /// Adds to `edit` what makes an event of a profile sound, and its places in the sources. Returns
    /// whether the event can be read.
    pub(super) fn check(
        &mut self,
        event: &mut ForeignEvent<'_>,
        frames: &mut MappedFrames,
        edit: &mut EventEdit,
    ) -> bool {
        let (Some(pid), Some(id)) = (event.pid, event.sound.id()) else { return false };
        let tid = event.tid.unwrap_or_default();
        let new = || (tid, CopiedProfile::default());
        let (_, profile) = self.copied.entry((pid, id.to_owned())).or_insert_with(new);
        let is_read = profile.event(event.sound, frames, edit);
        self.broken += u64::from(!is_read);
        // In a trace of ours, a part of a profile does not stand before its samples.
        if let Some(place) = event.sound.place(Member::Ts)
            && let Some(end_us) = profile.end_after(event.ts())
            && event.sound.name() == PROFILE_EVENTS[1]
            && is_read
        {
            edit.replace(place, end_us);
            event.ts = Some(end_us);
        }
        is_read
    }

    /// Adds an event to its profile, if it has one. `line` is the event as the trace has it, with
    /// `new_id`. Returns whether the event belongs to a profile.
    pub(super) fn rewrite(
        &mut self,
        event: &ForeignEvent<'_>,
        line: &[u8],
        new_id: Option<String>,
        options: &MergeOptions,
        output: &mut MergeOutput,
    ) -> Result<bool, MergeError> {
        if event.sound.name() == WHOLE_PROFILE {
            return self.whole(event, line, options, output);
        }
        let (Some(pid), Some(id), true) = (event.pid, event.sound.id(), event.sound.is_profile())
        else {
            return Ok(false);
        };
        let (tid, trace) = (event.tid.unwrap_or_default(), &mut output.trace);
        let rewriter = self.rewriters.entry((pid, id.to_owned())).or_insert_with(|| {
            let id = new_id.unwrap_or_else(|| String::from_utf8_lossy(id).into_owned());
            let id = id.trim_matches('"').to_owned();
            ProfileRewriter::new(pid, tid, id, options)
        });
        let is_read = match event.sound.name() {
            b"Profile" => rewriter.start(line, event.ts(), trace)?,
            _ => rewriter.chunk(line, trace)?,
        };
        self.broken += u64::from(!is_read);
        Ok(true)
    }

    /// Adds a profile that is one event. Several of a thread are one profile.
    fn whole(
        &mut self,
        event: &ForeignEvent<'_>,
        line: &[u8],
        options: &MergeOptions,
        output: &mut MergeOutput,
    ) -> Result<bool, MergeError> {
        let MergeOutput { trace, profile_ids, .. } = output;
        let mut frames = FrameTable::new();
        let profile = cpuprofile::of_event(line, &mut frames, &mut output.frames);
        let Some((pid, profile)) = event.pid.zip(profile) else { return Ok(false) };
        let tid = event.tid.unwrap_or_default();
        let key = (pid, [WHOLE_PROFILE, &tid.to_ne_bytes()].concat());
        let rewriter = self.rewriters.entry(key).or_insert_with(|| {
            let id = profile_ids.free(pid, tid).trim_matches('"').to_owned();
            ProfileRewriter::new(pid, tid, id, options)
        });
        rewriter.begin(profile.start_us, trace)?;
        cpuprofile::add(&profile, (&frames, &LabelTable::default()), (pid, tid), rewriter, trace)?;
        rewriter.end_at(profile.end_us);
        Ok(true)
    }

    /// Writes the samples of a thread until a time.
    pub(super) fn write_until(
        &mut self,
        pid: u32,
        tid: u32,
        ts: i64,
        trace: &mut OutputTrace,
    ) -> Result<(), MergeError> {
        let all = self.rewriters.values_mut();
        let mut of_thread = all.filter(|rewriter| rewriter.is_of(pid, tid));
        of_thread.try_for_each(|rewriter| rewriter.write_until(ts, trace))
    }

    /// Ends the profiles. Announces those whose announcement the file has lost.
    pub(super) fn finish(&mut self, trace: &mut OutputTrace) -> Result<(), MergeError> {
        for (key, (tid, profile)) in &self.copied {
            if let Some(FirstChunk { start_us, id }) = profile.unannounced()
                && !self.rewriters.contains_key(key)
            {
                let pid = key.0;
                let new_id = self.ids.get(key).and_then(Option::as_ref);
                trace.note(pid, *start_us);
                let at = At { pid, tid: *tid, ts: *start_us };
                let event = announcement(at, new_id.unwrap_or(id));
                trace.events(&event)?;
            }
        }
        self.rewriters.values_mut().try_for_each(|rewriter| rewriter.finish(trace).map(|_| ()))
    }
}
