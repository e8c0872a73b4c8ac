//! Finds the file that each thread worked on, which tells the threads of a pool apart.

use rustc_hash::FxHashMap;

use crate::analysis::costs::{Costs, WeightedTree};
use crate::analysis::frame_index::FrameIndex;
use crate::analysis::process::session_view::SessionView;
use cpu_prof_session::model::{Process, Thread};

/// Part of a thread's longest total time that a file needs: a file with less says little about the
/// thread.
const ENOUGH: f64 = 0.2;

/// Returns for each thread of all processes the file of own code with the most total time, of those
/// that the fewest threads of the same name share: the test file rather than what all tests call.
pub(super) fn own_files<'a>(view: &'a SessionView<'_>) -> Vec<Option<&'a str>> {
    let &SessionView { session, ref index, .. } = view;
    let threads: Vec<_> = session
        .processes
        .iter()
        .flat_map(|process| process.threads.iter().map(move |thread| (process, thread)))
        .map(|(process, thread)| (shared_name(process, thread), files_of(thread, index)))
        .collect();
    let mut sharing: FxHashMap<(&str, usize), usize> = FxHashMap::default();
    for (name, files) in &threads {
        for (file, _) in files {
            *sharing.entry((name, *file)).or_default() += 1;
        }
    }
    let best = |(name, files): &(String, Vec<(usize, u64)>)| {
        let rank = |file: usize, us: u64| {
            (usize::MAX - sharing[&(name.as_str(), file)], us, usize::MAX - file)
        };
        let (file, _) = files.iter().max_by_key(|(file, us)| rank(*file, *us))?;
        Some(index.files[*file].path.as_str())
    };
    threads.iter().map(best).collect()
}

/// Returns the name of a thread without numbers, which differ in a pool.
fn shared_name(process: &Process, thread: &Thread) -> String {
    let name = format!("{}\n{}", process.name, thread.name);
    name.replace(|character: char| character.is_ascii_digit(), "")
}

/// Returns the files of own code that a thread spent enough time in, with the total times in
/// microseconds.
fn files_of(thread: &Thread, index: &FrameIndex) -> Vec<(usize, u64)> {
    let mut costs = Costs::default();
    for profile in &thread.profiles {
        let tree = WeightedTree::of(profile);
        tree.add_to([&mut costs], |_, frame| {
            let file = index.file(frame).filter(|file| index.is_users(*file))?;
            Some([file])
        });
    }
    let own: Vec<_> = costs.known().map(|(file, cost)| (file, cost.total_us)).collect();
    let most_us = own.iter().map(|(_, us)| *us).max().unwrap_or(0);
    own.into_iter().filter(|(_, us)| *us as f64 >= ENOUGH * most_us as f64).collect()
}
