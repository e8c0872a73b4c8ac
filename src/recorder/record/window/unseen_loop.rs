//! Puts the samples of a loop that V8's profiler does not know into the loop's function.
//!
//! A recording can start in a function whose running code V8's profiler does not know
//! (`sampler/v8/reach/running_stack`). The samples of that function have its caller on top, at the line of
//! the call. The stack at the start names the function.

use crate::sampler::v8::RunningFunction;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_core::profile::window::{Window, WindowNode};

/// The functions that a thread was in when its recording started, as long as they can be running.
#[derive(Default)]
pub(crate) struct UnseenLoop {
    /// The functions, the outermost first. Empty when they have returned.
    stack: Vec<RunningFunction>,
}

impl UnseenLoop {
    /// Begins with the functions that were running at the start.
    pub(super) fn begin(&mut self, stack: Vec<RunningFunction>) {
        self.stack = stack;
    }

    /// Moves the samples that belong to functions which the profiler does not know.
    pub(super) fn reveal(&mut self, window: &mut Window) {
        if self.stack.is_empty() {
            return;
        }
        let mut known: Vec<(u32, usize, u32)> = Vec::new();
        for index in 0..window.samples.len() {
            let sample = window.samples[index];
            let Some(place) = self.place(window, sample.node) else {
                self.stack.clear();
                return;
            };
            let OnStack::Caller(callee) = place else { continue };
            if sample.position.line != self.stack[callee - 1].line {
                continue;
            }
            let found = known.iter().find(|(node, at, _)| (*node, *at) == (sample.node, callee));
            let node = match found {
                Some((_, _, node)) => *node,
                None => {
                    let node = add_callee(window, sample.node, &self.stack[callee]);
                    known.push((sample.node, callee, node));
                    node
                }
            };
            window.samples[index].node = node;
            window.samples[index].position = SourcePosition::default();
        }
    }

    /// Returns where a node is on the stack; none if the stack is left.
    fn place(&self, window: &Window, node: u32) -> Option<OnStack> {
        let mut path = Vec::new();
        let mut at = node;
        while at != 0 {
            path.push(&window.frames[window.nodes[at as usize].frame as usize]);
            at = window.nodes[at as usize].parent;
        }
        path.reverse();
        match path.first() {
            Some(frame) if frame.is_meta() => {
                // The thread has come back to its event loop.
                return (frame.function_name != CallFrame::IDLE).then_some(OnStack::Elsewhere);
            }
            None => return Some(OnStack::Elsewhere),
            _ => {}
        }
        // Functions that the profiler does not know are missing between those that it knows.
        let mut next = 0;
        for (depth, frame) in path.iter().enumerate() {
            let is_of = |function: &RunningFunction| {
                function.script_id == frame.script_id
                    && (function.name.is_empty() || function.name == frame.function_name)
            };
            match self.stack[next..].iter().position(is_of) {
                Some(skipped) => next += skipped + 1,
                None if depth == 0 => return None,
                None => return Some(OnStack::Elsewhere),
            }
        }
        Some(if next < self.stack.len() { OnStack::Caller(next) } else { OnStack::Elsewhere })
    }
}

/// Where a node is on the stack at the start.
enum OnStack {
    /// On a function that had called another: the index of that in the stack.
    Caller(usize),
    /// On another function, or in no function.
    Elsewhere,
}

/// Adds the node of a function that a node has called.
fn add_callee(window: &mut Window, parent: u32, callee: &RunningFunction) -> u32 {
    // A stack trace does not tell where the function begins.
    let frame = CallFrame { column: 0, ..callee.frame() };
    let known = window.frames.iter().position(|known| *known == frame);
    let frame = known.unwrap_or_else(|| {
        window.frames.push(frame);
        window.frames.len() - 1
    });
    window.nodes.push(WindowNode { parent, frame: frame as u32 });
    window.nodes.len() as u32 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{frame, window};

    fn running(name: &str, script_id: u32, line: u32) -> RunningFunction {
        RunningFunction { name: name.into(), url: "/a.js".into(), script_id, line, column: 1 }
    }

    /// The stack: an unnamed function called `handle` in line 7, whose loop called `inner` in line 20.
    fn stack() -> Vec<RunningFunction> {
        vec![
            running("tick", 1, 3),
            running("", 2, 7),
            running("handle", 2, 20),
            running("inner", 2, 30),
        ]
    }

    /// Returns the tops of the samples, of nodes of `tick`, at these lines.
    fn tops(stack: Vec<RunningFunction>, samples: &[(u32, u32)]) -> Vec<String> {
        let nodes = [
            (0, frame("(root)", "", 0)),
            (0, frame("tick", "/t.js", 1)),
            (1, frame("named by V8", "/a.js", 2)),
            (2, frame("helper", "/a.js", 2)),
            (0, frame("(garbage collector)", "", 0)),
            (0, frame("(idle)", "", 0)),
            (0, frame("other", "/b.js", 3)),
        ];
        let times: Vec<_> = (0..).zip(samples).map(|(time, (node, _))| (time, *node)).collect();
        let mut window = window(&nodes, &times);
        for (sample, (_, line)) in window.samples.iter_mut().zip(samples) {
            sample.position.line = *line;
        }
        let mut unseen = UnseenLoop::default();
        unseen.begin(stack);
        unseen.reveal(&mut window);
        let name = |node: u32| &window.frames[window.nodes[node as usize].frame as usize];
        window.samples.iter().map(|sample| name(sample.node).function_name.clone()).collect()
    }

    #[test]
    fn samples_at_the_call_are_those_of_the_called_function() {
        assert_eq!(
            tops(stack(), &[(2, 7), (4, 0), (2, 7), (2, 8), (3, 40), (2, 7)]),
            ["handle", "(garbage collector)", "handle", "named by V8", "helper", "handle"]
        );
    }

    #[test]
    fn nothing_is_moved_after_the_stack_was_left() {
        for left in [5, 6] {
            let tops = tops(stack(), &[(2, 7), (left, 0), (2, 7)]);
            assert_eq!((tops[0].as_str(), tops[2].as_str()), ("handle", "named by V8"));
        }
    }

    #[test]
    fn without_a_stack_nothing_is_moved() {
        assert_eq!(tops(Vec::new(), &[(2, 7)]), ["named by V8"]);
        assert_eq!(
            tops(vec![running("tick", 1, 3), running("", 2, 7)], &[(2, 7)]),
            ["named by V8"]
        );
    }
}
