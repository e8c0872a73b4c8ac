//! The comments of our files: the tool, and facts about each process that are the same for all of its
//! samples: `command: nx run-many (pid 4242)`.

use crate::formats::trace::read::process_names::without_pid;
use crate::model::Process;
use cpu_prof_core::profile::label::pid_mark;

/// The start of the first comment, before the version.
const TOOL: &str = "cpu-prof ";
const COMMAND: &str = "command: ";
const NODE: &str = "node: ";
const FOLDER: &str = "folder: ";

/// Returns the comments of a file with these processes.
pub(super) fn comments(processes: &[Process]) -> Vec<String> {
    let mut comments = vec![format!("{TOOL}{}", env!("CARGO_PKG_VERSION"))];
    for process in processes {
        let mark = pid_mark(process.pid);
        let facts = [
            (COMMAND, Some(process.command.as_str())),
            (NODE, process.node.as_deref()),
            (FOLDER, process.cwd.as_deref()),
        ];
        let known = facts.into_iter().filter_map(|(key, value)| value.map(|value| (key, value)));
        comments.extend(known.map(|(key, value)| format!("{key}{value} {mark}")));
    }
    comments
}

/// Returns whether a comment is that of our tool.
pub(super) fn is_ours(comment: &str) -> bool {
    comment.starts_with(TOOL)
}

/// Gives a process the facts that comments have about it. The first of each kind counts.
pub(super) fn read(comments: &[String], process: &mut Process) {
    let mark = pid_mark(process.pid);
    for comment in comments.iter().filter(|comment| comment.ends_with(&mark)) {
        let fact = |key: &str| Some(without_pid(comment)?.strip_prefix(key)?.to_owned());
        if let Some(command) = fact(COMMAND)
            && process.command == process.name
        {
            process.command = command;
        }
        process.node = process.node.take().or_else(|| fact(NODE));
        process.cwd = process.cwd.take().or_else(|| fact(FOLDER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_about_processes_come_back() {
        let process = |pid, command: &str| Process {
            pid,
            name: "nx".into(),
            command: command.into(),
            node: Some("v24.0.0".into()),
            cwd: Some("/r (pid 1)".into()),
            ..Process::default()
        };
        let all = [process(1, "nx run (pid 2)"), process(2, "nx"), process(0, "nx b")];
        let comments = comments(&all);
        assert!(is_ours(&comments[0]) && !is_ours(&comments[1]));
        for original in all {
            let name = "nx".to_owned();
            let mut read_back =
                Process { pid: original.pid, command: name.clone(), name, ..Process::default() };
            read(&comments, &mut read_back);
            assert_eq!(read_back.command, original.command);
            assert_eq!((read_back.node, read_back.cwd), (original.node, original.cwd));
        }
    }
}
