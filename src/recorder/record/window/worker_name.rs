//! The name of a worker: what the program calls it, or else its script.

use rustc_hash::FxHashMap;

use super::profiler_frames::is_profiler;
use cpu_prof_core::base::outside_text::script_url;
use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::window::Window;

/// The name of workers without one, from Node 24 on.
const NODES_DEFAULT: &str = "WorkerThread";

/// The source of a name. A later one of these replaces the name of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameSource {
    /// The frames of the worker's windows: a guess.
    Frames,
    /// The worker's script.
    Script,
    /// The option `name` of the worker.
    Option,
}

/// A name of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerName {
    /// Source of the name.
    pub(crate) source: NameSource,
    /// The name.
    pub(crate) text: String,
}

impl WorkerName {
    /// Returns the name that the program gave the worker, as Node reports it.
    pub(crate) fn from_option(name: &str) -> Option<Self> {
        let name = name.trim();
        let is_given = !name.is_empty() && name != NODES_DEFAULT;
        is_given.then(|| Self { source: NameSource::Option, text: name.to_owned() })
    }

    /// Returns the name of a worker that runs `script`.
    pub(crate) fn from_script(script: &str) -> Option<Self> {
        let text = file_name(script);
        (!text.is_empty()).then_some(Self { source: NameSource::Script, text })
    }

    /// Returns the name of a worker by the outermost script in the stacks of a window; of several
    /// scripts, by the script with the most samples.
    pub(crate) fn from_frames(window: &Window) -> Option<Self> {
        // The outermost script above each node, as an index into `frames`.
        let mut outermost: Vec<Option<u32>> = Vec::with_capacity(window.nodes.len());
        for node in &window.nodes {
            let above = outermost.get(node.parent as usize).copied().flatten();
            let own = || is_script(&window.frames[node.frame as usize]).then_some(node.frame);
            outermost.push(above.or_else(own));
        }
        let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
        for sample in &window.samples {
            if let Some(frame) = outermost[sample.node as usize] {
                *counts.entry(&window.frames[frame as usize].url).or_default() += 1;
            }
        }
        let (url, _) = counts.into_iter().max_by_key(|(url, count)| (*count, *url))?;
        let text = file_name(url);
        (!text.is_empty()).then_some(Self { source: NameSource::Frames, text })
    }
}

/// Returns whether a frame is in a script of the program.
fn is_script(frame: &CallFrame) -> bool {
    let is_named = frame.script_id != 0 && !frame.url.is_empty();
    is_named && !frame.url.starts_with("node:") && !is_profiler(&frame.url)
}

/// Returns the last part of a path or URL.
fn file_name(script: &str) -> String {
    // The script by which Node runs the text of a worker.
    if script == "[worker eval]-wrapper" {
        return "[worker eval]".to_owned();
    }
    if script.starts_with("data:") {
        // The rest is the script's text.
        return script.split(',').next().unwrap_or_default().to_owned();
    }
    let url = script_url(script);
    let path = file_path(&url);
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::testing::windows::made::{frame, window};

    fn text(name: Option<WorkerName>) -> Option<String> {
        name.map(|name| name.text)
    }

    #[test]
    fn a_name_of_the_program_is_kept_whole() {
        assert_eq!(text(WorkerName::from_option(" pool/3 ")).unwrap(), "pool/3");
    }

    #[test]
    fn nodes_name_of_workers_without_a_name_is_no_name() {
        for name in ["", "  ", "WorkerThread"] {
            assert_eq!(WorkerName::from_option(name), None);
        }
    }

    #[test]
    fn a_script_gives_the_last_part_of_its_path() {
        for (script, name) in [
            ("/r/src/crunch.js", "crunch.js"),
            ("/r/a#b?c.js", "a#b?c.js"),
            (r"C:\r\src\crunch.js", "crunch.js"),
            ("file:///C:/r/crunch.mjs?v=2", "crunch.mjs"),
            ("file:///r/my%20worker.mjs?v=2#x", "my worker.mjs"),
            ("[worker eval]", "[worker eval]"),
            ("[worker eval]-wrapper", "[worker eval]"),
            ("data:text/javascript,let a = 1 / 2", "data:text/javascript"),
        ] {
            assert_eq!(text(WorkerName::from_script(script)).as_deref(), Some(name));
        }
        assert_eq!(WorkerName::from_script(""), None);
    }

    #[test]
    fn frames_give_the_outermost_script_with_the_most_samples() {
        let nodes = [
            (0, frame("(root)", "", 0)),
            (0, frame("run", "node:internal/main/worker_thread", 1)),
            (1, frame("", "/r/preload.js", 2)),
            (1, frame("", "", 3)),
            (3, frame("", "file:///r/crunch.mjs", 4)),
            (4, frame("sort", "/r/sort.js", 5)),
            (0, frame("(garbage collector)", "", 0)),
        ];
        let name = |samples: &[u32]| {
            let samples: Vec<_> = (0..).zip(samples.iter().copied()).collect();
            text(WorkerName::from_frames(&window(&nodes, &samples)))
        };
        assert_eq!(name(&[2, 5, 4, 6, 6, 6]).as_deref(), Some("crunch.mjs"));
        assert_eq!(name(&[2, 2, 5]).as_deref(), Some("preload.js"));
        assert_eq!(name(&[0, 1, 3, 6]), None);
        assert_eq!(text(WorkerName::from_frames(&Window::default())), None);
    }

    #[test]
    fn the_option_is_stronger_than_the_script_and_the_script_than_a_guess() {
        assert!(NameSource::Option > NameSource::Script);
        assert!(NameSource::Script > NameSource::Frames);
    }
}
