//! When a thread has started: Node's own start, and loading the modules of the program.

use super::phase::Phase;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::package::{is_built_in, is_loader, package_of};
use cpu_prof_session::model::Thread;
use cpu_prof_session::model::frame_table::FrameTable;

/// Name of the phase.
const START_UP: &str = "start-up";

/// What a frame says about the stack that ends with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Loading {
    /// Node starts, or loads a module.
    Yes,
    /// Code that is not Node's runs, or the thread is idle.
    No,
    /// As the stack above: code of Node.
    AsAbove,
    /// Nothing: the collector, or native code that no function called.
    #[default]
    Unknown,
}

/// The frames of a session, by their numbers.
pub(super) struct LoadingFrames(Vec<Loading>);

impl LoadingFrames {
    /// Returns what the frames say.
    pub(super) fn of(frames: &FrameTable) -> Self {
        Self(frames.list().iter().map(loading).collect())
    }

    /// Returns the start-up of a thread: until its end, the thread loaded for longer than it did anything else,
    /// by more than until any other moment. None if the thread was not seen to load.
    pub(super) fn start_up(&self, thread: &Thread) -> Option<Phase> {
        let profile = thread.profiles.first()?;
        let stacks = profile.downward(|above, _, node| match self.0[node.frame as usize] {
            Loading::AsAbove => above,
            own => own,
        });
        let (mut lead_us, mut best_us, mut end_us) = (0_i64, 0, None);
        for step in profile.steps.spans() {
            let us = step.to_us.saturating_sub(step.from_us);
            match stacks[step.node as usize] {
                Loading::Yes => lead_us = lead_us.saturating_add(us),
                Loading::No => lead_us = lead_us.saturating_sub(us),
                Loading::AsAbove | Loading::Unknown => {}
            }
            if lead_us > best_us {
                (best_us, end_us) = (lead_us, Some(step.to_us));
            }
        }
        Some(Phase::new(START_UP, profile.start_us, end_us?))
    }
}

fn loading(frame: &CallFrame) -> Loading {
    if frame.is_meta() {
        return if frame.function_name == CallFrame::IDLE { Loading::No } else { Loading::Unknown };
    }
    match frame.url.as_str() {
        url if is_loader(url) => Loading::Yes,
        url if is_built_in(package_of(url)) => Loading::AsAbove,
        _ => Loading::No,
    }
}
