//! Shows the profiler's own JavaScript as `(program)`: its start takes milliseconds on the program's
//! thread, and is not the program's code.

use parking_lot::RwLock;

use cpu_prof_core::format::url::frame_url;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::program::NodeModules;
use cpu_prof_core::profile::window::{Sample, Window, WindowNode};

/// The folders of the package as beginnings of V8's resource names. There are several if the package
/// was loaded by several paths, as with `--preserve-symlinks`.
static FOLDERS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// The owner of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Profiler,
    Program,
    /// The calling frame's owner: native code and Node's own scripts have none of their own.
    Caller,
}

/// Stores the package's folder, given by its subfolder `lib`.
pub(crate) fn learn(lib: &str) {
    let Some(package) = lib.strip_suffix("lib") else { return };
    let path = package.to_owned();
    if FOLDERS.read().contains(&path) {
        return;
    }
    // V8 names CommonJS files by their paths, and files that went through a module hook by a URL.
    let url = frame_url(&path, NodeModules::Foldable);
    FOLDERS.write().extend([path, url]);
}

/// Returns whether a resource name is a file of the package. The command line's files are not: they
/// are programs of their own.
pub(super) fn is_profiler(url: &str) -> bool {
    let is_file = |file: &str| matches!(file, "index.js" | "register.js") || is_in_lib(file);
    FOLDERS.read().iter().any(|folder| url.strip_prefix(&**folder).is_some_and(is_file))
}

fn is_in_lib(file: &str) -> bool {
    file.strip_prefix("lib").is_some_and(|rest| rest.starts_with(['/', '\\']))
}

/// Moves the samples of the profiler's own code to `(program)` below the root, and removes the nodes of
/// this code and those that only such samples had. A function of the program that the package calls, as
/// the function given to `label()`, stands below the package's caller. `is_first` tells whether the recording starts with
/// this window.
pub(crate) fn hide(window: &mut Window, is_first: bool) {
    let start = if is_first { hide_start(window) } else { None };
    let owners: Vec<Owner> = window.frames.iter().map(owner).collect();
    if start.is_none() && !owners.contains(&Owner::Profiler) {
        return;
    }
    let mut is_profiler = profiler_nodes(&window.nodes, &owners);
    if let Some(start) = start {
        is_profiler[start] = true;
    }
    let is_kept = kept_nodes(window, &is_profiler);
    let mut kept = Vec::with_capacity(window.nodes.len());
    let mut index_of = vec![0; window.nodes.len()];
    for (index, node) in window.nodes.iter().enumerate() {
        // What the profiler calls stands below the profiler's caller.
        let parent = index_of[node.parent as usize];
        index_of[index] = parent;
        if is_kept[index] && !is_profiler[index] {
            index_of[index] = kept.len() as u32;
            kept.push(WindowNode { parent, frame: node.frame });
        }
    }
    window.nodes = kept;
    let program = window.state_or_new(CallFrame::PROGRAM);
    for sample in &mut window.samples {
        let node = sample.node as usize;
        if is_profiler[node] {
            *sample = Sample { time_us: sample.time_us, node: program, ..Sample::default() };
        } else {
            sample.node = index_of[node];
        }
    }
    window.deopts.retain(|(node, _)| is_kept[*node as usize]);
    for (node, _) in &mut window.deopts {
        *node = index_of[*node as usize];
    }
}

/// Moves the samples of the call that starts V8's profiler to `(program)`: V8 takes one as it starts,
/// and more where the machine holds up the rest of the call. The native function there is the
/// profiler's, even where V8 does not know the function's caller: the line that is evaluated in a
/// worker. Returns the function's node, if no other sample has this node.
fn hide_start(window: &mut Window) -> Option<usize> {
    let start = window.samples.first()?.node;
    let frame = &window.frames[window.nodes[start as usize].frame as usize];
    if !frame.is_native() || frame.is_meta() {
        return None;
    }
    let program = window.state_or_new(CallFrame::PROGRAM);
    for sample in window.samples.iter_mut().take_while(|sample| sample.node == start) {
        *sample = Sample { time_us: sample.time_us, node: program, ..Sample::default() };
    }
    let is_alone = window.samples.iter().all(|sample| sample.node != start);
    is_alone.then_some(start as usize)
}

/// Adds a sample of `(program)` at the start of the recording: V8 takes its first sample some
/// milliseconds later, and much later where the thread waits for a core meanwhile.
pub(crate) fn show_start(window: &mut Window, start_us: i64) {
    if window.samples.first().is_some_and(|first| first.time_us > start_us) {
        let node = window.state_or_new(CallFrame::PROGRAM);
        window.samples.insert(0, Sample { time_us: start_us, node, ..Sample::default() });
    }
}

fn owner(frame: &CallFrame) -> Owner {
    if frame.script_id == 0 || frame.url.starts_with("node:") {
        Owner::Caller
    } else if is_profiler(&frame.url) {
        Owner::Profiler
    } else {
        Owner::Program
    }
}

/// Returns for each node whether its time is the profiler's: the innermost frame that has an owner
/// decides.
fn profiler_nodes(nodes: &[WindowNode], owners: &[Owner]) -> Vec<bool> {
    let mut is_profiler: Vec<bool> = Vec::with_capacity(nodes.len());
    for node in nodes {
        is_profiler.push(match owners[node.frame as usize] {
            Owner::Profiler => true,
            Owner::Program => false,
            Owner::Caller => is_profiler.get(node.parent as usize).copied().unwrap_or(false),
        });
    }
    is_profiler
}

/// Returns for each node whether it has something that stays: the root, the program's nodes without the
/// profiler's code below them or with samples of their own, and all nodes above these.
fn kept_nodes(window: &Window, is_profiler: &[bool]) -> Vec<bool> {
    let nodes = &window.nodes;
    let mut has_profiler_below = is_profiler.to_vec();
    let mut is_kept = vec![false; nodes.len()];
    for sample in &window.samples {
        is_kept[sample.node as usize] = !is_profiler[sample.node as usize];
    }
    // Parents come before their children.
    for (index, node) in nodes.iter().enumerate().rev() {
        is_kept[index] |= index == 0 || !has_profiler_below[index];
        has_profiler_below[node.parent as usize] |= has_profiler_below[index];
        is_kept[node.parent as usize] |= is_kept[index];
    }
    is_kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::testing::windows::made::{START_US, frame, window};

    /// Returns the stack of each sample, from the root.
    fn stacks(window: &Window) -> Vec<String> {
        let name = |node: u32| {
            let frame = window.nodes[node as usize].frame;
            window.frames[frame as usize].function_name.as_str()
        };
        let stack = |sample: u32| {
            let (mut names, mut node) = (vec![name(sample)], sample);
            while node != 0 {
                node = window.nodes[node as usize].parent;
                names.insert(0, name(node));
            }
            names[1..].join(" ")
        };
        window.samples.iter().map(|sample| stack(sample.node)).collect()
    }

    #[test]
    fn only_the_package_is_own() {
        learn("/own/my package/lib");
        for url in [
            "/own/my package/index.js",
            "/own/my package/register.js",
            "/own/my package/lib/a/b.js",
            "file:///own/my%20package/lib/preload.js",
        ] {
            assert!(is_profiler(url), "{url}");
        }
        for url in [
            "",
            "/own/my package",
            "/own/my package/cli/main.js",
            "/own/my package/library.js",
            "/own/my package/node_modules/x/lib/a.js",
            "/own/my packages/lib/a.js",
            "file:///own/my package/lib/preload.js",
            "/r/own/my package/lib/preload.js",
        ] {
            assert!(!is_profiler(url), "{url}");
        }
    }

    #[test]
    fn only_the_package_is_own_on_windows() {
        learn(r"C:\my package\lib");
        for url in [
            r"C:\my package\index.js",
            r"C:\my package\lib\a\b.js",
            "file:///C:/my%20package/lib/preload.js",
        ] {
            assert!(is_profiler(url), "{url}");
        }
        assert!(!is_profiler(r"C:\my package\library.js"));
        assert!(!is_profiler(r"C:\my package\cli\main.js"));
    }

    #[test]
    fn own_time_is_moved_to_program_and_its_stacks_are_gone() {
        learn("/own/a/lib");
        let mut window = window(
            &[
                (0, frame("(root)", "", 0)),
                (0, frame("load", "node:internal/modules/cjs/loader", 1)),
                (1, frame("register", "/own/a/lib/preload.js", 2)),
                (2, frame("require", "node:internal/modules/cjs/loader", 1)),
                (2, frame("cpuProfRecord", "", 0)),
                (1, frame("main", "/r/main.js", 3)),
                (5, frame("start", "/own/a/lib/record.js", 4)),
                (5, frame("start", "", 0)),
            ],
            &[(0, 4), (10, 3), (20, 5), (30, 6), (40, 7), (50, 2)],
        );
        for sample in &mut window.samples {
            sample.position = SourcePosition { line: 3, column: 1 };
        }
        window.deopts = vec![(2, "own".into()), (7, "hot".into())];
        hide(&mut window, false);
        let own = "(program)";
        assert_eq!(stacks(&window), [own, own, "load main", own, "load main start", own]);
        let names = window.nodes.iter().map(|node| &*window.frames[node.frame as usize].url);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["", "node:internal/modules/cjs/loader", "/r/main.js", "", ""]
        );
        let lines = window.samples.iter().map(|sample| sample.position.line);
        assert_eq!(lines.collect::<Vec<_>>(), [0, 0, 3, 0, 3, 0]);
        assert_eq!(window.deopts, [(3, "hot".into())]);
    }

    #[test]
    fn a_function_that_the_package_calls_stands_below_the_caller() {
        learn("/own/b/lib");
        let mut window = window(
            &[
                (0, frame("(root)", "", 0)),
                (0, frame("main", "/r/main.js", 1)),
                (1, frame("profile", "/own/b/lib/record.js", 2)),
                (2, frame("work", "/r/main.js", 1)),
                (3, frame("sort", "", 0)),
                (0, frame("(program)", "", 0)),
                (0, frame("(garbage collector)", "", 0)),
            ],
            &[(0, 2), (10, 4), (20, 5), (30, 6)],
        );
        hide(&mut window, false);
        assert_eq!(
            stacks(&window),
            ["(program)", "main work sort", "(program)", "(garbage collector)"]
        );
        assert_eq!(window.nodes.len(), 6);
    }

    #[test]
    fn the_samples_of_the_start_are_the_profilers_without_a_known_caller() {
        let frames = [
            (0, frame("(root)", "", 0)),
            (0, frame("main", "/r/main.js", 1)),
            (1, frame("dlopen", "", 0)),
        ];
        let mut first = window(&frames, &[(0, 2), (10, 1)]);
        let mut later = first.clone();
        let mut held_up = window(&frames, &[(0, 2), (5, 2), (10, 1)]);
        let mut again = window(&frames, &[(0, 2), (10, 1), (20, 2)]);
        hide(&mut first, true);
        assert_eq!(stacks(&first), ["(program)", "main"]);
        assert_eq!(first.nodes.len(), 3);
        hide(&mut held_up, true);
        assert_eq!(stacks(&held_up), ["(program)", "(program)", "main"]);
        assert_eq!(held_up.nodes.len(), 3);
        hide(&mut later, false);
        assert_eq!(stacks(&later), ["main dlopen", "main"]);
        hide(&mut again, true);
        assert_eq!(stacks(&again), ["(program)", "main", "main dlopen"]);
    }

    #[test]
    fn the_time_before_the_first_sample_is_the_profilers() {
        let frames = [(0, frame("(root)", "", 0)), (0, frame("main", "/r/main.js", 1))];
        let mut first = window(&frames, &[(30, 1), (40, 1)]);
        show_start(&mut first, START_US + 5);
        assert_eq!(stacks(&first), ["(program)", "main", "main"]);
        assert_eq!(first.samples[0].time_us, START_US + 5);
        let mut exact = window(&frames, &[(30, 1)]);
        show_start(&mut exact, START_US + 30);
        assert_eq!(stacks(&exact), ["main"]);
        let mut empty = window(&frames, &[]);
        show_start(&mut empty, START_US);
        assert!(empty.samples.is_empty());
    }

    #[test]
    fn a_window_without_own_code_stays() {
        let mut window =
            window(&[(0, frame("(root)", "", 0)), (0, frame("main", "/r/main.js", 1))], &[(0, 1)]);
        let before = window.clone();
        hide(&mut window, false);
        assert_eq!(window, before);
    }
}
