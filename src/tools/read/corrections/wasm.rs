//! The packages of WebAssembly, whose address names no file: `wasm://wasm/0d1f2a`.

use std::mem;

use rustc_hash::FxHashMap;

use cpu_prof_core::format::url::file_path;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::package::{is_built_in, is_users, package_of};
use cpu_prof_session::model::Session;

/// Gives modules of WebAssembly to the package whose JavaScript calls them most of the time: packages
/// ship their modules with the code that starts them, and export functions of this code.
pub(in crate::read) fn charge_modules(session: &mut Session) {
    let frames = session.frames.list();
    if !frames.iter().any(is_module) {
        return;
    }
    let is_passing: Vec<bool> =
        frames.iter().map(|frame| is_module(frame) || is_built_in(&package(frame))).collect();
    // By the address of the module and the package of the caller, microseconds.
    let mut times_us: FxHashMap<(&str, String), u64> = FxHashMap::default();
    let threads = session.processes.iter().flat_map(|process| &process.threads);
    for profile in threads.flat_map(|thread| &thread.profiles) {
        profile.downward(|above: Option<u32>, _, node| {
            let frame = &frames[node.frame as usize];
            if let Some(caller) = above.filter(|_| is_module(frame)) {
                let caller = package(&frames[caller as usize]);
                let us = times_us.entry((&frame.url, caller)).or_default();
                *us = us.saturating_add(profile.times(node).self_us);
            }
            if is_passing[node.frame as usize] { above } else { Some(node.frame) }
        });
    }
    let mut most: FxHashMap<&str, (u64, &str)> = FxHashMap::default();
    for ((module, package), us) in &times_us {
        let known = most.entry(module).or_insert((*us, package));
        *known = (*known).max((*us, package));
    }
    let packages: FxHashMap<String, Box<str>> = most
        .into_iter()
        .filter(|(_, (_, package))| !is_users(package))
        .map(|(module, (_, package))| (module.to_owned(), package.into()))
        .collect();
    if !packages.is_empty() {
        set_packages(session, &packages);
    }
}

/// Gives the modules with these addresses their packages.
fn set_packages(session: &mut Session, packages: &FxHashMap<String, Box<str>>) {
    let frames = mem::take(&mut session.frames);
    let numbers: Vec<u32> = frames
        .into_list()
        .map(|frame| {
            let package = packages.get(&frame.url).cloned().or(frame.package);
            session.frames.number(CallFrame { package, ..frame })
        })
        .collect();
    let threads = session.processes.iter_mut().flat_map(|process| &mut process.threads);
    for profile in threads.flat_map(|thread| &mut thread.profiles) {
        for node in &mut profile.nodes {
            node.frame = numbers[node.frame as usize];
        }
    }
}

fn is_module(frame: &CallFrame) -> bool {
    frame.url.starts_with("wasm://") && frame.package.is_none()
}

fn package(frame: &CallFrame) -> String {
    match &frame.package {
        Some(package) => package.to_string(),
        None => package_of(&file_path(&frame.url)).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::model::thread_profile::{NONE, ProfileNode, ThreadProfile};
    use cpu_prof_session::model::{Process, Thread};

    /// Returns the packages of the modules in a session of call paths with their times: frames by
    /// their URLs.
    fn packages(paths: &[(&[&str], u64)]) -> Vec<(String, Option<String>)> {
        let mut session = Session::default();
        let mut profile = ThreadProfile::default();
        for (urls, us) in paths {
            let mut parent = NONE;
            for url in *urls {
                let frame = CallFrame {
                    url: (*url).to_owned(),
                    script_id: 1,
                    line: 0,
                    ..CallFrame::root()
                };
                let frame = session.frames.number(frame);
                profile.nodes.push(ProfileNode::new(parent, frame));
                parent = profile.nodes.len() as u32 - 1;
            }
            profile.times_mut(parent).self_us = *us;
        }
        let thread = Thread { profiles: vec![profile], ..Thread::default() };
        session.processes.push(Process { threads: vec![thread], ..Process::default() });
        charge_modules(&mut session);
        let profile = &session.processes[0].threads[0].profiles[0];
        let leaves = profile.nodes.iter().map(|node| &session.frames.list()[node.frame as usize]);
        leaves
            .filter(|frame| frame.url.starts_with("wasm://"))
            .map(|frame| (frame.url.clone(), frame.package.as_deref().map(str::to_owned)))
            .collect()
    }

    #[test]
    fn a_module_is_of_the_package_that_calls_it_most() {
        let glue = "file:///r/node_modules/@s/wasm-lib/glue.js";
        let found = packages(&[
            (&["file:///r/a.js", glue, "wasm://wasm/1", "wasm://wasm/1"], 50),
            (&["file:///r/a.js", "wasm://wasm/1"], 20),
            (&[glue, "node:vm", "", "wasm://wasm/1"], 1),
            (&[glue, "file:///r/b.js", "wasm://wasm/2"], 10),
            (&["wasm://wasm/3"], 10),
        ]);
        let of = |module: &str| {
            let packages = found.iter().filter(|(url, _)| url == module);
            packages.map(|(_, package)| package.as_deref()).collect::<Vec<_>>()
        };
        assert_eq!(of("wasm://wasm/1"), [Some("@s/wasm-lib"); 4]);
        assert_eq!(of("wasm://wasm/2"), [None]);
        assert_eq!(of("wasm://wasm/3"), [None]);
    }
}
