//! What V8 calls the functions of Node-API addons.
//!
//! It knows a native function by its C++ callback, and all functions of all such addons have one in
//! common: Node's. So they all get one name, of whichever function it came by last when the profiler
//! was made: mostly one of ours, under which the time of others must not stand.

use std::sync::OnceLock;

use crate::profile::window::Window;

/// Our own.
static NAMES: OnceLock<Vec<String>> = OnceLock::new();

/// What they are shown as.
const ANY: &str = "(native addon)";

/// Learns the names of our functions; once is enough.
pub(crate) fn learn(names: impl FnOnce() -> Vec<String>) {
    NAMES.get_or_init(names);
}

/// Takes our names away from what can be any addon's function.
pub(crate) fn rename(window: &mut Window) {
    let Some(names) = NAMES.get() else { return };
    for frame in &mut window.frames {
        if frame.script_id == 0 && names.contains(&frame.function_name) {
            ANY.clone_into(&mut frame.function_name);
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
