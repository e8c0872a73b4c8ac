//! Gives the samples of inlined functions to these.
//!
//! Before Node 26, V8 charges a sample of an inlined function to its caller, with the line of the inlined
//! function. A line before the caller's first line is not in the caller. V8 inlines calls that have run
//! for a while, so the recording mostly has samples of the same calls from before.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use cpu_prof_core::base::numbering::{FxIndexSet, number_of};
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::{Window, WindowNode};

/// Levels of calls that are looked at: V8 inlines several.
const MAX_LEVELS: usize = 3;

/// Functions of which each calls the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CallPath {
    levels: usize,
    /// Numbers of the functions; what is after `levels` does not count.
    functions: [u32; MAX_LEVELS],
}

/// The calls that a recording has seen so far.
#[derive(Debug, Default)]
pub(super) struct KnownCalls {
    limit: usize,
    functions: FxIndexSet<CallFrame>,
    /// Scripts and first lines of the functions.
    starts: BTreeSet<(u32, u32)>,
    /// For each function, the functions of earlier lines that were called below, with the shortest path
    /// from its callee to them.
    paths: FxHashMap<u32, FxHashMap<u32, CallPath>>,
    /// Count of all paths.
    count: usize,
}

impl KnownCalls {
    /// Returns no calls. All are forgotten when a window comes and more than `limit` functions and paths
    /// are known.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Moves the samples that are not in their functions to functions that these have called.
    pub(super) fn charge_inlined(&mut self, window: &mut Window) {
        let numbers = self.learn(window);
        let mut moves: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for sample in &window.samples {
            let (node, line) = (sample.node, sample.position.line);
            let frame = window.nodes[node as usize].frame;
            if (1..first_line(&window.frames[frame as usize])).contains(&line) {
                moves.insert((node, line), node);
            }
        }
        if moves.is_empty() {
            return;
        }
        let mut tree = GrowingTree::of(window, &numbers);
        for ((caller, line), node) in &mut moves {
            let caller = numbers[tree.window.nodes[*caller as usize].frame as usize];
            let Some(path) = self.nearest(caller, *line) else { continue };
            for function in &path.functions[..path.levels] {
                *node = tree.callee(*node, *function, &self.functions[*function as usize]);
            }
        }
        for sample in &mut window.samples {
            if let Some(node) = moves.get(&(sample.node, sample.position.line)) {
                sample.node = *node;
            }
        }
    }

    /// Adds the calls of a window. Returns the numbers of its frames.
    fn learn(&mut self, window: &Window) -> Vec<u32> {
        if self.functions.len() + self.count > self.limit {
            *self = Self::new(self.limit);
        }
        self.starts.extend(window.frames.iter().map(|frame| (frame.script_id, first_line(frame))));
        let functions = &mut self.functions;
        let number = |frame| number_of(functions, frame, CallFrame::clone);
        let numbers: Vec<u32> = window.frames.iter().map(number).collect();
        for node in &window.nodes {
            let line = first_line(&window.frames[node.frame as usize]);
            if line == 0 {
                continue;
            }
            let (mut functions, mut callee) = ([0; MAX_LEVELS], node);
            for levels in 1..=MAX_LEVELS {
                functions.rotate_right(1);
                functions[0] = numbers[callee.frame as usize];
                let caller = &window.nodes[callee.parent as usize];
                if line < first_line(&window.frames[caller.frame as usize]) {
                    let path = CallPath { levels, functions };
                    self.add(numbers[caller.frame as usize], numbers[node.frame as usize], path);
                }
                callee = caller;
            }
        }
        numbers
    }

    fn add(&mut self, caller: u32, inlined: u32, path: CallPath) {
        match self.paths.entry(caller).or_default().entry(inlined) {
            Entry::Occupied(mut known) => *known.get_mut() = path.min(*known.get()),
            Entry::Vacant(new) => {
                new.insert(path);
                self.count += 1;
            }
        }
    }

    /// Returns the shortest path to a function that can have a line: the last known function of its script
    /// that begins before. Of functions in several scripts, the one that begins last counts.
    fn nearest(&self, caller: u32, line: u32) -> Option<CallPath> {
        let candidates = self.paths.get(&caller)?.iter().filter_map(|(inlined, path)| {
            let inlined = &self.functions[*inlined as usize];
            let start = (inlined.script_id, first_line(inlined));
            let can_have = self.starts.range(..=(start.0, line)).next_back() == Some(&start);
            can_have.then_some((path.levels, Reverse((start.1, inlined.column)), *path))
        });
        candidates.min().map(|(.., path)| path)
    }
}

/// The call tree of a window, to which callees are added.
struct GrowingTree<'a> {
    window: &'a mut Window,
    /// Index of each function's frame in the window.
    frames: FxHashMap<u32, u32>,
    /// Index of each node by its parent and its frame.
    nodes: FxHashMap<WindowNode, u32>,
}

impl<'a> GrowingTree<'a> {
    /// Returns the tree of a window with the numbers of its frames.
    fn of(window: &'a mut Window, numbers: &[u32]) -> Self {
        let frames = numbers.iter().copied().zip(0..).collect();
        let nodes = window.nodes.iter().copied().zip(0..).collect();
        Self { window, frames, nodes }
    }

    /// Returns the node of a function below a node, which is added if missing.
    fn callee(&mut self, parent: u32, function: u32, frame: &CallFrame) -> u32 {
        let Window { frames, nodes, .. } = &mut *self.window;
        let frame = *self.frames.entry(function).or_insert_with(|| {
            frames.push(frame.clone());
            frames.len() as u32 - 1
        });
        let node = WindowNode { parent, frame };
        *self.nodes.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        })
    }
}

/// Returns the first line of a function, from 1; 0 for a function without a script.
fn first_line(frame: &CallFrame) -> u32 {
    u32::try_from(frame.line.saturating_add(1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::window::Sample;
    use cpu_prof_core::testing::windows::{any, made};
    use proptest::prelude::*;

    /// Name, script and first line.
    type Function = (&'static str, u32, u32);

    /// Returns a window from stacks, outermost function first, with the lines of their samples.
    fn window(stacks: &[(Vec<Function>, u32)]) -> Window {
        let mut window = made::window(&[(0, CallFrame::root())], &[]);
        let mut tree = GrowingTree::of(&mut window, &[0]);
        let mut functions = FxIndexSet::from_iter([CallFrame::root()]);
        let mut samples = Vec::new();
        for (stack, line) in stacks {
            let node = stack.iter().fold(0, |node, (name, script, first)| {
                let line = *first as i32 - 1;
                let frame = CallFrame { line, ..made::frame(name, "/a.js", *script) };
                let number = number_of(&mut functions, &frame, CallFrame::clone);
                tree.callee(node, number, &frame)
            });
            let position = SourcePosition::line(*line);
            samples.push(Sample { node, position, ..Sample::default() });
        }
        window.samples = samples;
        window
    }

    /// Returns the stack of each sample of a window, without the root.
    fn stacks(window: &Window) -> Vec<String> {
        let stack = |sample: &Sample| {
            let (mut names, mut node) = (Vec::new(), sample.node);
            while node > 0 {
                let WindowNode { parent, frame } = window.nodes[node as usize];
                names.insert(0, window.frames[frame as usize].function_name.as_str());
                node = parent;
            }
            names.join(" ")
        };
        window.samples.iter().map(stack).collect()
    }

    const CALLER: Function = ("caller", 1, 30);
    const LOW: Function = ("low", 1, 10);

    /// Returns the stack below the caller of a sample on a line, after a window with these stacks.
    fn charged(seen: &[&[Function]], line: u32) -> String {
        let mut calls = KnownCalls::new(1000);
        let seen: Vec<_> = seen.iter().map(|stack| (stack.to_vec(), 0)).collect();
        calls.charge_inlined(&mut window(&seen));
        let other = (vec![CALLER], CALLER.2);
        let mut next = window(&[(vec![("main", 2, 1), CALLER], line), other]);
        calls.charge_inlined(&mut next);
        let stacks = stacks(&next);
        assert_eq!(stacks[1], "caller");
        stacks[0].strip_prefix("main caller").unwrap().trim().to_owned()
    }

    #[test]
    fn a_line_before_the_caller_is_that_of_a_callee() {
        let seen: &[&[Function]] = &[&[CALLER, LOW]];
        assert_eq!(charged(seen, 10), "low");
        assert_eq!(charged(seen, 29), "low");
    }

    #[test]
    fn a_line_that_can_be_the_callers_or_nobodys_stays() {
        let seen: &[&[Function]] = &[&[CALLER, LOW], &[CALLER, ("high", 1, 40)]];
        for line in [0, 9, 30, 41] {
            assert_eq!(charged(seen, line), "", "{line}");
        }
        assert_eq!(charged(&[&[LOW]], 12), "", "never called");
    }

    #[test]
    fn the_function_that_begins_last_has_the_line() {
        let seen: &[&[Function]] = &[&[CALLER, LOW], &[CALLER, ("next", 1, 20)]];
        assert_eq!(charged(seen, 19), "low");
        assert_eq!(charged(seen, 20), "next");
    }

    #[test]
    fn a_function_that_ended_before_another_began_has_no_line_there() {
        let seen: &[&[Function]] = &[&[CALLER, LOW], &[("other", 1, 20)], &[("other", 2, 15)]];
        assert_eq!(charged(seen, 19), "low");
        assert_eq!(charged(seen, 21), "");
    }

    #[test]
    fn calls_over_several_levels_are_inlined() {
        let (middle, native) = (("middle", 1, 50), ("forEach", 0, 0));
        assert_eq!(charged(&[&[CALLER, middle, LOW]], 12), "middle low");
        assert_eq!(charged(&[&[CALLER, native, LOW]], 12), "forEach low");
        assert_eq!(charged(&[&[CALLER, middle, native, LOW], &[CALLER, LOW]], 12), "low");
        assert_eq!(charged(&[&[CALLER, middle, middle, middle, LOW]], 12), "");
    }

    #[test]
    fn known_nodes_are_used_and_calls_are_forgotten_past_the_limit() {
        let mut calls = KnownCalls::new(0);
        let seen = window(&[(vec![CALLER, LOW], 11), (vec![CALLER], 12)]);
        let mut both = seen.clone();
        calls.charge_inlined(&mut both);
        assert_eq!(stacks(&both), ["caller low"; 2]);
        assert_eq!((both.nodes, both.frames), (seen.nodes, seen.frames));
        let mut alone = window(&[(vec![CALLER], 12)]);
        calls.charge_inlined(&mut alone);
        assert_eq!(stacks(&alone), ["caller"]);
        assert_eq!((calls.functions.len(), calls.starts.len(), calls.count), (2, 2, 0));
    }

    proptest! {
        #[test]
        fn samples_move_below_functions_that_are_without_their_lines(
            windows in any::windows(0),
            limit in 0_usize..20,
        ) {
            let mut calls = KnownCalls::new(limit);
            for before in windows {
                let mut after = before.clone();
                calls.charge_inlined(&mut after);
                prop_assert_eq!(&after.nodes[..before.nodes.len()], &before.nodes[..]);
                prop_assert_eq!(&after.frames[..before.frames.len()], &before.frames[..]);
                let first = |node: u32| first_line(&after.frames[after.nodes[node as usize].frame as usize]);
                for (sample, from) in after.samples.iter().zip(&before.samples) {
                    prop_assert_eq!((sample.time_us, sample.position), (from.time_us, from.position));
                    if sample.node == from.node {
                        continue;
                    }
                    prop_assert!(sample.position.line < first(from.node));
                    prop_assert!((1..=sample.position.line).contains(&first(sample.node)));
                    let mut above = sample.node;
                    while above != from.node {
                        prop_assert!(above > after.nodes[above as usize].parent);
                        above = after.nodes[above as usize].parent;
                    }
                }
            }
        }
    }
}
