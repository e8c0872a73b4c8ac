//! The work of npm scripts and of the targets of nx and turbo, by the commands above processes.

use std::cmp::Reverse;

use super::json::ReportScript;
use crate::analysis::process::launchers::{WORK, stem};
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::times::thread_times;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_session::model::Process;

/// Commands of a package manager that run a script of this name.
const SCRIPTS: [&str; 5] = ["test", "start", "stop", "restart", "build"];
/// Commands that run a script which the next word names.
const RUN: [&str; 3] = ["run", "run-script", "rum"];
/// Package managers.
const MANAGERS: [&str; 6] = ["npm", "npm-cli", "pnpm", "yarn", "yarnpkg", "bun"];

/// Returns the scripts with the most work first. A process works for the nearest script above.
pub(super) fn scripts<'a>(view: &SessionView<'a>) -> Vec<ReportScript<'a>> {
    let mut names = FxIndexSet::default();
    let mut work: Vec<(u64, usize)> = Vec::new();
    for (number, process) in view.shown() {
        let Some(script) = script_above(view, number) else { continue };
        let script = names.insert_full(script).0;
        work.resize(names.len(), (0, 0));
        let of_thread = |thread| thread_times(thread, &view.index).work_us();
        work[script].0 += process.threads.iter().map(of_thread).sum::<u64>();
        work[script].1 += 1;
    }
    let named = names.into_iter().zip(work);
    let script =
        |((name, cwd), (total_us, processes))| ReportScript { name, cwd, processes, total_us };
    let mut list: Vec<_> = named.map(script).collect();
    list.cold_sort_by_key(|script| Reverse(script.total_us));
    list
}

/// Returns the name and the folder of the nearest script that a process runs for.
fn script_above<'a>(
    view: &SessionView<'a>,
    mut number: usize,
) -> Option<(&'a str, Option<&'a str>)> {
    let processes = &view.session.processes;
    // Parents start earlier, so this ends. A limit guards against files that say otherwise.
    for _ in 0..processes.len() {
        let above = view.parents[number]?;
        if let Some(name) = script_of(&processes[above]) {
            return Some((name, processes[number].cwd.as_deref()));
        }
        number = above;
    }
    None
}

/// Returns the script or target that a command runs.
fn script_of(process: &Process) -> Option<&str> {
    let words: Vec<&str> = process.command.split(' ').skip(1).collect();
    let mut plain = words.iter().copied().filter(|word| !word.starts_with('-'));
    match stem(&process.name) {
        "nx" => target(&words),
        "turbo" => plain.find(|word| *word != "run"),
        name if MANAGERS.contains(&name) => {
            let first = plain.next()?;
            if RUN.contains(&first) {
                return plain.next();
            }
            // `yarn lint` and `pnpm lint` run the script `lint`.
            let is_script = SCRIPTS.contains(&first) || !name.starts_with("npm");
            (is_script && !WORK.contains(&first) && first != "exec").then_some(first)
        }
        _ => None,
    }
}

/// Returns the target of `nx run-many -t lint`, `nx run app:lint` and `nx lint app`.
fn target<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut at = words.iter();
    while let Some(word) = at.next() {
        if matches!(*word, "-t" | "--target" | "--targets") {
            return at.next().copied();
        }
        let value = ["-t=", "--target=", "--targets="].iter().find_map(|on| word.strip_prefix(on));
        if value.is_some() {
            return value;
        }
    }
    let mut plain = words.iter().copied().filter(|word| !word.starts_with('-'));
    match plain.next()? {
        "run" => plain.next()?.split(':').nth(1),
        "run-many" | "affected" => None,
        name => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::model::Session;

    fn process(command: &str, cwd: &str) -> Process {
        let name = command.split(' ').next().unwrap().to_owned();
        let cwd = Some(cwd.to_owned());
        Process { name, command: command.to_owned(), cwd, ..Process::default() }
    }

    /// Returns the scripts of processes without any work.
    fn found<'a>(session: &'a Session, parents: &[Option<usize>]) -> Vec<ReportScript<'a>> {
        scripts(&SessionView::with_parents(session, parents.to_vec()))
    }

    #[test]
    fn commands_run_scripts() {
        for (command, script) in [
            ("npm run lint", Some("lint")),
            ("npm-cli.js -s run build --workspaces", Some("build")),
            ("npm test", Some("test")),
            ("npm install", None),
            ("npm exec tsc", None),
            ("yarn lint", Some("lint")),
            ("pnpm -r run build", Some("build")),
            ("pnpm install", None),
            ("nx run-many -t lint", Some("lint")),
            ("nx run-many --target=lint --parallel=2", Some("lint")),
            ("nx run app:build", Some("build")),
            ("nx build app", Some("build")),
            ("turbo run build", Some("build")),
            ("eslint src", None),
            ("npm", None),
        ] {
            assert_eq!(script_of(&process(command, "/r")), script, "{command}");
        }
    }

    #[test]
    fn a_process_works_for_the_nearest_script_above() {
        let processes = vec![
            process("npm run all", "/r"),
            process("nx run-many -t lint", "/r"),
            process("npm run lint", "/r/a"),
            process("eslint src", "/r/a"),
            process("eslint src", "/r/b"),
            process("lone", "/r"),
        ];
        let session = Session { processes, ..Session::default() };
        let parents = [None, Some(0), Some(1), Some(2), Some(1), None];
        let found = found(&session, &parents);
        let found: Vec<_> =
            found.iter().map(|script| (script.name, script.cwd, script.processes)).collect();
        assert_eq!(
            found,
            [("all", Some("/r"), 1), ("lint", Some("/r/a"), 1), ("lint", Some("/r/b"), 1)]
        );
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let processes = vec![process("a", "/r"), process("b", "/r")];
        let session = Session { processes, ..Session::default() };
        assert!(found(&session, &[Some(1), Some(0)]).is_empty());
    }
}
