//! A profile that a merge copies chunk by chunk: finds out whether each is sound, repairs it where it
//! is not, and gives its frames and lines their places in the sources.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::repaired_chunk::{KnownNodes, repaired_args};
use crate::merge::inputs::event::SoundEvent;
use crate::merge::output::mapped_frames::{MappedFrame, MappedFrames};
use cpu_prof_core::format::ascii_json::encode_raw;
use cpu_prof_core::format::frame_json::parse_frame;
use cpu_prof_core::format::trace::write::event::{At, Event};
use cpu_prof_core::format::trace::write::events::Events;
use cpu_prof_core::profile::label_table::is_clean;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::timeline::WrittenTimeline;
use cpu_prof_session::formats::deltas::{self, InOrder, deltas_or_even};
use cpu_prof_session::formats::label_json::cleaned_sets;
use cpu_prof_session::formats::node_json::NodeJson;
use cpu_prof_session::formats::trace::event::chunk_json::ChunkJson;
use cpu_prof_session::formats::trace::event::edit::EventEdit;
use cpu_prof_session::formats::trace::event::head::Member;
use cpu_prof_session::formats::trace::event::our_chunk::{self, ChunkCheck};

/// What is known of a profile from its events so far.
#[derive(Debug)]
pub struct CopiedProfile {
    /// Whether the `Profile` event was read, without which viewers show nothing.
    is_announced: bool,
    /// Nodes that were announced.
    nodes: KnownNodes,
    /// Nodes whose frames have other places in the sources.
    mapped: FxHashMap<u64, Rc<MappedFrame>>,
    has_samples: bool,
    first: Option<FirstChunk>,
    /// Times of the samples.
    time: WrittenTimeline,
    /// Usual length of a sample, microseconds; 0 if not known.
    usual_us: i64,
}

/// The first chunk of a profile.
#[derive(Debug)]
pub struct FirstChunk {
    /// Start, microseconds.
    pub start_us: i64,
    /// Id of the profile as it is written.
    pub id: String,
}

/// Returns the `Profile` event of a profile whose own was lost. `id` is its id as it is written.
pub fn announcement(at: At, id: &str) -> Vec<u8> {
    let mut events = Events::default();
    events.push(&Event::profile("", at));
    let text = String::from_utf8_lossy(events.as_bytes());
    text.replacen("\"id\":\"\"", &format!("\"id\":{id}"), 1).into_bytes()
}

impl Default for CopiedProfile {
    fn default() -> Self {
        Self {
            is_announced: false,
            nodes: KnownNodes::default(),
            mapped: FxHashMap::default(),
            has_samples: false,
            first: None,
            time: WrittenTimeline::new(0),
            usual_us: 0,
        }
    }
}

impl CopiedProfile {
    /// Adds to `edit` what makes an event of the profile sound, and its places in the sources; other
    /// events are sound. Returns whether the event can be read.
    pub fn event(
        &mut self,
        event: SoundEvent<'_>,
        frames: &mut MappedFrames,
        edit: &mut EventEdit,
    ) -> bool {
        match event.name() {
            b"Profile" => self.start(event, edit),
            b"ProfileChunk" => self.chunk(event, frames, edit),
            _ => true,
        }
    }

    /// Begins a profile with nodes of its own, by its `Profile` event.
    fn start(&mut self, event: SoundEvent<'_>, edit: &mut EventEdit) -> bool {
        let Ok(start) = ChunkJson::from_args(event.arguments()) else { return false };
        // A profile can be announced after its first chunks.
        if self.is_announced {
            *self = Self::default();
        }
        self.is_announced = true;
        let ts = event.ts().unwrap_or_default();
        if !self.has_samples {
            self.time = WrittenTimeline::new(ts);
        }
        if start.start_time.is_none() {
            let args = format!("{{\"data\":{{\"startTime\":{ts}}}}}");
            let end = event.text.len() - 1;
            match event.place(Member::Arguments) {
                Some(place) => edit.replace(place, args),
                None => edit.replace(end..end, format!(",\"args\":{args}")),
            }
        }
        true
    }

    /// Returns the end of the samples so far if a chunk of this time stands before the last of them:
    /// microseconds.
    pub(crate) fn end_after(&self, ts: i64) -> Option<i64> {
        let last_us = self.time.last_us();
        (last_us > ts).then(|| last_us.saturating_add(self.usual_us))
    }

    /// Returns the first chunk of a profile that was never announced.
    pub(crate) fn unannounced(&self) -> Option<&FirstChunk> {
        self.first.as_ref().filter(|_| !self.is_announced)
    }

    /// Reads a `ProfileChunk`.
    fn chunk(
        &mut self,
        event: SoundEvent<'_>,
        frames: &mut MappedFrames,
        edit: &mut EventEdit,
    ) -> bool {
        let ts = event.ts().unwrap_or_default();
        let Some(args) = event.place(Member::Arguments) else {
            self.begin(ts, event);
            return true;
        };
        if self.mapped.is_empty()
            && let Some(length_us) = self.our_length(&event.text[args.clone()], frames)
        {
            self.begin(ts.saturating_sub(length_us), event);
            self.time.sample(length_us);
            self.has_samples = true;
            return true;
        }
        let Ok(chunk) = ChunkJson::from_args(event.arguments()) else { return false };
        let length_us = chunk.length_us();
        self.begin(ts.saturating_sub(length_us), event);
        if self.add(&chunk) {
            if chunk.deltas().iter().all(|delta| delta.0 >= 0) {
                self.time.sample(length_us);
            } else {
                self.deltas(&chunk, ts);
            }
            self.map(event.text, &chunk, frames, edit);
            if let Some(written) = chunk.label_sets
                && let Some(cleaned) = cleaned_sets(written)
            {
                edit.replace(place_of(written.get(), event.text), cleaned.get());
            }
        } else {
            let deltas = self.deltas(&chunk, ts);
            if let Some(repaired) = self.repaired(&chunk, deltas, frames) {
                edit.replace(args, repaired.get());
            }
        }
        self.has_samples |= !chunk.samples().is_empty();
        if let [_, deltas @ ..] = chunk.deltas()
            && let Ok(count @ 1..) = i64::try_from(deltas.len())
        {
            self.usual_us = (deltas::sum(deltas) / count).max(0);
        }
        true
    }

    /// Begins the profile at its first chunk, unless its `Profile` event was read.
    fn begin(&mut self, start_us: i64, event: SoundEvent<'_>) {
        if self.first.is_some() || self.is_announced {
            return;
        }
        self.time = WrittenTimeline::new(start_us);
        let id = String::from_utf8_lossy(event.id().unwrap_or_default()).into_owned();
        self.first = Some(FirstChunk { start_us, id });
    }

    /// Returns the time before each sample of a chunk as readers understand it, microseconds.
    fn deltas(&mut self, chunk: &ChunkJson<'_>, ts: i64) -> Vec<i64> {
        let span_us = ts.saturating_sub(self.time.last_us());
        let count = chunk.samples().len();
        let deltas = deltas_or_even(count, chunk.deltas(), !self.has_samples, span_us);
        let deltas: Vec<i64> = deltas.collect();
        let InOrder { list, rest_us } = InOrder::of(deltas.iter().copied());
        for (_, delta) in list {
            self.time.sample(delta);
        }
        self.time.run_back(rest_us);
        deltas
    }

    /// Returns the length of the samples of a chunk, microseconds, if the chunk is written as this
    /// project writes it, and can stay as it is.
    fn our_length(&mut self, args: &[u8], frames: &mut MappedFrames) -> Option<i64> {
        let mut check = OurChunkCheck { profile: self, frames, added: Vec::new(), root: None };
        let length_us = our_chunk::length_if_sound(args, &mut check);
        let OurChunkCheck { added, root, .. } = check;
        match length_us {
            Some(_) => self.nodes.root = self.nodes.root.or(root),
            // The chunk is read again.
            None => added.into_iter().for_each(|id| self.nodes.ids.remove(id)),
        }
        length_us
    }

    /// Adds the nodes of a chunk. Returns whether the chunk is sound.
    fn add(&mut self, chunk: &ChunkJson<'_>) -> bool {
        let mut is_sound = true;
        for node in chunk.nodes() {
            let is_known = |parent: u64| self.nodes.ids.contains(parent);
            is_sound &= node.parent.is_none_or(|parent| is_known(parent.0));
            is_sound &= node.call_frame.is_some_and(|frame| frame.get().starts_with('{'));
            // Viewers do not read a parent where nodes list their children.
            is_sound &= node.children.is_none();
            if !is_sound {
                break;
            }
            self.nodes.announce(node.id.0, node.parent.is_some());
        }
        let samples = chunk.samples();
        is_sound
            && chunk.deltas().len() == samples.len()
            && samples.iter().all(|id| self.nodes.ids.contains(id.0))
    }

    /// Replaces the frames, lines and columns of a chunk by those in the sources. `text` is that of the
    /// event.
    fn map(
        &mut self,
        text: &[u8],
        chunk: &ChunkJson<'_>,
        frames: &mut MappedFrames,
        edit: &mut EventEdit,
    ) {
        for node in chunk.nodes() {
            let Some(json) = node.call_frame else { continue };
            let frame = frames.frame(json.get());
            if let Some(frame) = &frame {
                edit.replace(place_of(json.get(), text), frame.json.get());
            }
            self.note_places(node, frame);
        }
        if self.mapped.is_empty() {
            return;
        }
        let mut positions = chunk.positions();
        if !self.map_positions(chunk, &mut positions, frames) {
            return;
        }
        let mut replace = |list: Option<&RawValue>, number: fn(&SourcePosition) -> u32| {
            let numbers: Vec<u32> = positions.iter().map(number).collect();
            if let Some((list, numbers)) = list.zip(encode_raw(&numbers)) {
                edit.replace(place_of(list.get(), text), numbers.get());
            }
        };
        replace(chunk.lines, |position| position.line);
        replace(chunk.columns, |position| position.column);
    }

    /// Notes in which frame the positions of a node are: a native function has those of the script that called it.
    fn note_places(&mut self, node: &NodeJson<'_>, frame: Option<Rc<MappedFrame>>) {
        let is_native = |json: &RawValue| parse_frame(json.get()).is_native();
        let places = match node.call_frame.is_some_and(is_native) {
            true => node.parent.and_then(|parent| self.mapped.get(&parent.0).cloned()),
            false => frame,
        };
        if let Some(places) = places.filter(|frame| frame.has_source()) {
            self.mapped.insert(node.id.0, places);
        }
    }

    /// Moves the positions of samples to the sources. Returns whether any of them moves.
    fn map_positions(
        &self,
        chunk: &ChunkJson<'_>,
        positions: &mut [SourcePosition],
        frames: &mut MappedFrames,
    ) -> bool {
        let mut is_changed = false;
        for (position, id) in positions.iter_mut().zip(chunk.samples()) {
            if position.line > 0
                && let Some(frame) = self.mapped.get(&id.0)
            {
                *position = frame.position(*position, frames);
                is_changed = true;
            }
        }
        is_changed
    }

    /// Returns the arguments of a chunk that is not sound, as readers understand the chunk.
    fn repaired(
        &mut self,
        chunk: &ChunkJson<'_>,
        deltas: Vec<i64>,
        frames: &mut MappedFrames,
    ) -> Option<Box<RawValue>> {
        let frame_of = |node: &NodeJson<'_>| frames.frame(node.call_frame?.get());
        let mapped: Vec<_> = chunk.nodes().iter().map(frame_of).collect();
        for (node, frame) in chunk.nodes().iter().zip(&mapped) {
            self.note_places(node, frame.clone());
        }
        let mut positions = chunk.positions();
        self.map_positions(chunk, &mut positions, frames);
        let frame_of = |index: usize| mapped[index].as_ref().map(|frame| &*frame.json);
        repaired_args(chunk, &mut self.nodes, frame_of, deltas, positions)
    }
}

/// Checks a chunk that this project wrote.
struct OurChunkCheck<'p, 'f> {
    profile: &'p mut CopiedProfile,
    frames: &'f mut MappedFrames,
    /// Ids of the nodes that the chunk announces.
    added: Vec<u64>,
    root: Option<u64>,
}

impl ChunkCheck for OurChunkCheck<'_, '_> {
    fn node(&mut self, id: u64, parent: Option<u64>, frame: &[u8]) -> bool {
        let nodes = &mut self.profile.nodes.ids;
        if parent.is_some_and(|parent| !nodes.contains(parent)) || !nodes.insert(id) {
            return false;
        }
        self.added.push(id);
        if parent.is_none() {
            self.root.get_or_insert(id);
        }
        self.frames.stays(frame)
    }

    fn sample(&mut self, id: u64) -> bool {
        self.profile.nodes.ids.contains(id)
    }

    fn label(&mut self, key: &[u8], value: &[u8]) -> bool {
        is_clean(key, value)
    }
}

/// Returns the place of a value that was read from an event's text.
fn place_of(value: &str, text: &[u8]) -> std::ops::Range<usize> {
    let start = (value.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + value.len()
}
