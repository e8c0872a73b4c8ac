//! Recognizes launchers: programs that start other programs, and whose own time says nothing about
//! them.

use cpu_prof_session::model::{Process, Session};

/// Programs that start what their arguments name.
const LAUNCHERS: [&str; 20] = [
    "npm",
    "npm-cli",
    "npx",
    "npx-cli",
    "pnpm",
    "pnpx",
    "yarn",
    "yarnpkg",
    "corepack",
    "turbo",
    "run-executor",
    "nx-run-executor",
    "npm-run-all",
    "run-s",
    "run-p",
    "concurrently",
    "cross-env",
    "dotenv",
    "wireit",
    "node-gyp-build",
];

/// Commands of package managers that are work of their own.
pub(crate) const WORK: [&str; 14] = [
    "install", "i", "ci", "add", "update", "up", "upgrade", "dedupe", "prune", "audit", "outdated",
    "pack", "publish", "rebuild",
];

/// Returns for each process whether it is a launcher of another recorded process. `parents` are the
/// indices of the recorded processes above.
pub(super) fn launchers(session: &Session, parents: &[Option<usize>]) -> Vec<bool> {
    let processes = &session.processes;
    let can_launch: Vec<bool> = processes.iter().map(can_launch).collect();
    let mut is_launcher = vec![false; processes.len()];
    for start in (0..processes.len()).filter(|index| !can_launch[*index]) {
        let mut at = start;
        // Parents start earlier, so this ends. A limit guards against files that say otherwise.
        for _ in 0..processes.len() {
            let Some(parent) = parents[at] else { break };
            is_launcher[parent] = can_launch[parent];
            at = parent;
        }
    }
    is_launcher
}

fn can_launch(process: &Process) -> bool {
    let mut words = process.command.split(' ').skip(1).filter(|word| !word.starts_with('-'));
    LAUNCHERS.contains(&stem(&process.name))
        && !words.next().is_some_and(|word| WORK.contains(&word))
}

/// Returns `pnpm` of `pnpm.cjs`, and `npm` of `npm.cmd`.
pub fn stem(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    ["js", "cjs", "mjs", "cmd", "exe"]
        .iter()
        .find_map(|end| name.strip_suffix(end)?.strip_suffix('.'))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(command: &str) -> Process {
        let name = command.split(' ').next().unwrap().to_owned();
        Process { name, command: command.to_owned(), ..Process::default() }
    }

    fn found(commands: &[(&str, Option<usize>)]) -> Vec<bool> {
        let processes = commands.iter().map(|(command, _)| process(command)).collect();
        let parents: Vec<_> = commands.iter().map(|(_, parent)| *parent).collect();
        launchers(&Session { processes, ..Session::default() }, &parents)
    }

    #[test]
    fn a_launcher_starts_another_program() {
        let npm = [("npm run build", None), ("npm-cli.js -s run tsc", Some(0)), ("tsc", Some(1))];
        assert_eq!(found(&npm), [true, true, false]);
        assert_eq!(found(&[("npm run build", None), ("npm run x", Some(0))]), [false, false]);
        assert_eq!(found(&[("webpack", None), ("terser", Some(0))]), [false, false]);
    }

    #[test]
    fn an_installation_is_work() {
        assert_eq!(found(&[("npm ci", None), ("postinstall.js", Some(0))]), [false, false]);
        assert_eq!(found(&[("pnpm -r install", None), ("x.js", Some(0))]), [false, false]);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        assert_eq!(found(&[("tsc", Some(1)), ("npm x", Some(0))]), [false, true]);
    }
}
