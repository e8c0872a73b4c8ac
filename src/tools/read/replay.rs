//! The recordings of a thread as windows of one call tree, for the writers of windows.

use rustc_hash::{FxHashMap, FxHashSet};

use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::label_table::LabelTable;
use cpu_prof_core::profile::window::call_tree::{CallTree, PlacedWindow};
use cpu_prof_core::profile::window::{Sample, Window, WindowNode};
use cpu_prof_session::model::Thread;
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// The index of the root in each window.
const ROOT: u32 = 0;

/// Returns each recording as a window, with its place in the thread's tree. Between recordings the
/// root is on top, for which viewers draw nothing.
pub fn windows<'a>(
    thread: &'a Thread,
    frames: &'a FrameTable,
    labels: &'a LabelTable,
) -> impl Iterator<Item = (Window, PlacedWindow)> + 'a {
    let mut tree = CallTree::new(usize::MAX);
    let mut announced = FxHashSet::default();
    let mut last_end_us = None;
    thread.profiles.iter().map(move |profile| {
        let mut window = window(profile, frames, last_end_us);
        let new = profile.labels.iter().filter(|set| announced.insert(**set));
        let sets = new.filter_map(|set| Some((*set, labels.get(*set)?.clone())));
        window.label_sets.extend(sets);
        last_end_us = Some(profile.end_us);
        let placed = tree.place(&window);
        (window, placed)
    })
}

fn window(profile: &ThreadProfile, frames: &FrameTable, last_end_us: Option<i64>) -> Window {
    let mut window = Window {
        frames: vec![CallFrame::root()],
        nodes: vec![WindowNode { parent: ROOT, frame: ROOT }],
        start_us: profile.start_us,
        end_us: profile.end_us,
        ..Window::default()
    };
    // Indices in the window, by the numbers of frames and the indices of nodes.
    let mut frame_indices: FxHashMap<u32, u32> = FxHashMap::default();
    let mut node_indices = Vec::with_capacity(profile.nodes.len());
    for node in &profile.nodes {
        if node.parent == NONE && node.frame == FrameTable::ROOT {
            node_indices.push(ROOT);
            continue;
        }
        let frame = *frame_indices.entry(node.frame).or_insert_with(|| {
            window.frames.push(frames.list()[node.frame as usize].clone());
            window.frames.len() as u32 - 1
        });
        let parent = if node.parent == NONE { ROOT } else { node_indices[node.parent as usize] };
        node_indices.push(window.nodes.len() as u32);
        window.nodes.push(WindowNode { parent, frame });
    }
    window.samples.extend(last_end_us.map(|time_us| Sample {
        time_us,
        node: ROOT,
        ..Sample::default()
    }));
    window.samples.extend(profile.samples.iter().map(|sample| Sample {
        time_us: sample.time_us,
        node: if sample.node == NONE { ROOT } else { node_indices[sample.node as usize] },
        position: sample.position,
        labels: profile.labels(sample.node),
        ..Sample::default()
    }));
    let deopts = profile.deopts.iter();
    window
        .deopts
        .extend(deopts.map(|(node, reason)| (node_indices[*node as usize], reason.clone())));
    window
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use cpu_prof_session::model::builder::ProfileBuilder;

    #[test]
    fn recordings_are_joined_and_the_root_has_the_time_between() {
        let mut frames = FrameTable::new();
        let mut recording = |start_us| {
            let mut builder = ProfileBuilder::new(start_us, ReadScope::SAMPLES);
            let a = CallFrame { function_name: "a".into(), script_id: 5, ..CallFrame::root() };
            builder.announce(9, None, frames.number(CallFrame::root()));
            builder.announce(8, Some(9), frames.number(a));
            builder.sample(8, 10, SourcePosition::line(0));
            builder.extend_to(start_us + 100);
            builder.finish()
        };
        let profiles = vec![recording(0), recording(1000)];
        let thread = Thread { profiles, ..Thread::default() };
        let mut samples = Vec::new();
        for (window, placed) in windows(&thread, &frames, &LabelTable::default()) {
            let ids = |sample: &Sample| (sample.time_us, placed.ids[sample.node as usize]);
            samples.extend(window.samples.iter().map(ids));
        }
        assert_eq!(samples, [(10, 2), (100, 1), (1010, 2)]);
    }
}
