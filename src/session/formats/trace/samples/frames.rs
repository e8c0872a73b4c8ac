//! The stack frames that samples name: a dictionary of frames with their parents, or lists of names.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::frame_name::{FramePlaces, call_frame};
use cpu_prof_core::format::json_walk::walk_object;
use cpu_prof_core::format::number::or_none;
use cpu_prof_core::profile::frame::{CallFrame, short_name};
use cpu_prof_core::profile::position::SourcePosition;

/// The most frames of a stack. V8 gives at most 255.
pub(super) const MAX_DEPTH: usize = 1000;

/// No frame: a stack ends above.
pub(super) const NONE: u32 = u32::MAX;

/// The frames of one file, by their indices.
#[derive(Debug, Default)]
pub(super) struct SampleFrames {
    /// Indices by ids; also of frames that only samples or other frames name.
    ids: FxHashMap<Box<str>, u32>,
    /// Indices by the parent and the name, of frames in lists.
    listed: FxHashMap<(u32, Box<str>), u32>,
    /// Numbers of URLs.
    scripts: FxHashMap<Box<str>, u32>,
    frames: Vec<StackFrame>,
    /// Count of frames that cannot be read.
    pub broken: u64,
}

/// A frame.
#[derive(Debug, Clone)]
pub(super) struct StackFrame {
    /// None for a frame that is not in the dictionary.
    pub call_frame: Option<CallFrame>,
    /// Position that ran; unknown if the file only tells the place of the function.
    pub position: SourcePosition,
    /// Index of the caller, or [`NONE`].
    pub parent: u32,
}

/// A frame of the dictionary.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameJson<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    category: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parent: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "or_none")]
    line: Option<i64>,
    #[serde(default, deserialize_with = "or_none")]
    column: Option<i64>,
    #[serde(default, deserialize_with = "or_none")]
    func_line: Option<i64>,
    #[serde(default, deserialize_with = "or_none")]
    func_column: Option<i64>,
    #[serde(default, deserialize_with = "or_none")]
    func_virt_addr: Option<i64>,
}

impl SampleFrames {
    /// Adds the frames of a dictionary.
    pub(super) fn add(&mut self, dictionary: &[u8]) {
        let walked = walk_object(dictionary, |key, value| {
            let key = str::from_utf8(&dictionary[key]).unwrap_or_default();
            match serde_json::from_slice(&dictionary[value]) {
                Ok(frame) => self.frame(key, &frame),
                Err(_) => self.broken += 1,
            }
        });
        self.broken += u64::from(walked.is_err());
    }

    fn frame(&mut self, id: &str, frame: &FrameJson<'_>) {
        let category = frame.category.as_deref().unwrap_or_default().to_owned();
        let places = FramePlaces {
            category,
            function: frame.func_line.zip(frame.func_column),
            position: frame.line.zip(frame.column),
            address: frame.func_virt_addr,
        };
        let parent = frame.parent.and_then(id_of).map_or(NONE, |parent| self.by_id(parent));
        let index = self.by_id(id);
        let made = self.made(&frame.name, &places, parent);
        self.frames[index as usize] = made;
    }

    fn made(&mut self, name: &str, places: &FramePlaces, parent: u32) -> StackFrame {
        let scripts = &mut self.scripts;
        let script = |url: &str| {
            let next = scripts.len() as u32 + 1;
            *scripts.entry(url.into()).or_insert(next)
        };
        let (call_frame, position) = call_frame(&short_name(name), places, script);
        StackFrame { call_frame: Some(call_frame), position, parent }
    }

    /// Returns the index of the frame of an id.
    pub(super) fn by_id(&mut self, id: &str) -> u32 {
        if let Some(known) = self.ids.get(id) {
            return *known;
        }
        let index = self.push(StackFrame {
            call_frame: None,
            position: SourcePosition::default(),
            parent: NONE,
        });
        self.ids.insert(id.into(), index);
        index
    }

    /// Returns the index of the innermost frame of a list of names, the outermost first.
    pub(super) fn of_list(&mut self, names: &[Cow<'_, str>]) -> u32 {
        let from = names.len().saturating_sub(MAX_DEPTH);
        let mut parent = NONE;
        for name in &names[from..] {
            let key = (parent, Box::from(&**name));
            parent = match self.listed.get(&key) {
                Some(known) => *known,
                None => {
                    let frame = self.made(name, &FramePlaces::default(), parent);
                    let index = self.push(frame);
                    self.listed.insert(key, index);
                    index
                }
            };
        }
        parent
    }

    fn push(&mut self, frame: StackFrame) -> u32 {
        self.frames.push(frame);
        self.frames.len() as u32 - 1
    }

    /// Returns a frame by its index.
    pub(super) fn get(&self, index: u32) -> Option<&StackFrame> {
        self.frames.get(index as usize)
    }

    /// Ends all stacks at frames that are among their own callers, and those that are too deep. Returns the count
    /// of the frames where a stack was in a circle, and of the callers that are not in the dictionary.
    pub(super) fn end_stacks(&mut self) -> (u64, u64) {
        let (mut circles, mut unknown) = (0, 0);
        // Depth of each frame; 0 if it is not known yet.
        let mut depths = vec![0_usize; self.frames.len()];
        let mut is_open = vec![false; self.frames.len()];
        let mut open = Vec::new();
        for index in 0..self.frames.len() {
            let mut at = index;
            loop {
                if depths[at] > 0 {
                    break;
                }
                is_open[at] = true;
                open.push(at);
                match self.frames.get(self.frames[at].parent as usize) {
                    None => break,
                    Some(parent) => unknown += u64::from(parent.call_frame.is_none()),
                }
                let parent = self.frames[at].parent as usize;
                if is_open[parent] {
                    circles += 1;
                    self.frames[at].parent = NONE;
                    break;
                }
                at = parent;
            }
            while let Some(at) = open.pop() {
                is_open[at] = false;
                let above = depths.get(self.frames[at].parent as usize).copied().unwrap_or(0);
                depths[at] = above + 1;
                if depths[at] > MAX_DEPTH {
                    (self.frames[at].parent, depths[at]) = (NONE, 1);
                }
            }
        }
        (circles, unknown)
    }
}

/// Returns the text of an id, which is written as a number or as a text.
pub(super) fn id_of(id: &RawValue) -> Option<&str> {
    let text = id.get();
    (text != "null").then(|| text.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(frames: &SampleFrames, mut at: u32) -> Vec<&str> {
        let mut names = Vec::new();
        while let Some(frame) = frames.get(at) {
            names.push(frame.call_frame.as_ref().map_or("?", |frame| &frame.function_name));
            at = frame.parent;
        }
        names
    }

    #[test]
    fn ids_and_numbers_are_texts_or_numbers() {
        let mut frames = SampleFrames::default();
        let leaf = frames.by_id("3");
        frames.add(
            br#"{"1":{"name":"[root]"},"3":{"name":"leaf(/a.js:9:9)","parent":2,"funcLine":"2","funcColumn":1,
                "line":"9","column":"9"},"2":{"name":"mid","parent":"1"},"4":7,"x":{"name":"out","parent":null}}"#,
        );
        assert_eq!(frames.end_stacks(), (0, 0));
        assert_eq!(names(&frames, leaf), ["leaf", "mid", "(root)"]);
        assert_eq!(frames.get(leaf).unwrap().position.line, 9);
        assert_eq!(frames.broken, 1);
        let list = ["main", "leaf"].map(Cow::from);
        let listed = frames.of_list(&list);
        assert_eq!(frames.of_list(&list), listed);
        assert_eq!(names(&frames, listed), ["leaf", "main"]);
        assert_eq!(frames.of_list(&[]), NONE);
    }

    #[test]
    fn circles_and_endless_stacks_end() {
        let mut frames = SampleFrames::default();
        frames.add(
            br#"{"1":{"name":"a","parent":2},"2":{"name":"b","parent":3},"3":{"name":"c","parent":1},
                "4":{"name":"d","parent":4},"5":{"name":"e","parent":9}}"#,
        );
        assert_eq!(frames.end_stacks(), (2, 1));
        // The circle ends where the dictionary has reached it.
        let leaf = frames.by_id("2");
        assert_eq!(names(&frames, leaf), ["b", "c", "a"]);
        let mut frames = SampleFrames::default();
        let chain: Vec<String> = (0..3 * MAX_DEPTH)
            .map(|id| format!("\"{id}\":{{\"name\":\"f{id}\",\"parent\":{}}}", id + 1))
            .collect();
        frames.add(format!("{{{}}}", chain.join(",")).as_bytes());
        frames.end_stacks();
        let leaf = frames.by_id("0");
        let depth = names(&frames, leaf).len();
        assert!(depth <= MAX_DEPTH, "{depth}");
    }
}
