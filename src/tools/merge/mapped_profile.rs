//! Gives the frames and lines of `ProfileChunk` events their places in the sources.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use memchr::memmem;
use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::format::ascii_json::encode_raw;
use crate::format::frame_json::{CallFrameJson, parse_frame};
use crate::format::node_json::NodeJson;
use crate::format::script_id::ScriptIdOffset;
use crate::format::source_map::recorded::{SCRIPT_SOURCE_MAP, read_args};
use crate::format::trace::chunk_json::ChunkJson;
use crate::format::trace::edit::EventEdit;
use crate::format::trace::head::{EventHead, Member};
use crate::format::url::frame_url;
use crate::profile::frame::CallFrame;
use crate::profile::position::SourcePosition;
use crate::profile::program::NodeModules;
use crate::read::originals::{OriginalFrame, Originals};

/// The frames of all inputs, each looked up once.
#[derive(Debug, Default)]
pub(super) struct MappedFrames {
    /// Whether sources are looked for.
    is_on: bool,
    pub originals: Originals,
    /// Frames of sources by those that were recorded. The texts of one frame differ in each thread, by
    /// their script ids.
    found: FxHashMap<CallFrame, Option<OriginalFrame>>,
    /// Frames by their JSON texts; none for a frame that stays as it is.
    texts: FxHashMap<Box<str>, Option<Rc<MappedFrame>>>,
}

/// A frame, and its place in the source.
#[derive(Debug)]
struct MappedFrame {
    recorded: CallFrame,
    original: OriginalFrame,
    json: Box<RawValue>,
    /// Positions in the source, by those that were recorded.
    positions: RefCell<FxHashMap<SourcePosition, SourcePosition>>,
}

/// The nodes of one profile whose frames have other places in the sources.
#[derive(Debug, Default)]
pub(super) struct MappedProfile {
    nodes: FxHashMap<u64, Rc<MappedFrame>>,
    edit: EventEdit,
    buffer: Vec<u8>,
}

impl MappedProfile {
    /// Returns a `ProfileChunk` with the places in the sources.
    pub(super) fn chunk<'a>(&'a mut self, event: &'a [u8], frames: &mut MappedFrames) -> &'a [u8] {
        if !frames.is_on || (self.nodes.is_empty() && frames.all_stay(event)) {
            return event;
        }
        let Ok((_, chunk)) = ChunkJson::from_event(event) else { return event };
        self.edit.clear();
        for NodeJson { id, call_frame, .. } in chunk.nodes() {
            let Some(text) = call_frame else { continue };
            if let Some(frame) = frames.frame(text.get()) {
                self.edit.replace(range(event, text.get()), frame.json.get());
                self.nodes.insert(id.node_id(), frame);
            }
        }
        self.positions(event, &chunk, frames);
        if self.edit.is_empty() {
            return event;
        }
        self.buffer.clear();
        self.edit.apply(event, &mut self.buffer);
        &self.buffer
    }

    /// Replaces the lines and columns of samples.
    fn positions(&mut self, event: &[u8], chunk: &ChunkJson<'_>, frames: &mut MappedFrames) {
        let mut positions = chunk.positions();
        let mut is_changed = false;
        for (position, id) in positions.iter_mut().zip(chunk.samples()) {
            if position.line > 0
                && let Some(frame) = self.nodes.get(&id.node_id())
            {
                *position = frame.position(*position, &mut frames.originals);
                is_changed = true;
            }
        }
        if !is_changed {
            return;
        }
        let mut replace = |list: Option<&RawValue>, number: fn(&SourcePosition) -> u32| {
            let numbers: Vec<u32> = positions.iter().map(number).collect();
            if let Some((list, numbers)) = list.zip(encode_raw(&numbers)) {
                self.edit.replace(range(event, list.get()), numbers.get());
            }
        };
        replace(chunk.lines, |position| position.line);
        replace(chunk.columns, |position| position.column);
    }
}

impl MappedFrame {
    fn position(&self, recorded: SourcePosition, originals: &mut Originals) -> SourcePosition {
        let find = || originals.position(&self.recorded, &self.original, recorded);
        *self.positions.borrow_mut().entry(recorded).or_insert_with(find)
    }
}

impl MappedFrames {
    /// Returns frames that are looked up, or that all stay as they are.
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Takes the source map of a script, which the merged trace then has no use for. Returns whether
    /// the event holds one.
    pub(super) fn take_map(&mut self, head: &EventHead, event: &[u8]) -> bool {
        if !self.is_on || head.name(event) != SCRIPT_SOURCE_MAP.as_bytes() {
            return false;
        }
        let args = head.place(Member::Arguments).and_then(|args| event.get(args));
        let map = args.and_then(|args| str::from_utf8(args).ok()).and_then(read_args);
        if let Some((script, map)) = map {
            self.originals.add_map(script, map);
        }
        true
    }

    /// Returns the sources; none if all frames stay as they are.
    pub(super) fn originals(&mut self) -> Option<&mut Originals> {
        self.is_on.then_some(&mut self.originals)
    }

    /// Returns whether all frames of a chunk are known to stay as they are, without reading the whole
    /// chunk.
    fn all_stay(&mut self, event: &[u8]) -> bool {
        const FRAME: &[u8] = b"\"callFrame\":";
        const LAST: &[u8] = b"\"columnNumber\":";
        memmem::find_iter(event, FRAME).all(|at| {
            let rest = &event[at + FRAME.len()..];
            let last = memmem::find(rest, LAST);
            let end = last.and_then(|last| Some(last + memchr::memchr(b'}', &rest[last..])? + 1));
            // A frame that another tool wrote can have its members in another order.
            end.and_then(|end| str::from_utf8(&rest[..end]).ok()).is_some_and(|text| {
                let is_known = self.texts.contains_key(text);
                let is_frame = is_known || serde_json::from_str::<&RawValue>(text).is_ok();
                is_frame && self.frame(text).is_none()
            })
        })
    }

    fn frame(&mut self, text: &str) -> Option<Rc<MappedFrame>> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let frame = self.look_up(text).map(Rc::new);
        self.texts.insert(text.into(), frame.clone());
        frame
    }

    fn look_up(&mut self, text: &str) -> Option<MappedFrame> {
        let recorded = parse_frame(text);
        let original = match self.found.get(&recorded) {
            Some(found) => found.clone(),
            None => {
                let original = self.originals.frame(&recorded);
                self.found.insert(recorded.clone(), original.clone());
                original
            }
        }?;
        let mut members: Map<String, Value> = serde_json::from_str(text).ok()?;
        let url = members.get("url").and_then(Value::as_str).unwrap_or_default();
        let is_shown = url.contains("/node_modules\\");
        let node_modules = if is_shown { NodeModules::Shown } else { NodeModules::Foldable };
        let url = frame_url(&original.frame.url, node_modules);
        let json = CallFrameJson::new(&original.frame, &url, ScriptIdOffset::NONE);
        let Ok(Value::Object(mut place)) = serde_json::to_value(json) else { return None };
        // The id is unique in the trace.
        place.remove("scriptId");
        members.extend(place);
        let json = encode_raw(&members)?;
        Some(MappedFrame { recorded, original, json, positions: RefCell::default() })
    }
}

/// Returns the place of a part of an event.
fn range(event: &[u8], part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(event.as_ptr() as usize);
    start..start + part.len()
}
