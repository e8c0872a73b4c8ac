//! Adds threads to the tables.

use std::iter::Peekable;
use std::slice::Iter;

use rustc_hash::FxHashMap;

use super::sample_labels::{self, key_of_program};
use super::system_name::system_name;
use super::{
    LabelKinds, NO_STACK, SampleKey, StackFunction, StackLabel, StackLabelValue, StackModule,
    StackPlace, StackTables,
};
use crate::model::frame_table::FrameTable;
use crate::model::thread_profile::{NodeTimes, ProfileLine, ThreadProfile};
use crate::model::{Process, Thread};
use cpu_prof_core::base::path_text::is_windows;
use cpu_prof_core::format::url::numbered_path;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::label_table::NO_LABELS;
use cpu_prof_core::profile::package::package_of;

impl StackTables<'_> {
    fn text(&mut self, key: &str, value: &str) -> StackLabel {
        let key = self.string(key);
        StackLabel { key, value: StackLabelValue::Text(self.string(value)) }
    }

    fn number(&mut self, key: &str, number: i64) -> StackLabel {
        StackLabel { key: self.string(key), value: StackLabelValue::Number(number) }
    }

    /// Returns the index of a frame's function.
    fn function(&mut self, number: u32) -> u32 {
        if let Some(index) = self.by_frame.get(&number) {
            return *index;
        }
        let frame = &self.session.frames.list()[number as usize];
        let name = match frame.function_name.as_str() {
            "" => "(anonymous)",
            name => name,
        };
        let path = numbered_path(frame);
        let spelling = match is_windows(&path) {
            true => self.spellings.get(&path.to_lowercase()).cloned(),
            false => None,
        };
        let file = self.string(spelling.as_deref().unwrap_or(&path));
        let module = frame.module().map(|build| {
            let build = self.string(&build.to_string());
            (StackModule { file, build }, frame.address().unwrap_or(0))
        });
        let function = StackFunction {
            name: self.string(name),
            system_name: self.string(&system_name(frame, name)),
            file,
            line: first_line(frame),
            module,
        };
        let index = self.functions.insert_full(function).0 as u32;
        self.by_frame.insert(number, index);
        index
    }

    /// Returns the stack with one more function, which has reached a line; none for its first line.
    fn stack(&mut self, above: u32, frame: u32, line: Option<i64>) -> u32 {
        let function = self.function(frame);
        let line = line.unwrap_or_else(|| self.functions[function as usize].line);
        let location = self.locations.insert_full((function, line)).0 as u32;
        self.stacks.insert_full(StackPlace { above, location }).0 as u32
    }

    /// Adds a thread.
    pub(super) fn thread(&mut self, process: &Process, thread: &Thread) {
        let place = match self.label_kinds {
            LabelKinds::All => self.place(process, thread),
            LabelKinds::OfProgram => Vec::new(),
        };
        let mut known = FxHashMap::default();
        for profile in &thread.profiles {
            self.profile(profile, &place, &mut known);
        }
    }

    /// Returns the labels of a thread.
    fn place(&mut self, process: &Process, thread: &Thread) -> Vec<StackLabel> {
        let mut place = vec![self.text(sample_labels::PROCESS, &process.name)];
        if process.pid != 0 {
            place.push(self.number(sample_labels::PID, process.pid));
        }
        place.push(self.text(sample_labels::THREAD, &thread.full_name()));
        if thread.id != 0 {
            place.push(self.number(sample_labels::WORKER, thread.id));
        }
        place
    }

    /// Adds a profile of a thread, whose place is in labels. `known` are indices of lists of labels by
    /// frame, label set and state.
    fn profile(
        &mut self,
        profile: &ThreadProfile,
        place: &[StackLabel],
        known: &mut FxHashMap<(u32, u32, &'static str), u32>,
    ) {
        let is_timed = is_timed(profile);
        let stacks = profile.downward(|above: u32, number, node| {
            let is_shown = is_timed[number as usize] && node.frame != FrameTable::ROOT;
            if is_shown { self.stack(above, node.frame, None) } else { above }
        });
        let mut lines = profile.lines.iter().peekable();
        for (number, node) in (0_u32..).zip(&profile.nodes) {
            let parts = take_lines(&mut lines, number);
            if !is_timed[number as usize] || node.frame == FrameTable::ROOT {
                continue;
            }
            let times = profile.times(node);
            let above = stacks.get(node.parent as usize).copied().unwrap_or(NO_STACK);
            let mut labels = |tables: &mut Self, state: &'static str| {
                let set = profile.labels(number);
                let index = known.entry((node.frame, set, state));
                *index.or_insert_with(|| tables.labels_of(place, node.frame, set, state))
            };
            let list = labels(self, "");
            let is_idle = node.frame == FrameTable::IDLE;
            let mut left_us = times.self_us;
            for line in parts {
                let us = line.self_us.min(left_us);
                left_us -= us;
                let reached = self.line_within(node.frame, line.position.line);
                let stack = self.stack(above, node.frame, reached);
                self.add(SampleKey { stack, labels: list }, line.samples, us, is_idle);
            }
            let stack = stacks[number as usize];
            self.add(SampleKey { stack, labels: list }, 0, left_us, is_idle);
            let NodeTimes { blocked_us, waiting_us, .. } = times;
            for (state, us) in
                [(sample_labels::BLOCKED, blocked_us), (sample_labels::WAITING, waiting_us)]
            {
                if us > 0 {
                    let list = labels(self, state);
                    self.add(SampleKey { stack, labels: list }, 0, us, true);
                }
            }
        }
    }

    /// Returns the line that a function has reached; none if it is not known, or not in the function: V8
    /// counts the lines of inlined functions for the caller.
    fn line_within(&self, frame: u32, line: u32) -> Option<i64> {
        let frame = &self.session.frames.list()[frame as usize];
        let has_lines = frame.has_file() && frame.module().is_none();
        let is_within = line > 0 && has_lines && i64::from(line) >= first_line(frame);
        is_within.then_some(i64::from(line))
    }

    fn labels_of(&mut self, place: &[StackLabel], frame: u32, set: u32, state: &str) -> u32 {
        let session = self.session;
        let mut list = place.to_vec();
        let frame = &session.frames.list()[frame as usize];
        let has_all = self.label_kinds == LabelKinds::All;
        if has_all && !frame.is_meta() {
            let path = numbered_path(frame);
            let package = frame.package.as_deref().unwrap_or_else(|| package_of(&path));
            list.push(self.text(sample_labels::PACKAGE, package));
        }
        if has_all && !state.is_empty() {
            list.push(self.text(sample_labels::STATE, state));
        }
        if set != NO_LABELS
            && let Some(set) = session.labels.get(set)
        {
            for (key, value) in set.iter().filter(|(_, value)| !value.is_empty()) {
                list.push(self.text(&key_of_program(key), value));
            }
        }
        self.labels.insert_full(list).0 as u32
    }

    fn add(&mut self, key: SampleKey, samples: u64, us: u64, is_off_cpu: bool) {
        if samples == 0 && us == 0 {
            return;
        }
        let cpu_us = if is_off_cpu { 0 } else { us };
        let values = self.samples.entry(key).or_default();
        values.samples = values.samples.saturating_add(samples);
        values.cpu_us = values.cpu_us.saturating_add(cpu_us);
        values.wall_us = values.wall_us.saturating_add(us);
    }
}

/// Returns for each node whether it has time or samples, or one below has.
fn is_timed(profile: &ThreadProfile) -> Vec<bool> {
    let mut is_timed: Vec<bool> = profile
        .all_times()
        .map(|NodeTimes { self_us, blocked_us, waiting_us, .. }| {
            self_us > 0 || blocked_us > 0 || waiting_us > 0
        })
        .collect();
    profile.lines.iter().for_each(|line| is_timed[line.node as usize] |= line.samples > 0);
    // Parents come before their children.
    for (index, node) in profile.nodes.iter().enumerate().rev() {
        if is_timed[index]
            && let Some(parent) = is_timed.get_mut(node.parent as usize)
        {
            *parent = true;
        }
    }
    is_timed
}

/// Takes the lines of a node, which come in the order of the nodes.
fn take_lines<'a>(lines: &mut Peekable<Iter<'a, ProfileLine>>, node: u32) -> Vec<&'a ProfileLine> {
    let mut taken = Vec::new();
    while let Some(line) = lines.next_if(|line| line.node <= node) {
        taken.push(line);
    }
    taken
}

/// Returns the first line of a frame's function, from 1; 0 for none.
fn first_line(frame: &CallFrame) -> i64 {
    i64::from(frame.line).saturating_add(1).max(0)
}
