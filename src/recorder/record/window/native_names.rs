//! Renames the functions of Node-API addons.
//!
//! V8 identifies a native function by its C++ callback, and the functions of all Node-API addons
//! share one callback of Node. So V8 reports all of them under a single name: the name of whichever
//! function was found last when the profiler was created. That is mostly a function of this addon,
//! which would then be charged with the time of other addons.

use cpu_prof_core::profile::window::{Sample, Window};

/// The beginning of the names of this addon's functions, which no other function has.
const OWN_PREFIX: &str = "cpuProf";

/// Name under which the functions of all addons are shown.
const ANY_ADDON: &str = "(native addon)";

/// The name that V8 gives to the functions of all addons.
#[derive(Debug, Default)]
pub(super) struct AddonName(Option<String>);

impl AddonName {
    /// Learns the name from the samples of a time in which JavaScript was in a call of this addon:
    /// CLOCK_MONOTONIC, microseconds.
    pub(super) fn learn(&mut self, window: &Window, (from_us, to_us): (i64, i64)) {
        let is_within = |sample: &&Sample| (from_us..=to_us).contains(&sample.time_us);
        for sample in window.samples.iter().filter(is_within) {
            let frame = &window.frames[window.nodes[sample.node as usize].frame as usize];
            if frame.is_native() && !frame.is_meta() {
                self.0 = Some(frame.function_name.clone());
            }
        }
    }

    /// Replaces the name.
    pub(super) fn rename(&self, window: &mut Window) {
        for frame in &mut window.frames {
            let name = &frame.function_name;
            let is_addon = || name.starts_with(OWN_PREFIX) || Some(name) == self.0.as_ref();
            if frame.is_native() && is_addon() {
                ANY_ADDON.clone_into(&mut frame.function_name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{START_US, frame, window};

    /// Returns the names of the functions of a window after the name was learnt.
    fn renamed(learn: impl FnOnce(&mut AddonName, &Window)) -> Vec<String> {
        let frames = [
            frame("(root)", "", 0),
            frame("cpuProfStop", "", 0),
            frame("cpuProfStop", "/a.js", 5),
            frame("AnalyzeTask", "", 0),
            frame("AnalyzeTask", "/a.js", 5),
            frame("(program)", "", 0),
        ];
        let mut window =
            window(&frames.map(|frame| (0, frame)), &[(10, 3), (20, 2), (25, 3), (30, 5)]);
        let mut name = AddonName::default();
        learn(&mut name, &window);
        name.rename(&mut window);
        window.frames[1..5].iter().map(|frame| frame.function_name.clone()).collect()
    }

    #[test]
    fn functions_of_addons_have_one_name() {
        let own = ["(native addon)", "cpuProfStop", "AnalyzeTask", "AnalyzeTask"];
        assert_eq!(renamed(|_, _| ()), own);
        let all = ["(native addon)", "cpuProfStop", "(native addon)", "AnalyzeTask"];
        assert_eq!(renamed(|name, window| name.learn(window, (START_US + 15, START_US + 25))), all);
    }

    #[test]
    fn only_a_native_function_teaches_a_name() {
        let own = ["(native addon)", "cpuProfStop", "AnalyzeTask", "AnalyzeTask"];
        for (from, to) in [(15, 20), (30, 30), (40, 50)] {
            let span_us = (START_US + from, START_US + to);
            assert_eq!(renamed(|name, window| name.learn(window, span_us)), own);
        }
    }
}
