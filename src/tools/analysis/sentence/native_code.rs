//! The native code that a run executed most.

use rustc_hash::FxHashMap;

use super::thresholds::{MOST_OF_THREADS, NOTABLE_OF_THREADS};
use super::words;
use crate::analysis::frame_index::FrameIndex;
use crate::analysis::native::module::module_of;
use crate::analysis::process::session_view::SessionView;
use cpu_prof_core::base::native_code::is_named;

/// The module and the function with most of the time of native code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NativeCode {
    /// Word for the module or library with most of the time.
    pub module: String,
    /// Function of that module with a notable part of the time.
    pub function: Option<String>,
}

/// Returns the code that the native threads of all processes but launchers executed most; none if they were not
/// sampled, or if no module has most of the time.
pub(super) fn native_code(view: &SessionView<'_>) -> Option<NativeCode> {
    let index = &view.index;
    let mut functions: FxHashMap<usize, u64> = FxHashMap::default();
    let threads = view.shown().flat_map(|(_, process)| &process.threads);
    let threads = threads.filter(|thread| thread.is_native());
    for profile in threads.flat_map(|thread| &thread.profiles) {
        for (node, times) in profile.timed_nodes() {
            if let Some(function) = index.function(node.frame) {
                let us = functions.entry(function).or_default();
                *us = us.saturating_add(times.self_us);
            }
        }
    }
    let all_us = functions.values().map(|us| *us as f64).sum();
    NativeCode::of(&functions, all_us, (MOST_OF_THREADS, NOTABLE_OF_THREADS), index)
}

impl NativeCode {
    /// Returns what has most of the time of functions; none if no module has. `functions` have their times, and
    /// `all_us` is the time that the parts are of: microseconds. The parts are what a module needs to be named, and
    /// what a function of it needs.
    pub(super) fn of(
        functions: &FxHashMap<usize, u64>,
        all_us: f64,
        (most, notable): (f64, f64),
        index: &FrameIndex,
    ) -> Option<Self> {
        let place = |function: usize| index.place(function);
        let module = |function: usize| module_of(place(function).file, place(function).name);
        let natives = || functions.iter().filter(|(function, _)| index.is_in_module(**function));
        let mut modules: FxHashMap<_, u64> = FxHashMap::default();
        for (function, us) in natives() {
            let sum_us = modules.entry(module(*function)).or_default();
            *sum_us = sum_us.saturating_add(*us);
        }
        let (name, us) =
            modules.into_iter().max_by(|(a, a_us), (b, b_us)| (a_us, b).cmp(&(b_us, a)))?;
        if (us as f64) < most * all_us {
            return None;
        }
        let of_module = natives().filter(|(function, _)| module(**function) == name);
        let largest = of_module.max_by_key(|(function, us)| (**us, **function));
        let named = largest.filter(|(function, us)| {
            **us as f64 >= notable * all_us && is_named(place(**function).name)
        });
        let function = named.map(|(function, _)| place(*function).name.to_owned());
        Some(Self { module: name.into_owned(), function })
    }

    /// Returns `, mostly OpenSSL (sha512_block)`.
    pub(super) fn mostly(&self) -> String {
        match &self.function {
            Some(function) => format!(", mostly {} ({})", self.module, words::shortened(function)),
            None => format!(", mostly {}", self.module),
        }
    }
}
