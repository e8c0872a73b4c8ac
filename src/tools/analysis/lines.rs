//! Self times of lines.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::frame_index::FrameIndex;
use super::json::ReportLine;
use cpu_prof_session::model::thread_profile::ThreadProfile;

/// A line of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct FunctionLine {
    /// Index into [`FrameIndex::functions`].
    function: usize,
    /// Line, from 1; 0 for the samples of the function whose lines are unknown.
    line: u32,
}

/// Time and samples of a line.
#[derive(Debug, Clone, Copy, Default)]
struct LineCost {
    self_us: u64,
    samples: u64,
}

/// The costs of the lines of a session.
#[derive(Default)]
pub struct LineCosts(FxHashMap<FunctionLine, LineCost>);

impl LineCosts {
    /// Adds the lines of the wanted functions of a profile. A line of a function has the time of the native functions
    /// of modules that it calls, where their recording tells the line.
    pub fn add(
        &mut self,
        profile: &ThreadProfile,
        index: &FrameIndex,
        is_wanted: impl Fn(usize) -> bool,
    ) {
        let callers = profile.downward(|above: Option<usize>, _, node| {
            let function = index.function(node.frame);
            if function.is_some_and(|function| index.is_native(function)) {
                above
            } else {
                function
            }
        });
        for at in &profile.lines {
            let own = index.function(profile.nodes[at.node as usize].frame);
            let is_in_module = own.is_some_and(|own| index.is_in_module(own));
            let caller = callers[at.node as usize];
            let caller = caller.filter(|_| is_in_module && at.position.line > 0);
            let Some(function) = caller.or(own).filter(|function| is_wanted(*function)) else {
                continue;
            };
            let line = index.line_within(function, at.position.line);
            let cost = self.0.entry(FunctionLine { function, line }).or_default();
            cost.self_us = cost.self_us.saturating_add(at.self_us);
            cost.samples = cost.samples.saturating_add(at.samples);
        }
    }

    /// Returns the lines, each with its function, its number and its self time in microseconds.
    pub fn list(&self) -> impl Iterator<Item = (usize, u32, u64)> {
        self.0.iter().map(|(at, cost)| (at.function, at.line, cost.self_us))
    }

    /// Returns the count of lines with samples.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the first `top` lines by self time.
    pub fn top<'a>(&self, index: &'a FrameIndex, top: usize) -> Vec<ReportLine<'a>> {
        let mut lines: Vec<_> = self.0.iter().collect();
        lines.sort_unstable_by_key(|(at, cost)| (Reverse(cost.self_us), **at));
        lines.truncate(top);
        let row = |(at, cost): (&FunctionLine, &LineCost)| {
            let function = &index.functions[at.function];
            let file = &index.files[function.file];
            ReportLine {
                name: &function.name,
                file: &file.path,
                line: at.line,
                transpiled: function.is_transpiled,
                text: function.text,
                package: index.packages[file.package].as_str(),
                self_us: cost.self_us,
                samples: cost.samples,
            }
        };
        lines.into_iter().map(row).collect()
    }
}
