//! The native code that the native threads of a run executed.

use rustc_hash::FxHashMap;

use super::thresholds::{MOST_OF_THREADS, NOTABLE_OF_THREADS};
use crate::shared::frame_index::FrameIndex;
use crate::shared::native::module::module_of;
use cpu_prof_core::base::native_code::is_named;
use cpu_prof_core::profile::session::Session;

/// What native threads executed most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NativeCode {
    /// Word for the module or library with most of the time.
    pub module: String,
    /// Function of that module with a notable part of the time.
    pub function: Option<String>,
}

/// Returns the code that the native threads of all processes but launchers executed most; none if they were not
/// sampled, or if no module has most of the time.
pub(super) fn native_code(
    session: &Session,
    launchers: &[bool],
    index: &FrameIndex,
) -> Option<NativeCode> {
    let mut functions: FxHashMap<usize, u64> = FxHashMap::default();
    let shown = session.processes.iter().zip(launchers).filter(|(_, is_launcher)| !**is_launcher);
    let threads =
        shown.flat_map(|(process, _)| &process.threads).filter(|thread| thread.is_native());
    for profile in threads.flat_map(|thread| &thread.profiles) {
        for (node, times) in profile.timed_nodes() {
            if let Some(function) = index.function(node.frame) {
                let us = functions.entry(function).or_default();
                *us = us.saturating_add(times.self_us);
            }
        }
    }
    let all_us: f64 = functions.values().map(|us| *us as f64).sum();
    let mut modules: FxHashMap<_, u64> = FxHashMap::default();
    let place = |function: usize| index.place(function);
    let module = |function: usize| module_of(place(function).file, place(function).name);
    for (function, us) in functions.iter().filter(|(function, _)| index.is_in_module(**function)) {
        let sum_us = modules.entry(module(*function)).or_default();
        *sum_us = sum_us.saturating_add(*us);
    }
    let (most, us) =
        modules.into_iter().max_by(|(a, a_us), (b, b_us)| (a_us, b).cmp(&(b_us, a)))?;
    if (us as f64) < MOST_OF_THREADS * all_us {
        return None;
    }
    let of_module = functions
        .iter()
        .filter(|(function, _)| index.is_in_module(**function) && module(**function) == most);
    let largest = of_module.max_by_key(|(function, us)| (**us, **function));
    let named = largest.filter(|(function, us)| {
        **us as f64 >= NOTABLE_OF_THREADS * all_us && is_named(place(**function).name)
    });
    let function = named.map(|(function, _)| place(*function).name.to_owned());
    Some(NativeCode { module: most.into_owned(), function })
}
