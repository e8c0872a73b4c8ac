//! Times in which one thing was done, as far as samples tell.

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_session::model::Thread;
use cpu_prof_session::model::frame_table::FrameTable;

/// What was done at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// One of the things that were asked for.
    This(usize),
    /// Anything else.
    Other,
    /// Nothing that says what for: waiting, collecting garbage.
    #[default]
    Unknown,
}

/// What a thread does in the frames of a session, by the numbers of the frames.
pub(super) struct DoingOfFrames(Vec<Doing>);

/// A time in which one thing was done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// What was done.
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
    /// caller on its stack. The outermost function counts.
    pub(super) fn stretches(&self, thread: &Thread, least_us: i64) -> Vec<Stretch> {
        let mut stretches = Stretches::new(least_us);
        for profile in &thread.profiles {
            let stacks = profile.downward(|above, _, node| match above {
                Doing::This(_) => above,
                _ => self.0[node.frame as usize],
            });
            for step in profile.steps.spans() {
                stretches.add(stacks[step.node as usize], step.from_us, step.to_us);
            }
        }
        stretches.finish()
    }
}

/// Stretches that are being put together, from the first on. Other work has at most half of one.
#[derive(Debug)]
pub(super) struct Stretches {
    /// Length from which on other work ends a stretch, microseconds.
    least_us: i64,
    list: Vec<Stretch>,
    /// Other work since the last of them, microseconds.
    since_us: i64,
}

impl Stretches {
    /// Returns none yet. `least_us` is the length from which on other work ends a stretch, microseconds.
    pub(super) fn new(least_us: i64) -> Self {
        Self { least_us, list: Vec::new(), since_us: 0 }
    }

    /// Adds what was done next.
    pub(super) fn add(&mut self, doing: Doing, from_us: i64, to_us: i64) {
        let us = to_us.saturating_sub(from_us);
        let what = match doing {
            Doing::This(what) => what,
            Doing::Other => {
                self.since_us = self.since_us.saturating_add(us);
                return;
            }
            Doing::Unknown => return,
        };
        let since_us = std::mem::take(&mut self.since_us);
        let goes_on = |last: &&mut Stretch| {
            let other_us = last.other_us.saturating_add(since_us);
            last.what == what && since_us < self.least_us && other_us <= last.own_us
        };
        match self.list.last_mut().filter(goes_on) {
            Some(last) => {
                last.to_us = to_us;
                last.own_us = last.own_us.saturating_add(us);
                last.other_us = last.other_us.saturating_add(since_us);
            }
            None => self.list.push(Stretch { what, from_us, to_us, own_us: us, other_us: 0 }),
        }
    }

    /// Returns the stretches in order.
    pub(super) fn finish(self) -> Vec<Stretch> {
        self.list
    }
}
