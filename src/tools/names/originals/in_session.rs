//! Gives the frames and lines of a session their places in the sources.

use std::mem;

use rustc_hash::FxHashMap;

use super::{OriginalFrame, Originals};
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_session::model::Session;
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Gives the frames and lines of all threads their places in the sources.
pub(crate) fn map_session(session: &mut Session, originals: &mut Originals) {
    let mut places = SessionPlaces::of(&mut session.frames, originals);
    let threads = session.processes.iter_mut().flat_map(|process| &mut process.threads);
    for profile in threads.flat_map(|thread| &mut thread.profiles) {
        places.map(profile, originals);
    }
}

/// Gives the frames and lines of one profile their places in the sources.
pub(crate) fn map_profile(
    profile: &mut ThreadProfile,
    frames: &mut FrameTable,
    originals: &mut Originals,
) {
    SessionPlaces::of(frames, originals).map(profile, originals);
}

/// The frames as they were recorded, and their places in the sources.
struct SessionPlaces {
    recorded: FrameTable,
    /// New numbers of frames, by their numbers.
    numbers: Vec<u32>,
    /// Frames of sources, by the numbers of the recorded frames.
    originals: Vec<Option<OriginalFrame>>,
    /// Positions in sources, by recorded frames and positions.
    positions: FxHashMap<(u32, SourcePosition), SourcePosition>,
}

impl SessionPlaces {
    /// Replaces a table of frames by that of the sources' frames.
    fn of(frames: &mut FrameTable, originals: &mut Originals) -> Self {
        let recorded = mem::take(frames);
        let mut places = Self {
            numbers: Vec::with_capacity(recorded.list().len()),
            originals: Vec::with_capacity(recorded.list().len()),
            positions: FxHashMap::default(),
            recorded,
        };
        for frame in places.recorded.list() {
            let original = originals.frame(frame);
            let new = original.as_ref().map_or(frame, |original| &original.frame);
            places.numbers.push(frames.number(new.clone()));
            places.originals.push(original);
        }
        places
    }

    fn map(&mut self, profile: &mut ThreadProfile, originals: &mut Originals) {
        let script_frames = self.script_frames(profile);
        let ThreadProfile { nodes, samples, lines, .. } = profile;
        samples.change(|mut sample| {
            if let Some(frame) = script_frames.get(sample.node as usize) {
                sample.position = self.position(*frame, sample.position, originals);
            }
            sample
        });
        for line in &mut *lines {
            let frame = script_frames[line.node as usize];
            line.position = self.position(frame, line.position, originals);
        }
        lines.sort_unstable_by_key(|line| (line.node, line.position));
        lines.dedup_by(|line, before| {
            let is_same = (line.node, line.position) == (before.node, before.position);
            if is_same {
                before.self_us = before.self_us.saturating_add(line.self_us);
                before.samples = before.samples.saturating_add(line.samples);
            }
            is_same
        });
        for node in nodes {
            node.frame = self.numbers[node.frame as usize];
        }
    }

    /// Returns for each node the frame that its positions are in: a native function has those of the script that
    /// called it.
    fn script_frames(&self, profile: &ThreadProfile) -> Vec<u32> {
        profile.downward(|above: u32, _, node| {
            let is_native = self.recorded.list()[node.frame as usize].is_native();
            if is_native && node.parent != NONE { above } else { node.frame }
        })
    }

    fn position(
        &mut self,
        frame: u32,
        position: SourcePosition,
        originals: &mut Originals,
    ) -> SourcePosition {
        let Some(original) = &self.originals[frame as usize] else { return position };
        if position.line == 0 {
            return position;
        }
        let generated = &self.recorded.list()[frame as usize];
        *self
            .positions
            .entry((frame, position))
            .or_insert_with(|| originals.position(generated, original, position))
    }
}
