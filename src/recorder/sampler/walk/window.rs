//! A window of a walk: samples with their functions. It has all it needs, so any thread may read it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::collector::{CalledPlace, Collected, UNKNOWN};
use super::ring::SampleKind;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::window::{ComparedStacks, Sample, Window, WindowNode};

/// A window.
#[derive(Debug, Default)]
pub(crate) struct WalkWindow {
    pub(super) samples: Vec<Collected>,
    /// Indices into `places`, of the frames of all samples.
    pub(super) frames: Vec<u32>,
    /// The places of each of these frames, the innermost first.
    pub(super) places: FxHashMap<u32, Arc<[CalledPlace]>>,
    /// The functions that places have, by their indices.
    pub(super) functions: FxHashMap<u32, Arc<CallFrame>>,
    /// Positions of the places that samples need.
    pub(super) positions: FxHashMap<CalledPlace, SourcePosition>,
    pub(super) start_us: i64,
    pub(super) end_us: i64,
    pub(super) compared: ComparedStacks,
    /// Count of samples for which there was no room.
    pub(super) lost: usize,
}

/// The nodes of a call tree that grows.
struct Tree {
    window: Window,
    frames: FxHashMap<u32, u32>,
    nodes: FxHashMap<WindowNode, u32>,
}

impl WalkWindow {
    /// Returns the window as all sources return it.
    pub(crate) fn read(self) -> Window {
        let mut window = Window {
            start_us: self.start_us,
            end_us: self.end_us,
            compared: Some(self.compared),
            lost_samples: self.lost as u64,
            ..Window::default()
        };
        window.frames.push(CallFrame::root());
        window.nodes.push(WindowNode { parent: 0, frame: 0 });
        let mut tree = Tree { window, frames: FxHashMap::default(), nodes: FxHashMap::default() };
        // The frames of a stack, the outermost first, each with its node.
        let mut stack: Vec<(u32, u32)> = Vec::new();
        for sample in &self.samples {
            if sample.kept + sample.to - sample.from > 0 {
                stack.truncate(sample.kept);
                for frame in self.frames.get(sample.from..sample.to).unwrap_or_default() {
                    let parent = stack.last().map_or(0, |(_, node)| *node);
                    stack.push((*frame, tree.add(&self, parent, *frame)));
                }
            }
            let has_stack = sample.kept + sample.to - sample.from > 0;
            // V8 adds a microsecond to its clock, and all sources are alike.
            let time_us = sample.time_us + 1;
            let state = match sample.kind {
                SampleKind::Collection => Some(CallFrame::GC),
                SampleKind::Idle => Some(CallFrame::IDLE),
                _ if !has_stack => Some(CallFrame::PROGRAM),
                _ => None,
            };
            let sample = match (state, stack.last()) {
                (Some(state), _) => {
                    let node = tree.window.state_or_new(state);
                    Sample { time_us, node, ..Sample::default() }
                }
                (None, Some((frame, node))) => {
                    let (position, call) = self.positions_of(*frame, &stack);
                    Sample { time_us, node: *node, position, call, ..Sample::default() }
                }
                (None, None) => continue,
            };
            tree.window.samples.push(sample);
        }
        tree.window
    }

    /// Returns the position of the innermost place, or, where its function is of no script, of the one that called it.
    fn positions_of(&self, frame: u32, stack: &[(u32, u32)]) -> (SourcePosition, SourcePosition) {
        let none = SourcePosition::default();
        let [innermost, caller] = innermost_places(frame, stack, &self.places);
        let position = |place: Option<CalledPlace>| {
            place.and_then(|place| self.positions.get(&place)).copied().unwrap_or(none)
        };
        let is_native = innermost.is_none_or(|place| self.frame(place).is_native());
        if is_native { (none, position(caller)) } else { (position(innermost), none) }
    }

    fn frame(&self, place: CalledPlace) -> CallFrame {
        let frame = self.functions.get(&place.function);
        frame.map_or_else(CallFrame::unknown, |frame| frame.as_ref().clone())
    }
}

/// Returns the innermost place of a stack, and the next.
pub(super) fn innermost_places(
    frame: u32,
    stack: &[(u32, u32)],
    places: &FxHashMap<u32, Arc<[CalledPlace]>>,
) -> [Option<CalledPlace>; 2] {
    let of = |frame: u32| places.get(&frame).map(|places| &**places).unwrap_or_default();
    let caller = stack.len().checked_sub(2).and_then(|index| stack.get(index));
    let mut all = of(frame).iter().chain(caller.map(|(frame, _)| of(*frame)).unwrap_or_default());
    [all.next().copied(), all.next().copied()]
}

impl Tree {
    /// Returns the node of a frame below another, which is added if it is missing.
    fn add(&mut self, from: &WalkWindow, parent: u32, frame: u32) -> u32 {
        let places = from.places.get(&frame).map(|places| &**places).unwrap_or_default();
        places.iter().rev().fold(parent, |parent, place| {
            if place.function == UNKNOWN {
                return parent;
            }
            let Window { frames, nodes, .. } = &mut self.window;
            let frame = *self.frames.entry(place.function).or_insert_with(|| {
                frames.push(from.frame(*place));
                frames.len() as u32 - 1
            });
            let node = WindowNode { parent, frame };
            *self.nodes.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() as u32 - 1
            })
        })
    }
}
