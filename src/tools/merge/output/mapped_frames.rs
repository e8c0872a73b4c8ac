//! The frames of all inputs, and their places in the sources.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::merge::inputs::event::SoundEvent;
use crate::names::originals::{OriginalFrame, Originals, Places};
use cpu_prof_core::base::outside_text::script_url;
use cpu_prof_core::format::ascii_json::encode_raw;
use cpu_prof_core::format::frame_json::{CallFrameJson, parse_frame};
use cpu_prof_core::format::script_id::ScriptIdOffset;
use cpu_prof_core::format::source_map::recorded::SCRIPT_SOURCE_MAP;
use cpu_prof_core::format::url::frame_url;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::program::NodeModules;
use cpu_prof_session::formats::source_map::recorded::read_args;

/// The frames of all inputs, each looked up once.
#[derive(Debug, Default)]
pub struct MappedFrames {
    /// Whether sources are looked for.
    is_on: bool,
    originals: Originals,
    /// Frames of sources by those that were recorded. The texts of one frame differ in each thread, by
    /// their script ids.
    found: FxHashMap<CallFrame, Option<OriginalFrame>>,
    /// Frames by their JSON texts; none for a frame that stays as it is.
    texts: FxHashMap<Box<[u8]>, Option<Rc<MappedFrame>>>,
}

/// A frame, and its place in the source.
#[derive(Debug)]
pub struct MappedFrame {
    recorded: CallFrame,
    /// None if only the URL is written in another way.
    original: Option<OriginalFrame>,
    /// The frame as it is written.
    pub json: Box<RawValue>,
    /// Positions in the source, by those that were recorded.
    positions: RefCell<FxHashMap<SourcePosition, SourcePosition>>,
}

impl MappedFrame {
    /// Returns whether the frame has a place in a source.
    pub fn has_source(&self) -> bool {
        self.original.is_some()
    }

    /// Returns a position in the source.
    pub fn position(&self, recorded: SourcePosition, frames: &mut MappedFrames) -> SourcePosition {
        let Some(original) = &self.original else { return recorded };
        let find = || frames.originals.position(&self.recorded, original, recorded);
        *self.positions.borrow_mut().entry(recorded).or_insert_with(find)
    }
}

impl MappedFrames {
    /// Returns frames that are looked up, or that all stay as they are.
    pub fn new(is_on: bool, places: &Places) -> Self {
        Self { is_on, originals: Originals::new(places), ..Self::default() }
    }

    /// Takes the source map of a script, which the merged trace then has no use for. Returns whether
    /// the event holds one.
    pub(crate) fn take_map(&mut self, event: SoundEvent<'_>) -> bool {
        if !self.is_on || event.name() != SCRIPT_SOURCE_MAP.as_bytes() {
            return false;
        }
        if let Some((script, map)) = event.arguments().and_then(read_args) {
            self.originals.add_map(script, map);
        }
        true
    }

    /// Returns the sources; none if all frames stay as they are.
    pub(crate) fn originals(&mut self) -> Option<&mut Originals> {
        self.is_on.then_some(&mut self.originals)
    }

    /// Returns what the user should know of the sources, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.originals.notes()
    }

    /// Returns whether a frame is valid JSON, and stays as it is written.
    pub fn stays(&mut self, text: &[u8]) -> bool {
        if let Some(known) = self.texts.get(text) {
            return known.is_none();
        }
        let Ok(text) = str::from_utf8(text) else { return false };
        serde_json::from_str::<&RawValue>(text).is_ok() && self.frame(text).is_none()
    }

    /// Returns the frame in the source, or with a URL without secrets; none for a frame that stays as it is.
    pub fn frame(&mut self, text: &str) -> Option<Rc<MappedFrame>> {
        if let Some(known) = self.texts.get(text.as_bytes()) {
            return known.clone();
        }
        let original = if self.is_on { self.look_up(text) } else { None };
        let frame = original.or_else(|| cleaned(text)).map(Rc::new);
        self.texts.insert(text.as_bytes().into(), frame.clone());
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
        let original = Some(original);
        Some(MappedFrame { recorded, original, json, positions: RefCell::default() })
    }
}

/// Returns a frame whose URL is without secrets, which older recordings have; none for a frame that stays.
fn cleaned(text: &str) -> Option<MappedFrame> {
    #[derive(Deserialize)]
    struct FrameUrl<'a> {
        #[serde(borrow)]
        url: Cow<'a, str>,
    }
    let FrameUrl { url } = serde_json::from_str(text).ok()?;
    let cleaned = script_url(&url);
    if cleaned == url {
        return None;
    }
    let mut members: Map<String, Value> = serde_json::from_str(text).ok()?;
    members.insert("url".to_owned(), cleaned.into());
    let json = encode_raw(&members)?;
    let (recorded, positions) = (parse_frame(text), RefCell::default());
    Some(MappedFrame { recorded, original: None, json, positions })
}
