//! Times in which a thread did one thing, by what was on its stack.

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::frame_table::FrameTable;
use cpu_prof_core::profile::session::Thread;

/// What a thread did while a function was on its stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// One of the things that were asked for.
    This(usize),
    /// Anything else.
    Other,
    /// Nothing that says what for: the thread was idle, or collected garbage.
    Unknown,
}

/// What a thread does in the frames of a session, by the numbers of the frames.
pub(super) struct DoingOfFrames(Vec<Doing>);

/// A time in which a thread did one thing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// What the thread did.
    pub what: usize,
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
    /// Time of the stacks that tell what, microseconds.
    own_us: i64,
    /// Time of other work in between, microseconds.
    other_us: i64,
}

impl DoingOfFrames {
    /// Returns what the frames tell: what `of` returns for those that do.
    pub(super) fn of(frames: &FrameTable, mut of: impl FnMut(&CallFrame) -> Option<usize>) -> Self {
        let mut doing = |frame: &CallFrame| match of(frame) {
            _ if frame.is_meta() => Doing::Unknown,
            Some(what) => Doing::This(what),
            None => Doing::Other,
        };
        Self(frames.list().iter().map(&mut doing).collect())
    }

    /// Returns the times in which a thread did one thing, until it did the next: code after an `await` has no
    /// caller on its stack. The outermost function counts. Other work has at most half of such a time.
    pub(super) fn stretches(&self, thread: &Thread) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = Vec::new();
        // Other work since then.
        let mut since_us: i64 = 0;
        for profile in &thread.profiles {
            let mut stacks: Vec<Doing> = Vec::with_capacity(profile.nodes.len());
            for node in &profile.nodes {
                stacks.push(match stacks.get(node.parent as usize) {
                    Some(Doing::This(what)) => Doing::This(*what),
                    _ => self.0[node.frame as usize],
                });
            }
            for step in profile.steps.spans() {
                let us = step.to_us.saturating_sub(step.from_us);
                let what = match stacks[step.node as usize] {
                    Doing::This(what) => what,
                    Doing::Other => {
                        since_us = since_us.saturating_add(us);
                        continue;
                    }
                    Doing::Unknown => continue,
                };
                let since_us = std::mem::take(&mut since_us);
                if let Some(last) = all.last_mut().filter(|last| last.goes_on(what, since_us)) {
                    last.to_us = step.to_us;
                    last.own_us = last.own_us.saturating_add(us);
                    last.other_us = last.other_us.saturating_add(since_us);
                    continue;
                }
                let (from_us, to_us) = (step.from_us, step.to_us);
                all.push(Stretch { what, from_us, to_us, own_us: us, other_us: 0 });
            }
        }
        all
    }
}

impl Stretch {
    /// Returns whether the thread still did the same, after other work of this length in microseconds.
    fn goes_on(&self, what: usize, other_us: i64) -> bool {
        self.what == what && self.other_us.saturating_add(other_us) <= self.own_us
    }
}
