//! Extends the stacks of a window by the native functions that ran above JavaScript.

use rustc_hash::FxHashMap;

use crate::record::window::timed_records::TimedRecords;
use crate::sampler::native::{NativeStack, StackEnd, ThreadStacks};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::{Sample, Window, WindowNode};

/// The pairing of one thread's samples with native stacks.
#[derive(Debug, Default)]
pub(crate) struct NativePairing {
    waiting: TimedRecords<NativeStack>,
}

/// The native nodes of a window.
#[derive(Default)]
pub(super) struct NativeNodes {
    /// Indices of nodes, by their parents and functions.
    nodes: FxHashMap<(u32, NativeStep), u32>,
    /// Indices of frames of the window, by the functions.
    frames: FxHashMap<NativeStep, u32>,
}

/// A frame of a native stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NativeStep {
    /// A function by its number.
    Function(u32),
    /// The part that is not known.
    Truncated,
}

impl NativePairing {
    /// Gives the samples of a window in native code the functions of their native stacks.
    pub(crate) fn extend(&mut self, window: &mut Window, stacks: &ThreadStacks) {
        for stack in stacks.take() {
            self.waiting.add(stack.from_us, stack.to_us, stack);
        }
        self.extend_with(window, |number| stacks.frame(number));
        // No later window has samples from before this one.
        self.waiting.forget_before(window.start_us);
    }

    fn extend_with(&mut self, window: &mut Window, frame_of: impl Fn(u32) -> CallFrame) {
        let mut found = NativeNodes::default();
        let ends = EndStates::of(window);
        for index in 0..window.samples.len() {
            let Sample { time_us, node, .. } = window.samples[index];
            let Some(stack) = self.waiting.take_at(time_us) else { continue };
            let Some(parent) = ends.parent(node, stack.end) else { continue };
            let is_whole = stack.end != StackEnd::Cut;
            let top = found.stack(window, parent, &stack.functions, is_whole, &frame_of);
            let sample = &mut window.samples[index];
            // That of the nearest function of a script.
            if sample.position.line == 0 {
                sample.position = sample.call;
            }
            sample.node = top;
        }
    }
}

impl NativeNodes {
    /// Returns the index of the node of a native stack above another node. Its functions are numbers, the innermost
    /// first; `is_whole` tells that no function is missing below them.
    pub(super) fn stack(
        &mut self,
        window: &mut Window,
        parent: u32,
        functions: &[u32],
        is_whole: bool,
        frame_of: impl Fn(u32) -> CallFrame,
    ) -> u32 {
        let cut = (!is_whole).then_some(NativeStep::Truncated);
        let functions = functions.iter().rev().map(|number| NativeStep::Function(*number));
        cut.into_iter()
            .chain(functions)
            .fold(parent, |top, step| self.node(window, top, step, &frame_of))
    }

    /// Returns the index of the node of a native function below another node.
    fn node(
        &mut self,
        window: &mut Window,
        parent: u32,
        step: NativeStep,
        frame_of: impl Fn(u32) -> CallFrame,
    ) -> u32 {
        if let Some(known) = self.nodes.get(&(parent, step)) {
            return *known;
        }
        let frame = *self.frames.entry(step).or_insert_with(|| {
            window.frames.push(match step {
                NativeStep::Function(number) => frame_of(number),
                NativeStep::Truncated => CallFrame::truncated(),
            });
            window.frames.len() as u32 - 1
        });
        window.nodes.push(WindowNode { parent, frame });
        let node = window.nodes.len() as u32 - 1;
        self.nodes.insert((parent, step), node);
        node
    }
}

/// The states of V8 that say more than the native functions, or less.
struct EndStates {
    idle: Option<u32>,
    gc: Option<u32>,
    program: Option<u32>,
}

impl EndStates {
    fn of(window: &Window) -> Self {
        Self {
            idle: window.state(CallFrame::IDLE),
            gc: window.state(CallFrame::GC),
            program: window.state(CallFrame::PROGRAM),
        }
    }

    /// Returns the index of the node below which a sample's native functions belong; none if the sample stays
    /// as it is.
    fn parent(&self, node: u32, end: StackEnd) -> Option<u32> {
        if [self.idle, self.gc].contains(&Some(node)) || end == StackEnd::Profiler {
            return None;
        }
        // V8 knows no JavaScript here: the native functions are the whole stack.
        if node == 0 || self.program == Some(node) {
            return Some(0);
        }
        // V8 knows JavaScript that the native stack has not reached: the two are of different moments.
        (end != StackEnd::Thread).then_some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{self, frame};

    const JS: u32 = 1;
    const IDLE: u32 = 2;
    const PROGRAM: u32 = 3;
    const GC: u32 = 4;
    const ADDON: u32 = 5;

    /// Returns the stacks of samples at these nodes, each with a native stack; the outermost function is first.
    fn extended(samples: &[(u32, &[u32], StackEnd)]) -> Vec<String> {
        let nodes = [
            (0, frame("(root)", "", 0)),
            (0, frame("parse", "/a.js", 7)),
            (0, CallFrame::state(CallFrame::IDLE)),
            (0, CallFrame::state(CallFrame::PROGRAM)),
            (0, CallFrame::state("(garbage collector)")),
            (1, frame("(native addon)", "", 0)),
        ];
        let mut window = made::window(&nodes, &[]);
        let mut pairing = NativePairing::default();
        for (index, (node, functions, end)) in samples.iter().enumerate() {
            let from_us = 100 * (index as i64 + 1);
            let (functions, end) = (functions.to_vec(), *end);
            let stack = NativeStack { from_us, to_us: from_us + 5, functions, end };
            pairing.waiting.add(from_us, from_us + 5, stack);
            let sample = Sample { time_us: from_us + 2, node: *node, ..Sample::default() };
            window.samples.push(sample);
        }
        pairing.extend_with(&mut window, |number| CallFrame::state(&format!("f{number}")));
        let text = |sample: &Sample| {
            let mut names = Vec::new();
            let mut node = sample.node;
            while node != 0 {
                let WindowNode { parent, frame } = window.nodes[node as usize];
                names.push(window.frames[frame as usize].function_name.clone());
                node = parent;
            }
            names.reverse();
            names.join(" ")
        };
        window.samples.iter().map(text).collect()
    }

    #[test]
    fn native_functions_stand_above_javascript() {
        let stacks = extended(&[
            (JS, &[2, 1], StackEnd::JavaScript),
            (JS, &[2, 1], StackEnd::JavaScript),
            (ADDON, &[3], StackEnd::JavaScript),
            (JS, &[4], StackEnd::Cut),
        ]);
        assert_eq!(
            stacks,
            ["parse f1 f2", "parse f1 f2", "parse (native addon) f3", "parse (truncated) f4"]
        );
    }

    #[test]
    fn states_stay_unless_nothing_is_known_below() {
        let stacks = extended(&[
            (IDLE, &[1], StackEnd::Thread),
            (GC, &[1], StackEnd::JavaScript),
            (PROGRAM, &[2, 1], StackEnd::Thread),
            (PROGRAM, &[1], StackEnd::Cut),
        ]);
        assert_eq!(stacks, ["(idle)", "(garbage collector)", "f1 f2", "(truncated) f1"]);
    }

    #[test]
    fn a_native_stack_without_javascript_is_not_that_of_a_function() {
        assert_eq!(extended(&[(JS, &[1], StackEnd::Thread)]), ["parse"]);
        assert_eq!(extended(&[(PROGRAM, &[1], StackEnd::Profiler)]), ["(program)"]);
    }
}
