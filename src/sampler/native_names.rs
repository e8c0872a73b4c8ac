//! Renames the functions of Node-API addons.
//!
//! V8 identifies a native function by its C++ callback, and the functions of all Node-API addons
//! share one callback of Node. So V8 reports all of them under a single name: the name of whichever
//! function was found last when the profiler was created. That is mostly a function of this addon,
//! which would then be charged with the time of other addons.

use std::sync::OnceLock;

use crate::profile::window::Window;

/// Names of this addon's functions.
static OWN_NAMES: OnceLock<Vec<String>> = OnceLock::new();

/// Name under which the functions of all addons are shown.
const ANY_ADDON: &str = "(native addon)";

/// Stores the names of this addon's functions. Only the first call has an effect.
pub(crate) fn learn(names: impl FnOnce() -> Vec<String>) {
    OWN_NAMES.get_or_init(names);
}

/// Replaces the names of this addon's functions where V8 may mean the function of another addon.
pub(crate) fn rename(window: &mut Window) {
    let Some(names) = OWN_NAMES.get() else { return };
    for frame in &mut window.frames {
        if frame.script_id == 0 && names.contains(&frame.function_name) {
            ANY_ADDON.clone_into(&mut frame.function_name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::test_windows::made::{frame, window};

    #[test]
    fn only_native_functions_are_renamed() {
        learn(|| vec!["start".into(), "stop".into()]);
        let frames = [frame("start", "", 0), frame("start", "/a.js", 5), frame("sort", "", 0)];
        let mut window = window(&frames.map(|frame| (0, frame)), &[]);
        rename(&mut window);
        let names: Vec<_> = window.frames.iter().map(|frame| &*frame.function_name).collect();
        assert_eq!(names, ["(native addon)", "start", "sort"]);
    }
}
