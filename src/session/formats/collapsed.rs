//! Writes collapsed stacks, as FlameGraph and inferno read them: a line for each stack, with its
//! frames from the root, semicolons between them, and a weight. Weights are microseconds.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::model::frame_table::FrameTable;
use crate::model::thread_profile::NONE;
use crate::model::{Process, Session, Thread};
use cpu_prof_core::base::path_text::below;
use cpu_prof_core::format::url::numbered_path;
use cpu_prof_core::profile::frame::CallFrame;

/// Writes all threads. The root of each stack is its process and thread. A stack with labels has them below the root.
pub(super) fn write(session: &Session, _: &str, out: &mut dyn Write) -> io::Result<()> {
    for process in &session.processes {
        for thread in &process.threads {
            write_thread(session, process, thread, out)?;
        }
    }
    Ok(())
}

fn write_thread(
    session: &Session,
    process: &Process,
    thread: &Thread,
    out: &mut dyn Write,
) -> io::Result<()> {
    let root = one_field(&format!("{} - {}", process.label(), thread.full_name()));
    let mut labels: FxHashMap<u32, Rc<str>> = FxHashMap::default();
    let (mut stack, mut line) = (Vec::new(), String::new());
    for profile in &thread.profiles {
        for (number, node) in (0_u32..).zip(&profile.nodes) {
            // The format has no states: a blocked call has its time as other calls have theirs.
            let us = profile.times(node).all_us();
            if us == 0 || node.frame == FrameTable::ROOT {
                continue;
            }
            stack.clear();
            let mut at = Some(node);
            while let Some(node) = at {
                stack.push(node.frame);
                at = (node.parent != NONE).then(|| &profile.nodes[node.parent as usize]);
            }
            line.clear();
            line.push_str(&root);
            if let Some(labels) = session.labels.get(profile.labels(number)) {
                line.push(';');
                line.push_str(&one_field(&labels.to_string()));
            }
            for number in stack.iter().rev().filter(|number| **number != FrameTable::ROOT) {
                let frame = &session.frames.list()[*number as usize];
                let label = labels
                    .entry(*number)
                    .or_insert_with(|| label(frame, process.cwd.as_deref()).into());
                line.push(';');
                line.push_str(label);
            }
            writeln!(out, "{line} {us}")?;
        }
    }
    Ok(())
}

/// Returns a frame's label: `parse (src/a.js:12)`.
fn label(frame: &CallFrame, cwd: Option<&str>) -> String {
    let mut label = match frame.function_name.as_str() {
        "" => "(anonymous)".to_owned(),
        name => name.to_owned(),
    };
    if frame.has_file() {
        let path = numbered_path(frame);
        let relative = cwd.and_then(|cwd| below(&path, cwd));
        // Writing to a string cannot fail.
        let _ = write!(label, " ({}", relative.unwrap_or(&path));
        if frame.line >= 0 {
            let _ = write!(label, ":{}", frame.line.saturating_add(1));
        }
        label.push(')');
    }
    one_field(&label)
}

/// Removes the separators of frames and lines, and what would control a terminal.
fn one_field(label: &str) -> String {
    label.replace(';', ":").replace(is_confusing, " ")
}

/// Returns whether a character is a control character, a line separator, or changes the direction of
/// what follows.
fn is_confusing(character: char) -> bool {
    let is_format = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    is_format || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::builder::ProfileBuilder;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;

    #[test]
    fn each_stack_is_a_line() {
        let mut session = Session::default();
        let frame = |name: &str, url: &str| CallFrame {
            function_name: name.into(),
            url: url.into(),
            script_id: u32::from(!url.is_empty()),
            line: if url.is_empty() { -1 } else { 11 },
            column: 0,
            ..CallFrame::root()
        };
        let mut builder = ProfileBuilder::new(0, ReadScope::TIMES);
        for (id, parent, frame) in [
            (1, None, CallFrame::root()),
            (2, Some(1), frame("", "file:///r/src/a%20b.js")),
            (3, Some(2), frame("x;y\u{202e}", "file:///rest/c.js")),
            (4, Some(3), frame("read", "node:fs")),
            (5, Some(1), frame("(idle)", "")),
        ] {
            builder.announce(id, parent, session.frames.number(frame));
        }
        for id in [2, 4, 4, 5, 5] {
            builder.sample(id, 10, SourcePosition::line(0));
        }
        let profiles = vec![builder.finish()];
        let threads = vec![Thread { id: 0, name: "main".into(), profiles, ..Thread::default() }];
        let (name, cwd) = ("nx".into(), Some("/r".to_owned()));
        session.processes.push(Process { pid: 42, name, cwd, threads, ..Process::default() });
        let mut out = Vec::new();
        write(&session, "", &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "nx (pid 42) - main;(anonymous) (src/a b.js:12) 10\n\
             nx (pid 42) - main;(anonymous) (src/a b.js:12);x:y  (/rest/c.js:12);read (node:fs:12) 20\n\
             nx (pid 42) - main;(idle) 20\n"
        );
    }
}
