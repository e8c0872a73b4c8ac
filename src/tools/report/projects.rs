//! The work of projects: of a repository's packages, and of those that TypeScript's compiler builds in
//! one process.

use std::cmp::Reverse;
use std::path::Path;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::json::{ReportCheckedFile, ReportPart, ReportProject};
use super::typescript::{CompilerWork, work_of_nodes};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::process::launchers::stem;
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::sums::ProcessSums;
use crate::analysis::samples::{SampleSpan, spans};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::base::path_text::{ancestors, is_local_file, is_windows, with_slashes};
use cpu_prof_core::base::system::IS_WINDOWS;
use cpu_prof_session::model::Process;
use cpu_prof_session::model::compilation::{COMPILERS, without_config};
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Files in the folder of a project.
const MARKERS: [&str; 2] = ["package.json", "project.json"];

type Map<Key, Value> = IndexMap<Key, Value, FxBuildHasher>;
type Parts = Map<&'static str, u64>;

/// The work of a project, microseconds.
#[derive(Debug, Default)]
struct ProjectWork {
    total_us: u64,
    processes: usize,
    /// CPU time; none if a process worked on several projects, or has no counters.
    cpu_us: Option<u64>,
    phases: Parts,
    constructs: Parts,
    files: Map<String, (u64, Parts)>,
}

/// From a moment on, the project and the file that the compiler works on.
type Change<'a> = (i64, &'a str, Option<&'a str>);

/// Returns the projects with the most work first; `top` files of each. `sums` are those of the processes.
pub(super) fn projects(
    view: &SessionView<'_>,
    sums: &[ProcessSums<'_>],
    top: usize,
) -> Vec<ReportProject> {
    let mut projects: Map<String, ProjectWork> = Map::default();
    for (number, process) in view.shown() {
        let own = project_of(process);
        let mut seen: Vec<usize> = Vec::new();
        for profile in process.threads.iter().flat_map(|thread| &thread.profiles) {
            each_work(profile, &own, &view.index, |path, us, work, file| {
                let entry = projects.entry(path.to_owned());
                let number = entry.index();
                if !seen.contains(&number) {
                    seen.push(number);
                }
                entry.or_default().add(us, work, file);
            });
        }
        let cpu_us = sums[number].cpu.map(|cpu| {
            let others_us = cpu.others_us.unwrap_or_default();
            cpu.javascript_us.saturating_add(cpu.native_us).saturating_add(others_us)
        });
        for number in &seen {
            let project = &mut projects[*number];
            let known_us = cpu_us.filter(|_| seen.len() == 1);
            project.cpu_us = match project.processes {
                0 => known_us,
                _ => project.cpu_us.zip(known_us).map(|(sum, us)| sum.saturating_add(us)),
            };
            project.processes += 1;
        }
    }
    let mut list: Vec<_> = projects.into_iter().map(|(path, work)| row(path, work, top)).collect();
    list.cold_sort_by_key(|project| Reverse(project.total_us));
    list
}

fn row(path: String, work: ProjectWork, top: usize) -> ReportProject {
    let file = |(file, (total_us, constructs)): (String, (u64, Parts))| ReportCheckedFile {
        file,
        total_us,
        constructs: parts(constructs),
    };
    let mut files: Vec<_> = work.files.into_iter().map(file).collect();
    files.cold_sort_by_key(|file| Reverse(file.total_us));
    files.truncate(top);
    ReportProject {
        path,
        processes: work.processes,
        total_us: work.total_us,
        cpu_us: work.cpu_us,
        phases: parts(work.phases),
        constructs: parts(work.constructs),
        files,
    }
}

/// Returns the largest parts first.
fn parts(parts: Parts) -> Vec<ReportPart> {
    let mut list: Vec<_> =
        parts.into_iter().map(|(name, total_us)| ReportPart { name, total_us }).collect();
    list.cold_sort_by_key(|part| Reverse(part.total_us));
    list
}

/// Calls a function with each piece of a profile's work: its project, its length, and the file.
fn each_work(
    profile: &ThreadProfile,
    own: &str,
    index: &FrameIndex,
    mut add: impl FnMut(&str, u64, CompilerWork, Option<&str>),
) {
    let kind = |node: u32| index.kind(profile.nodes[node as usize].frame);
    let works = work_of_nodes(profile, index);
    let changes = changes(profile);
    let mut next = changes.iter().peekable();
    let (mut project, mut file) = (own, None);
    let mut at_us = profile.start_us;
    for SampleSpan { sample, us } in spans(profile, None) {
        let end_us = at_us.saturating_add(us);
        let is_work = sample.node != NONE
            && sample.off_core.is_none()
            && !matches!(kind(sample.node), FrameKind::Idle | FrameKind::Unrecorded);
        let mut from_us = at_us;
        while let Some(&&(change_us, new_project, new_file)) = next.peek()
            && change_us < end_us
        {
            next.next();
            let to_us = change_us.max(from_us);
            if is_work && to_us > from_us {
                add(project, to_us.abs_diff(from_us), works[sample.node as usize], file);
            }
            from_us = to_us;
            (project, file) = (new_project, new_file);
        }
        if is_work && end_us > from_us {
            add(project, end_us.abs_diff(from_us), works[sample.node as usize], file);
        }
        at_us = end_us;
    }
}

/// Returns the changes of project and file that the compiler told, in order.
fn changes(profile: &ThreadProfile) -> Vec<Change<'_>> {
    let mut changes: Vec<Change<'_>> = Vec::new();
    for span in &profile.compiler_spans {
        let project = without_config(&span.project);
        changes.push((span.start_us, project, span.file.as_deref()));
        if span.file.is_some() {
            changes.push((span.end_us, project, None));
        }
    }
    changes.cold_sort_by_key(|(time_us, ..)| *time_us);
    changes
}

impl ProjectWork {
    fn add(&mut self, us: u64, work: CompilerWork, file: Option<&str>) {
        self.total_us += us;
        let CompilerWork { phase, construct } = work;
        if let Some(phase) = phase {
            *self.phases.entry(phase).or_default() += us;
        }
        if let Some(construct) = construct {
            *self.constructs.entry(construct).or_default() += us;
        }
        let Some(file) = file else { return };
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), (0, Parts::default()));
        }
        if let Some((total_us, constructs)) = self.files.get_mut(file) {
            *total_us += us;
            if let Some(construct) = construct {
                *constructs.entry(construct).or_default() += us;
            }
        }
    }
}

/// Returns the project of a process: what `-p` of a compiler names, else the nearest folder of a package
/// around the working directory, else the working directory. Empty if that is not known.
fn project_of(process: &Process) -> String {
    let Some(cwd) = process.cwd.as_deref().map(with_slashes) else { return String::new() };
    if let Some(named) = compiler_project(process) {
        return without_config(&resolved(&cwd, named)).to_owned();
    }
    let is_project = |folder: &&str| {
        let is_there = |name: &&str| {
            let path = format!("{folder}/{name}");
            is_local_file(&path, IS_WINDOWS) && Path::new(&path).is_file()
        };
        MARKERS.iter().any(is_there)
    };
    ancestors(&cwd).find(is_project).unwrap_or(&cwd).to_owned()
}

/// Returns what follows `-p` in the command of a compiler.
fn compiler_project(process: &Process) -> Option<&str> {
    if !COMPILERS.contains(&stem(&process.name)) {
        return None;
    }
    let mut words = process.command.split(' ').skip(1);
    words.find(|word| matches!(*word, "-p" | "--project" | "-b" | "--build"))?;
    let named = words.next().filter(|word| !word.starts_with('-'))?;
    // The command of a build can name several projects.
    words.next().is_none_or(|word| word.starts_with('-')).then_some(named)
}

/// Returns a path that is relative to a folder, with slashes and without dots.
fn resolved(folder: &str, path: &str) -> String {
    let path = with_slashes(path);
    if path.starts_with('/') || is_windows(&path) {
        return path.trim_end_matches('/').to_owned();
    }
    let mut parts: Vec<&str> = folder.trim_end_matches('/').split('/').collect();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.len() > 1 => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::process::sums::process_sums;
    use cpu_prof_core::profile::frame::CallFrame;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use cpu_prof_session::model::builder::ProfileBuilder;
    use cpu_prof_session::model::compilation::CompilerSpan;
    use cpu_prof_session::model::{Session, Thread};

    const TSC: &str = "file:///t/node_modules/typescript/lib/_tsc.js";

    fn process(command: &str, cwd: &str) -> Process {
        let name = command.split(' ').next().unwrap().to_owned();
        Process { name, command: command.into(), cwd: Some(cwd.into()), ..Process::default() }
    }

    /// Adds a process whose stacks last ten milliseconds each.
    fn add(session: &mut Session, process: Process, stacks: &[&[&str]], spans: &[CompilerSpan]) {
        let mut builder = ProfileBuilder::new(0, ReadScope::ALL);
        let mut ids = 0;
        for stack in stacks {
            let mut parent = None;
            for name in *stack {
                let frame = match name.starts_with('(') {
                    true => CallFrame::state(name),
                    false => CallFrame {
                        function_name: (*name).into(),
                        url: TSC.into(),
                        script_id: 7,
                        ..CallFrame::root()
                    },
                };
                ids += 1;
                builder.announce(ids, parent, session.frames.number(frame));
                parent = Some(ids);
            }
            builder.sample(
                ids,
                if ids as usize == stack.len() { 0 } else { 10_000 },
                SourcePosition::default(),
            );
        }
        builder.extend_to(10_000 * stacks.len() as i64);
        let profile = ThreadProfile { compiler_spans: spans.to_vec(), ..builder.finish() };
        let threads = vec![Thread { profiles: vec![profile], ..Thread::default() }];
        session.processes.push(Process { threads, ..process });
    }

    fn span(ms: (i64, i64), project: &str, file: Option<&str>) -> CompilerSpan {
        let (start_us, end_us) = (ms.0 * 1000, ms.1 * 1000);
        CompilerSpan { start_us, end_us, project: project.into(), file: file.map(str::to_owned) }
    }

    fn found(session: &Session) -> Vec<ReportProject> {
        let view = SessionView::of(session);
        projects(&view, &process_sums(&view, false), 10)
    }

    fn listed(parts: &[ReportPart]) -> Vec<(&str, u64)> {
        parts.iter().map(|part| (part.name, part.total_us / 1000)).collect()
    }

    #[test]
    fn a_build_is_split_into_projects_and_files() {
        let mut session = Session::default();
        let check = ["checkSourceFile", "checkVariableDeclaration"];
        let call = ["checkSourceFile", "checkVariableDeclaration", "checkCallExpression"];
        let stacks: &[&[&str]] = &[
            &["executeCommandLine"],
            &["createProgram", "createSourceFile"],
            &check,
            &call,
            &call,
            &["emitFiles"],
            &["createProgram"],
            &call,
            &["(idle)"],
        ];
        let spans = [
            span((10, 10), "/r/a/tsconfig.json", None),
            // A file ends in the middle of a sample.
            span((20, 35), "/r/a/tsconfig.json", Some("/r/a/1.ts")),
            span((35, 50), "/r/a/tsconfig.json", Some("/r/a/2.ts")),
            span((60, 60), "/r/b/tsconfig.json", None),
            span((70, 80), "/r/b/tsconfig.json", Some("/r/b/3.ts")),
        ];
        add(&mut session, process("tsc -b", "/no/such/folder"), stacks, &spans);
        let found = found(&session);
        let times: Vec<_> =
            found.iter().map(|row| (&*row.path, row.total_us / 1000, row.processes)).collect();
        assert_eq!(times, [("/r/a", 50, 1), ("/r/b", 20, 1), ("/no/such/folder", 10, 1)]);
        assert_eq!(listed(&found[0].phases), [("check", 30), ("parse", 10), ("emit", 10)]);
        assert_eq!(listed(&found[0].constructs), [("calls", 20), ("variables", 10)]);
        let files: Vec<_> = found[0]
            .files
            .iter()
            .map(|file| (&*file.file, file.total_us / 1000, listed(&file.constructs)))
            .collect();
        assert_eq!(
            files,
            [
                ("/r/a/1.ts", 15, vec![("variables", 10), ("calls", 5)]),
                ("/r/a/2.ts", 15, vec![("calls", 15)])
            ]
        );
        assert_eq!(listed(&found[1].phases), [("resolve modules", 10), ("check", 10)]);
    }

    #[test]
    fn processes_of_a_project_are_summed() {
        let mut session = Session::default();
        let stacks: &[&[&str]] = &[&["executeCommandLine"], &["(idle)"]];
        add(&mut session, process("tsc -p packages/a", "/no/r"), stacks, &[]);
        add(&mut session, process("eslint src", "/no/r/packages/a"), stacks, &[]);
        add(&mut session, process("eslint src", "/no/r/packages/b"), stacks, &[]);
        let found = found(&session);
        let rows: Vec<_> = found
            .iter()
            .map(|row| (&*row.path, row.processes, row.total_us / 1000, row.cpu_us))
            .collect();
        assert_eq!(rows, [("/no/r/packages/a", 2, 20, None), ("/no/r/packages/b", 1, 10, None)]);
    }

    #[test]
    fn a_compiler_names_its_project() {
        for (command, project) in [
            ("tsc -p tsconfig.lib.json", "/no/r/tsconfig.lib.json"),
            ("tsc -p a/tsconfig.json", "/no/r/a"),
            ("tsc --noEmit --project ./a/../b/ --pretty", "/no/r/b"),
            ("tsc -b packages/a --verbose", "/no/r/packages/a"),
            ("tsc -b packages/a packages/b", "/no/r"),
            ("tsc -b", "/no/r"),
            ("vue-tsc -p /q/c", "/q/c"),
            ("tsc -p ../../../../x", "/x"),
            ("mkdir -p a", "/no/r"),
        ] {
            assert_eq!(project_of(&process(command, "/no/r")), project, "{command}");
        }
    }

    #[test]
    fn a_package_is_around_its_processes() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("packages").join("a");
        std::fs::create_dir_all(package.join("src").join("deep")).unwrap();
        std::fs::write(package.join("package.json"), "{}").unwrap();
        let text = |path: &Path| with_slashes(path.to_str().unwrap()).into_owned();
        let inside = text(&package.join("src").join("deep"));
        assert_eq!(project_of(&process("eslint .", &inside)), text(&package));
        // A share is never opened.
        assert_eq!(project_of(&process("eslint .", "//server/share/a")), "//server/share/a");
        assert_eq!(project_of(&Process::default()), "");
    }
}
