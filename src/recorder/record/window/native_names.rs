//! Renames the functions of Node-API addons.
//!
//! V8 identifies a native function by its C++ callback, and the functions of all Node-API addons
//! share one callback of Node. So V8 reports all of them under a single name: the name of whichever
//! function was found last when the profiler was created. That is mostly a function of this addon,
//! which would then be charged with the time of other addons.

use cpu_prof_core::profile::window::Window;

/// The beginning of the names of this addon's functions, which no other function has.
const OWN_PREFIX: &str = "cpuProf";

/// Name under which the functions of all addons are shown.
pub(super) const ANY_ADDON: &str = "(native addon)";

/// Replaces the names of this addon's functions where V8 may mean the function of another addon.
pub(crate) fn rename(window: &mut Window) {
    for frame in &mut window.frames {
        if frame.script_id == 0 && frame.function_name.starts_with(OWN_PREFIX) {
            ANY_ADDON.clone_into(&mut frame.function_name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{frame, window};

    #[test]
    fn only_functions_of_this_addon_are_renamed() {
        let frames = [
            frame("cpuProfStop", "", 0),
            frame("cpuProfStop", "/a.js", 5),
            frame("start", "", 0),
            frame("stop", "", 0),
        ];
        let mut window = window(&frames.map(|frame| (0, frame)), &[]);
        rename(&mut window);
        let names: Vec<_> = window.frames.iter().map(|frame| &*frame.function_name).collect();
        assert_eq!(names, ["(native addon)", "cpuProfStop", "start", "stop"]);
    }
}
