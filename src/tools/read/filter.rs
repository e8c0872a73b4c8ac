//! Which processes, threads and stacks a user asks for. All tools use the same filter.

use super::label_filter::LabelFilter;
use cpu_prof_core::base::name_list::first_of;
use cpu_prof_core::base::path_text::as_in_place;
use cpu_prof_core::format::url::frame_path;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::label::pid_mark;
use cpu_prof_core::profile::package::package_of;
use cpu_prof_core::profile::position::SourcePosition;
use cpu_prof_session::model::lists::sample_list::ProfileSample;
use cpu_prof_session::model::thread_profile::{NONE, NodeTimes, ThreadProfile};
use cpu_prof_session::model::{Process, Session, Thread};

/// The texts that a user gives, in lower case. Of one kind, any of several is enough; an empty list
/// excludes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Parts of the commands of processes, or pids.
    processes: Vec<String>,
    /// Parts of the names of threads, or thread ids.
    threads: Vec<String>,
    /// Stacks.
    pub stacks: StackFilter,
    /// Labels.
    pub labels: LabelFilter,
}

/// The stacks that a user asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackFilter {
    /// Names of packages. A stack needs a function of one.
    packages: Vec<String>,
    /// Parts of names and places of functions. A stack needs such a function.
    focus: Vec<String>,
    /// Parts of names and places of functions. A stack must not have such a function.
    ignore: Vec<String>,
}

/// The parts of a filter that a frame, or all frames of a stack, have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StackMatch {
    is_in_package: bool,
    is_focused: bool,
    is_ignored: bool,
}

impl Filter {
    /// Returns a filter. Upper and lower case are equal in all texts.
    pub fn new(processes: &[String], threads: &[String], stacks: StackFilter) -> Self {
        let (processes, threads) = (lower_case(processes), lower_case(threads));
        Self { processes, threads, stacks, labels: LabelFilter::default() }
    }

    /// Returns the filter with these labels.
    pub(crate) fn with_labels(self, labels: LabelFilter) -> Self {
        Self { labels, ..self }
    }

    /// Returns whether the filter excludes samples by their stacks or their labels.
    pub(crate) fn limits_samples(&self) -> bool {
        self.stacks.is_limited() || self.labels.is_limited()
    }

    /// Returns whether the filter excludes a process or a thread by its name.
    pub(crate) fn limits_threads(&self) -> bool {
        !self.processes.is_empty() || !self.threads.is_empty()
    }

    /// Returns whether a process passes that has this pid, and any of these names.
    pub(crate) fn has_process<'a>(
        &self,
        pid: i64,
        names: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        is_any(&self.processes, pid, names)
    }

    /// Returns whether a thread passes.
    pub(crate) fn has_thread(&self, tid: i64, name: &str) -> bool {
        is_any(&self.threads, tid, [name])
    }

    /// Removes everything that the filter excludes from a session.
    pub fn apply(&self, session: &mut Session) {
        session.processes.retain(|process| {
            self.has_process(process.pid, [process.command.as_str(), process.name.as_str()])
        });
        for process in &mut session.processes {
            process.threads.retain(|thread| self.has_thread(thread.id, &thread.full_name()));
        }
        session.processes.retain(|process| !process.threads.is_empty());
        if !self.limits_samples() {
            return;
        }
        let frames = session.frames.list().iter().map(|frame| self.stacks.of_frame(frame));
        let frames: Vec<StackMatch> = frames.collect();
        let sets = [None].into_iter().chain(session.labels.list().iter().map(Some));
        let labels: Vec<bool> = sets.map(|set| self.labels.keeps(set)).collect();
        let threads = |process: &mut Process| std::mem::take(&mut process.threads);
        for process in &mut session.processes {
            process.threads = threads(process)
                .into_iter()
                .filter_map(|thread| self.stacks.filtered(thread, &frames, &labels))
                .collect();
        }
        session.processes.retain(|process| !process.threads.is_empty());
    }

    /// Returns the reason why nothing is left of these processes.
    pub(crate) fn nothing_left(&self, processes: &[String]) -> String {
        const SHOWN: usize = 10;
        let StackFilter { packages, focus, ignore } = &self.stacks;
        let lists = [
            ("process", &self.processes),
            ("thread", &self.threads),
            ("package", packages),
            ("focus", focus),
            ("ignore", ignore),
            ("label", &self.labels.texts()),
        ];
        let given = lists.iter().filter(|(_, texts)| !texts.is_empty());
        let given: Vec<_> =
            given.map(|(name, texts)| format!("{name} {}", texts.join(", "))).collect();
        format!(
            "nothing in the recordings matches {}; the processes are: {}",
            given.join(" with "),
            first_of(processes, SHOWN)
        )
    }
}

impl StackFilter {
    /// Returns a filter. Upper and lower case are equal in all texts.
    pub fn new(packages: &[String], focus: &[String], ignore: &[String]) -> Self {
        Self {
            packages: lower_case(packages),
            focus: lower_case(focus),
            ignore: lower_case(ignore),
        }
    }

    /// Returns whether the filter excludes a stack.
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// Returns what a frame has of the filter.
    pub(crate) fn of_frame(&self, frame: &CallFrame) -> StackMatch {
        if !self.is_limited() {
            return StackMatch::default();
        }
        let path = frame_path(frame);
        let name = frame.function_name.to_lowercase();
        let place = format!("{}:{}", path, frame.line.saturating_add(1)).to_lowercase();
        let matches = |texts: &[String]| {
            texts.iter().any(|text| {
                name.contains(text.as_str()) || place.contains(&*as_in_place(text, &place))
            })
        };
        let package = frame.package.as_deref().unwrap_or_else(|| package_of(&path)).to_lowercase();
        StackMatch {
            is_in_package: self.packages.contains(&package),
            is_focused: matches(&self.focus),
            is_ignored: matches(&self.ignore),
        }
    }

    /// Returns whether a stack passes.
    pub fn keeps(&self, stack: StackMatch) -> bool {
        (self.packages.is_empty() || stack.is_in_package)
            && (self.focus.is_empty() || stack.is_focused)
            && !stack.is_ignored
    }

    /// Returns the thread with the samples that pass; none if no sample passes. `frames` has a match
    /// for each frame, and `labels` tells for each label set whether its samples pass.
    fn filtered(
        &self,
        mut thread: Thread,
        frames: &[StackMatch],
        labels: &[bool],
    ) -> Option<Thread> {
        let profiles = thread.profiles.iter_mut();
        let us = profiles.map(|profile| self.limit(profile, frames, labels)).sum::<u64>();
        (us > 0).then_some(thread)
    }

    /// Removes the times of samples that do not pass. Returns the time that is left: microseconds.
    fn limit(&self, profile: &mut ThreadProfile, frames: &[StackMatch], labels: &[bool]) -> u64 {
        let stacks =
            profile.downward(|above: StackMatch, _, node| above.with(frames[node.frame as usize]));
        let is_kept = |(node, stack): (u32, &StackMatch)| {
            self.keeps(*stack) && labels[profile.labels(node) as usize]
        };
        let kept: Vec<bool> = (0..).zip(&stacks).map(is_kept).collect();
        let mut left_us: u64 = 0;
        let ThreadProfile { nodes, times, .. } = &mut *profile;
        for (node, is_kept) in nodes.iter_mut().zip(&kept) {
            if !is_kept {
                node.times = NONE;
            }
            let left = times.get(node.times as usize).map_or(0, NodeTimes::all_us);
            left_us = left_us.saturating_add(left);
        }
        let is_kept = |node: u32| node != NONE && kept[node as usize];
        let has_lines = !profile.lines.is_empty();
        if has_lines {
            profile.lines.retain(|line| is_kept(line.node));
            profile.sample_count = profile.lines.iter().map(|line| line.samples).sum();
        }
        if !profile.samples.is_empty() {
            let mut is_pause = false;
            let samples = profile.samples.iter().filter_map(|sample| {
                if is_kept(sample.node) {
                    is_pause = false;
                    return Some(sample);
                }
                let (node, position) = (NONE, SourcePosition::default());
                (!std::mem::replace(&mut is_pause, true)).then_some(ProfileSample {
                    node,
                    position,
                    ..sample
                })
            });
            profile.samples = samples.collect();
            // Samples are kept whatever the slice, lines only of the slice.
            if !has_lines {
                let kept = profile.samples.iter().filter(|sample| sample.node != NONE);
                profile.sample_count = kept.count() as u64;
            }
        }
        profile.steps.renumber(|node| is_kept(node).then_some(node));
        profile.off_core.retain(|span| is_kept(span.node));
        profile.deopts.retain(|(node, _)| is_kept(*node));
        // These count all samples.
        (profile.cpu, profile.collections) = (None, None);
        left_us
    }
}

impl StackMatch {
    /// Returns the match of a stack with one more frame.
    pub fn with(self, frame: Self) -> Self {
        Self {
            is_in_package: self.is_in_package || frame.is_in_package,
            is_focused: self.is_focused || frame.is_focused,
            is_ignored: self.is_ignored || frame.is_ignored,
        }
    }
}

fn lower_case(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| text.to_lowercase()).collect()
}

/// Returns the label by which a user finds a process: `tsc -p . (pid 4242)`.
pub fn command_label(command: &str, pid: i64) -> String {
    format!("{command} {}", pid_mark(pid))
}

/// Returns whether a text is the id or a part of a name, or there are no texts.
fn is_any<'a>(texts: &[String], id: i64, names: impl IntoIterator<Item = &'a str>) -> bool {
    if texts.is_empty() {
        return true;
    }
    let names: Vec<String> = names.into_iter().map(str::to_lowercase).collect();
    let id = id.to_string();
    texts.iter().any(|text| *text == id || names.iter().any(|name| name.contains(text.as_str())))
}

#[cfg(test)]
mod tests;
