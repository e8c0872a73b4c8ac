//! The modules by the time that loading them took, from samples.
//!
//! The code of a module runs directly below its loader. Time in the loader below a module belongs to
//! the module that runs next there; the loader reads and compiles the file first. ES modules are
//! compiled before any of them runs, so the time of their loader is not shared out.

use std::mem;

use super::json::ReportImport;
use super::tree::branches;
use crate::analysis::frame_index::FrameIndex;
use crate::analysis::json::ms;
use crate::analysis::path_tree::PathTree;
use crate::analysis::process::session_view::SessionView;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Part of the whole time that a module needs.
const ENOUGH: f64 = 0.002;
/// Files of Node's loaders.
const LOADERS: &str = "node:internal/modules/";
/// The loader of CommonJS modules.
const CJS_LOADER: &str = "node:internal/modules/cjs/loader";

/// Times of a module, microseconds.
#[derive(Clone, Copy, Default)]
struct ModuleTimes {
    load_us: u64,
    run_us: u64,
    total_us: u64,
}

/// The modules of all threads, as paths of files, each of which loads the next. The loader of ES
/// modules has no file.
#[derive(Default)]
struct Imports(PathTree<Option<usize>, ModuleTimes>);

/// What is known of the stack that ends with a node.
#[derive(Clone, Copy, Default)]
struct LoadStack {
    /// Path of the modules that are running.
    module: Option<u32>,
    /// Path of the modules that were running when the last of them began.
    above: Option<u32>,
    /// Whether the last of them is an ES module.
    is_esm: bool,
    /// Whether the loader is at work for the last module.
    is_loading: bool,
    runner: Runner,
}

/// What the next function on the stack is, if it has no name.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Runner {
    #[default]
    None,
    /// V8's function that runs ES modules, if the loader of ES modules called it.
    EsmLoader,
    /// The code of a CommonJS module, if the function has no name and is a file's first.
    CjsLoader,
    /// The code of a CommonJS module.
    CommonJs,
    /// The code of an ES module.
    Esm,
}

/// Returns the modules of all threads but those of launchers, the longest first.
pub(super) fn imports<'a>(view: &'a SessionView<'_>) -> Vec<ReportImport<'a>> {
    let index = &view.index;
    let mut imports = Imports::default();
    for profile in view.shown_profiles() {
        imports.add(profile, index);
    }
    let mut paths: Vec<_> = imports.0.list().map(|(above, file, us)| (above, file, *us)).collect();
    // A path has a larger number than the path above.
    for number in (0..paths.len()).rev() {
        let (above, _, times) = &mut paths[number];
        times.total_us += times.load_us + times.run_us;
        let (above, total_us) = (*above, times.total_us);
        if let Some(above) = above {
            paths[above as usize].2.total_us += total_us;
        }
    }
    let row = |file: Option<usize>, times: ModuleTimes, children| {
        let file = file.map(|file| &index.files[file]);
        ReportImport {
            file: file.map_or("", |file| &file.path),
            package: file.map_or("", |file| &index.packages[file.package]),
            load_ms: ms(times.load_us),
            run_ms: ms(times.run_us),
            total_ms: ms(times.total_us),
            children,
        }
    };
    branches(&paths, |times| (times.total_us, 0), ENOUGH, row)
}

impl Imports {
    fn add(&mut self, profile: &ThreadProfile, index: &FrameIndex) {
        let stacks = profile.downward(|above, _, node| self.below(above, node.frame, index));
        // Time of the loader that the next module gets, and the module that it works for.
        let (mut waiting, mut waiting_us) = (None, 0);
        let mut samples = profile.samples.iter().peekable();
        while let Some(sample) = samples.next() {
            if sample.node == NONE {
                continue;
            }
            let end_us = samples.peek().map_or(profile.end_us, |next| next.time_us);
            let us = u64::try_from(end_us.saturating_sub(sample.time_us)).unwrap_or(0);
            let stack = stacks[sample.node as usize];
            if stack.is_loading {
                if waiting != stack.module {
                    self.load(waiting, mem::take(&mut waiting_us));
                }
                (waiting, waiting_us) = (stack.module, waiting_us + us);
                continue;
            }
            let Some(module) = stack.module else { continue };
            let waited_us = mem::take(&mut waiting_us);
            if stack.above == waiting && !stack.is_esm {
                self.0.value(module).load_us += waited_us;
            } else {
                self.load(waiting, waited_us);
            }
            self.0.value(module).run_us += us;
        }
        self.load(waiting, waiting_us);
    }

    /// Adds time of the loader below a module in which no other module ran.
    fn load(&mut self, module: Option<u32>, us: u64) {
        if us > 0 {
            let path = module.unwrap_or_else(|| self.0.path(None, None).0);
            self.0.value(path).load_us += us;
        }
    }

    /// Returns the stack with one more frame.
    fn below(&mut self, above: LoadStack, frame: u32, index: &FrameIndex) -> LoadStack {
        let function = index.function(frame).filter(|function| !index.is_in_module(*function));
        let Some(function) = function else { return above };
        let function = &index.functions[function];
        let (name, path) = (function.name.as_str(), index.files[function.file].path.as_str());
        let is_code = !path.is_empty() && !path.starts_with(LOADERS);
        // Node 26 has no name for the function of the loader that runs a module.
        let is_first = function.name == "(anonymous)" && function.line <= 1;
        let is_module = match above.runner {
            Runner::CommonJs | Runner::Esm => is_code,
            Runner::CjsLoader => is_code && is_first,
            _ => false,
        };
        if is_module {
            let module = Some(self.0.path(above.module, Some(function.file)).0);
            let (above, is_esm) = (above.module, above.runner == Runner::Esm);
            return LoadStack { module, above, is_esm, ..LoadStack::default() };
        }
        let package = index.packages[index.files[function.file].package].as_str();
        let runner = match name {
            _ if path == CJS_LOADER => Runner::CjsLoader,
            "evaluate" if path.is_empty() && above.runner == Runner::EsmLoader => Runner::Esm,
            "_execModule" if package == "jest-runtime" => Runner::CommonJs,
            _ if path.starts_with("node:internal/modules/esm/") => Runner::EsmLoader,
            _ => Runner::None,
        };
        let is_loading = above.is_loading || path.starts_with(LOADERS);
        LoadStack { is_loading, runner, ..above }
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::*;
    use cpu_prof_core::profile::frame::CallFrame;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use cpu_prof_session::model::builder::ProfileBuilder;
    use cpu_prof_session::model::{Process, Session, Thread};

    /// Returns file, load, run and total of each module, with its level, for stacks of a millisecond.
    fn found(stacks: &[&[(&str, &str)]]) -> Vec<(usize, String, u64, u64, u64)> {
        let mut session = Session::default();
        let mut builder = ProfileBuilder::new(0, ReadScope::ALL);
        let mut ids: FxHashMap<Vec<(&str, &str)>, u64> = FxHashMap::default();
        for stack in stacks {
            let mut parent = None;
            for end in 1..=stack.len() {
                let next = ids.len() as u64 + 1;
                let id = *ids.entry(stack[..end].to_vec()).or_insert(next);
                let (function_name, url) = stack[end - 1];
                let (function_name, url) = (function_name.to_owned(), url.to_owned());
                let frame = CallFrame { function_name, url, script_id: 7, ..CallFrame::root() };
                builder.announce(id, parent, session.frames.number(frame));
                parent = Some(id);
            }
            builder.sample(parent.unwrap(), 1000, SourcePosition::default());
        }
        builder.extend_to(1000 * (stacks.len() as i64 + 1));
        let profiles = vec![builder.finish()];
        let threads = vec![Thread { profiles, ..Thread::default() }];
        session.processes.push(Process { threads, ..Process::default() });
        let mut rows = Vec::new();
        flatten(&imports(&SessionView::of(&session)), 0, &mut rows);
        rows
    }

    fn flatten(
        imports: &[ReportImport<'_>],
        level: usize,
        rows: &mut Vec<(usize, String, u64, u64, u64)>,
    ) {
        for ReportImport { file, load_ms, run_ms, total_ms, children, .. } in imports {
            let [load, run, total] = [load_ms, run_ms, total_ms].map(|ms| *ms as u64);
            rows.push((level, (*file).to_owned(), load, run, total));
            flatten(children, level + 1, rows);
        }
    }

    fn row(
        level: usize,
        file: &str,
        load: u64,
        run: u64,
        total: u64,
    ) -> (usize, String, u64, u64, u64) {
        (level, file.to_owned(), load, run, total)
    }

    const COMPILE: (&str, &str) = ("Module._compile", CJS_LOADER);
    const WRAP: (&str, &str) = ("wrapSafe", CJS_LOADER);
    const MAIN: (&str, &str) = ("", "/r/main.js");
    const A: (&str, &str) = ("", "/r/a.js");

    #[test]
    fn a_module_has_the_time_of_its_loader_and_of_its_code() {
        let rows = found(&[
            &[COMPILE, WRAP],
            &[COMPILE, MAIN],
            &[COMPILE, MAIN, COMPILE, WRAP],
            &[COMPILE, MAIN, COMPILE, WRAP],
            &[COMPILE, MAIN, COMPILE, A],
            &[COMPILE, MAIN, COMPILE, A, ("work", "/r/b.js")],
            &[COMPILE, MAIN, ("work", "/r/b.js")],
            // Nothing of the second module was seen.
            &[COMPILE, MAIN, COMPILE, WRAP],
            &[COMPILE, MAIN],
            &[("later", "/r/a.js")],
        ]);
        assert_eq!(rows, [row(0, "/r/main.js", 2, 3, 9), row(1, "/r/a.js", 2, 2, 4)]);
    }

    #[test]
    fn es_modules_run_below_their_loader() {
        let run = ("run", "node:internal/modules/esm/module_job");
        let translate = ("translate", "node:internal/modules/esm/translators");
        let evaluate = ("evaluate", "");
        let rows = found(&[
            &[translate],
            &[translate],
            &[run, evaluate, ("", "file:///r/a.mjs")],
            &[run, evaluate, ("", "file:///r/main.mjs")],
            &[run, evaluate, ("", "file:///r/main.mjs"), ("f", "file:///r/a.mjs")],
        ]);
        assert_eq!(
            rows,
            [row(0, "/r/main.mjs", 0, 2, 2), row(0, "", 2, 0, 2), row(0, "/r/a.mjs", 0, 1, 1)]
        );
    }
}
