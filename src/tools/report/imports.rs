//! The modules by the time that loading them took, from samples.
//!
//! The code of a module runs directly below its loader. Time in the loader below a module belongs to
//! the module that runs next there; the loader reads and compiles the file first. ES modules are
//! compiled before any of them runs, so the time of their loader is not shared out.

use std::cmp::Reverse;
use std::mem;

use rustc_hash::FxHashMap;

use super::json::ReportImport;
use crate::shared::frame_index::FrameIndex;
use crate::shared::launchers::shown_profiles;
use cpu_prof_core::profile::session::Session;
use cpu_prof_core::profile::session::thread_profile::{NONE, ThreadProfile};

/// Levels of the tree: writers and readers of JSON recurse.
const MAX_LEVELS: usize = 200;
/// Part of the whole time that a module needs.
const ENOUGH: f64 = 0.002;
/// Files of Node's loaders.
const LOADERS: &str = "node:internal/modules/";
/// The loader of CommonJS modules.
const CJS_LOADER: &str = "node:internal/modules/cjs/loader";

/// A path of modules, each of which loads the next.
#[derive(Default)]
struct ImportPath {
    /// File of the last module; none for the loader of ES modules.
    file: Option<usize>,
    above: Option<usize>,
    load_us: u64,
    run_us: u64,
    children: Vec<usize>,
}

/// The modules of all threads.
#[derive(Default)]
struct Imports {
    paths: Vec<ImportPath>,
    numbers: FxHashMap<(Option<usize>, Option<usize>), usize>,
}

/// What is known of the stack that ends with a node.
#[derive(Clone, Copy, Default)]
struct LoadStack {
    /// Path of the modules that are running.
    module: Option<usize>,
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
pub(super) fn imports<'a>(
    session: &Session,
    launchers: &[bool],
    index: &'a FrameIndex,
) -> Vec<ReportImport<'a>> {
    let mut imports = Imports::default();
    for profile in shown_profiles(session, launchers) {
        imports.add(profile, index);
    }
    let totals = imports.totals();
    let roots: Vec<usize> =
        (0..imports.paths.len()).filter(|path| imports.paths[*path].above.is_none()).collect();
    let whole_us: u64 = roots.iter().map(|root| totals[*root]).sum();
    let least_us = ((whole_us as f64 * ENOUGH) as u64).max(1);
    imports.report(&roots, &totals, least_us, MAX_LEVELS, index)
}

impl Imports {
    fn add(&mut self, profile: &ThreadProfile, index: &FrameIndex) {
        let mut stacks: Vec<LoadStack> = Vec::with_capacity(profile.nodes.len());
        for node in &profile.nodes {
            let above = match node.parent {
                NONE => LoadStack::default(),
                parent => stacks[parent as usize],
            };
            stacks.push(self.below(above, node.frame, index));
        }
        // Time of the loader that the next module gets, and the module that it works for.
        let (mut waiting, mut waiting_us) = (None, 0);
        for (number, sample) in profile.samples.iter().enumerate() {
            if sample.node == NONE {
                continue;
            }
            let next = profile.samples.get(number + 1);
            let end_us = next.map_or(profile.end_us, |next| next.time_us);
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
            if self.paths[module].above == waiting && !stack.is_esm {
                self.paths[module].load_us += waited_us;
            } else {
                self.load(waiting, waited_us);
            }
            self.paths[module].run_us += us;
        }
        self.load(waiting, waiting_us);
    }

    /// Adds time of the loader below a module in which no other module ran.
    fn load(&mut self, module: Option<usize>, us: u64) {
        if us > 0 {
            let path = module.unwrap_or_else(|| self.number(None, None));
            self.paths[path].load_us += us;
        }
    }

    /// Returns the stack with one more frame.
    fn below(&mut self, above: LoadStack, frame: u32, index: &FrameIndex) -> LoadStack {
        let Some(function) = index.function(frame) else { return above };
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
            let module = Some(self.number(above.module, Some(function.file)));
            let is_esm = above.runner == Runner::Esm;
            return LoadStack { module, is_esm, ..LoadStack::default() };
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

    fn number(&mut self, above: Option<usize>, file: Option<usize>) -> usize {
        let next = self.paths.len();
        let number = *self.numbers.entry((above, file)).or_insert(next);
        if number == next {
            self.paths.push(ImportPath { file, above, ..ImportPath::default() });
            if let Some(above) = above {
                self.paths[above].children.push(number);
            }
        }
        number
    }

    /// Returns the time of each path with what it loads.
    fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> =
            self.paths.iter().map(|path| path.load_us + path.run_us).collect();
        // A path has a larger number than the path above.
        for number in (0..self.paths.len()).rev() {
            if let Some(above) = self.paths[number].above {
                totals[above] += totals[number];
            }
        }
        totals
    }

    fn report<'a>(
        &self,
        paths: &[usize],
        totals: &[u64],
        least_us: u64,
        levels: usize,
        index: &'a FrameIndex,
    ) -> Vec<ReportImport<'a>> {
        let mut shown = paths.to_vec();
        shown.retain(|path| levels > 0 && totals[*path] >= least_us);
        shown.sort_by_key(|path| (Reverse(totals[*path]), *path));
        let import = |path: usize| {
            let ImportPath { file, load_us, run_us, children, .. } = &self.paths[path];
            let file = file.map(|file| &index.files[file]);
            ReportImport {
                file: file.map_or("", |file| &file.path),
                package: file.map_or("", |file| &index.packages[file.package]),
                load_us: *load_us,
                run_us: *run_us,
                total_us: totals[path],
                children: self.report(children, totals, least_us, levels - 1, index),
            }
        };
        shown.into_iter().map(import).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::frame::CallFrame;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::session::builder::ProfileBuilder;
    use cpu_prof_core::profile::session::thread_profile::ReadScope;
    use cpu_prof_core::profile::session::{Process, Thread};

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
        let index = FrameIndex::of(&session.frames);
        let mut rows = Vec::new();
        flatten(&imports(&session, &[false], &index), 0, &mut rows);
        rows
    }

    fn flatten(
        imports: &[ReportImport<'_>],
        level: usize,
        rows: &mut Vec<(usize, String, u64, u64, u64)>,
    ) {
        for ReportImport { file, load_us, run_us, total_us, children, .. } in imports {
            let ms = |us: &u64| us / 1000;
            rows.push((level, (*file).to_owned(), ms(load_us), ms(run_us), ms(total_us)));
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
