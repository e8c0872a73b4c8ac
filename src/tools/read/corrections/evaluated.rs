//! The places that compiled texts, by `eval`, `new Function` or `vm`. V8 gives functions of such a text no file.

use rustc_hash::FxHashMap;

use crate::names::originals::Originals;
use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::package::{is_built_in, package_of};
use cpu_prof_session::model::frame_table::FrameTable;
use cpu_prof_session::model::{Process, Session, Thread};

/// Gives each text the file that compiled it, as far as a recording has it, and else the file whose code calls the text
/// most of the time: what compiles a text mostly runs it.
pub(in crate::read) fn find_compilers(session: &mut Session, originals: &mut Originals) {
    let Session { processes, frames, .. } = session;
    if !frames.list().iter().any(CallFrame::is_unnamed_text) {
        return;
    }
    // Most frames stand in many nodes.
    let has_file: Vec<bool> = frames.list().iter().map(has_file).collect();
    for process in processes {
        if !is_of_v8(process, frames) {
            continue;
        }
        // Script ids are those of a thread.
        for thread in &mut process.threads {
            name_texts(thread, frames, &has_file, originals);
        }
    }
}

/// Returns whether V8 ran a process. In profiles of Bun, built-in functions have a script, too; it knows no states.
fn is_of_v8(process: &Process, frames: &FrameTable) -> bool {
    let nodes = process.threads.iter().flat_map(|thread| &thread.profiles);
    let mut frames =
        nodes.flat_map(|profile| &profile.nodes).map(|node| &frames.list()[node.frame as usize]);
    let is_state = |frame: &CallFrame| {
        frame.is_meta() && matches!(&*frame.function_name, CallFrame::PROGRAM | CallFrame::GC)
    };
    process.node.is_some() || frames.any(is_state)
}

fn name_texts(
    thread: &mut Thread,
    frames: &mut FrameTable,
    has_file: &[bool],
    originals: &mut Originals,
) {
    let recorded = recorded_sites(thread, frames, originals);
    let callers = callers(thread, frames, has_file);
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    for node in thread.profiles.iter_mut().flat_map(|profile| &mut profile.nodes) {
        node.frame = *numbers.entry(node.frame).or_insert_with(|| {
            let frame = &frames.list()[node.frame as usize];
            if !frame.is_unnamed_text() {
                return node.frame;
            }
            let site = recorded.get(&frame.script_id);
            let caller = callers.get(&frame.script_id);
            let code = site.or(caller.map(|caller| &frames.list()[*caller as usize]));
            frames.number(CallFrame {
                url: code.map_or_else(String::new, |code| code.url.clone()),
                package: code.and_then(|code| code.package.clone()),
                origin: FrameOrigin::Evaluated,
                compiler: site.cloned().map(Box::new),
                ..frame.clone()
            })
        });
    }
}

/// Returns the places that a recording has, in their sources, by the script ids of the texts. Samples from before a text
/// was noted have none.
fn recorded_sites(
    thread: &Thread,
    frames: &FrameTable,
    originals: &mut Originals,
) -> FxHashMap<u32, CallFrame> {
    let mut sites = FxHashMap::default();
    for node in thread.profiles.iter().flat_map(|profile| &profile.nodes) {
        let frame = &frames.list()[node.frame as usize];
        if let Some(site) = frame.compiler.as_deref().filter(|_| frame.is_unnamed_text()) {
            sites.entry(frame.script_id).or_insert_with(|| originals.call_site(site));
        }
    }
    sites
}

/// Returns a function of the file that calls each text most of the time: its frame, by the script id. `has_file` is
/// known by the numbers of frames.
fn callers(thread: &Thread, frames: &FrameTable, has_file: &[bool]) -> FxHashMap<u32, u32> {
    let frame = |number: u32| &frames.list()[number as usize];
    // By the script id and the URL of the caller: a frame of the caller, and microseconds.
    let mut times: FxHashMap<(u32, &str), (u32, u64)> = FxHashMap::default();
    for profile in &thread.profiles {
        profile.downward(|above: Option<u32>, _, node| {
            let code = frame(node.frame);
            if !code.is_unnamed_text() {
                return if has_file[node.frame as usize] { Some(node.frame) } else { above };
            }
            if let Some(caller) = above {
                let us = profile.times(node).self_us.saturating_add(1);
                let time = times.entry((code.script_id, &frame(caller).url)).or_insert((caller, 0));
                time.1 = time.1.saturating_add(us);
            }
            above
        });
    }
    let mut most: FxHashMap<u32, (u64, &str, u32)> = FxHashMap::default();
    for ((script, url), (caller, us)) in times {
        let known = most.entry(script).or_insert((us, url, caller));
        *known = (*known).max((us, url, caller));
    }
    most.into_iter().map(|(script, (.., caller))| (script, caller)).collect()
}

/// Returns whether a function is one of a file of the program.
fn has_file(frame: &CallFrame) -> bool {
    let is_script = !frame.is_native() && !frame.is_meta() && !frame.url.is_empty();
    is_script
        && !frame.url.starts_with("wasm://")
        && !is_built_in(package_of(&file_path(&frame.url)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::originals::Places;
    use cpu_prof_core::format::url::frame_path;
    use cpu_prof_session::model::thread_profile::{NONE, ProfileNode, ThreadProfile};

    /// Returns a thread with call paths of URLs and script ids, and the time of each path's end in microseconds.
    fn thread(frames: &mut FrameTable, paths: &[(&[(&str, u32)], u64)]) -> Thread {
        let mut profile = ThreadProfile::default();
        for (path, us) in paths {
            let mut parent = NONE;
            for (url, script_id) in *path {
                let (url, line) = ((*url).to_owned(), if *script_id == 0 { -1 } else { 3 });
                let frame = CallFrame {
                    function_name: String::new(),
                    url,
                    script_id: *script_id,
                    line,
                    ..CallFrame::root()
                };
                profile.nodes.push(ProfileNode::new(parent, frames.number(frame)));
                parent = profile.nodes.len() as u32 - 1;
            }
            profile.times_mut(parent).self_us = *us;
        }
        Thread { profiles: vec![profile], ..Thread::default() }
    }

    /// Returns the paths of the innermost functions.
    fn innermost(session: &Session, thread: usize) -> Vec<String> {
        let profile = &session.processes[0].threads[thread].profiles[0];
        let timed = profile.nodes.iter().filter(|node| node.times != NONE);
        timed
            .map(|node| frame_path(&session.frames.list()[node.frame as usize]).into_owned())
            .collect()
    }

    #[test]
    fn a_text_is_of_the_file_that_has_compiled_it() {
        let mut session = Session::default();
        let (own, text) = (("file:///r/a.js", 2), ("", 7));
        let mut thread =
            thread(&mut session.frames, &[(&[own, text], 50), (&[own, text, text], 9)]);
        // Samples from before the text was noted do not know it.
        let node = &mut thread.profiles[0].nodes[1];
        let site = CallFrame { url: "/r/engine.js".into(), line: 672, ..CallFrame::root() };
        let frame = session.frames.list()[node.frame as usize].clone();
        node.frame = session.frames.number(CallFrame { compiler: Some(Box::new(site)), ..frame });
        session.processes.push(Process {
            threads: vec![thread],
            node: Some("v24.0.0".into()),
            ..Process::default()
        });
        find_compilers(&mut session, &mut Originals::new(&Places::default()));
        assert_eq!(innermost(&session, 0), ["/r/engine.js (eval)"; 2]);
        let nodes = &session.processes[0].threads[0].profiles[0].nodes;
        assert_eq!(nodes[1].frame, nodes[4].frame);
    }

    #[test]
    fn a_text_is_of_the_file_that_calls_it_most() {
        let mut session = Session::default();
        let worker = ("file:///r/node_modules/workerpool/worker.js", 1);
        let (own, timers) = (("file:///r/a.js", 2), ("node:internal/timers", 3));
        let main = thread(
            &mut session.frames,
            &[
                (&[own, worker, ("", 7)], 50),
                (&[own, ("", 7)], 20),
                (&[worker, own, ("", 0), timers, ("", 8)], 10),
                (&[own, ("", 8), worker, ("", 9), ("", 9)], 10),
                (&[timers, ("", 10)], 10),
                (&[own, ("evalmachine.<anonymous>", 11)], 10),
                (&[own, ("", 0)], 10),
            ],
        );
        // In another thread, the id is another script's.
        let other = thread(&mut session.frames, &[(&[own, ("", 7)], 1)]);
        let threads = vec![main, other];
        session.processes.push(Process { threads, ..Process::default() });
        let mut originals = Originals::new(&Places::default());
        find_compilers(&mut session, &mut originals);
        assert_eq!(innermost(&session, 1), [""]);
        session.processes[0].node = Some("v24.0.0".into());
        find_compilers(&mut session, &mut originals);
        let (worker, own) = ("/r/node_modules/workerpool/worker.js (eval)", "/r/a.js (eval)");
        assert_eq!(innermost(&session, 0), [worker, worker, own, worker, "(eval)", own, ""]);
        assert_eq!(innermost(&session, 1), [own]);
    }
}
