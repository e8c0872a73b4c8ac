//! The system name of a function: `parse:12:5`. The format has no place for a column, and pprof joins
//! functions that differ in nothing else.

use std::fmt::Write as _;

use cpu_prof_core::base::native_code::BuildId;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};

/// The marks of code that is not the text of the file that ran.
const MARKS: [(FrameOrigin, &str); 2] =
    [(FrameOrigin::SourceMap, " (source map)"), (FrameOrigin::Transpiled, " (transpiled)")];

/// The beginning of the mark of native code, before the build of its module.
const MODULE: &str = " (module ";

/// Returns the system name of a frame's function, whose name is `name`.
pub(in super::super) fn system_name(frame: &CallFrame, name: &str) -> String {
    let mut text = name.to_owned();
    if frame.line >= 0 && frame.has_file() {
        let (line, column) = (frame.line.saturating_add(1), frame.column.saturating_add(1));
        // Writing to a string cannot fail.
        let _ = write!(text, ":{line}:{}", column.max(0));
    }
    let mark = MARKS.iter().find(|(origin, _)| *origin == frame.origin);
    text.push_str(mark.map_or("", |(_, mark)| mark));
    if let Some(build) = frame.module() {
        let _ = write!(text, "{MODULE}{build})");
    }
    text
}

/// Returns the column of a function, from 0, or -1, and its origin, from a system name of ours.
pub(in super::super) fn read(text: &str, name: &str, line: i64) -> (i32, FrameOrigin) {
    if let Some((_, build)) = text.rsplit_once(MODULE)
        && let Some(build) = build.strip_suffix(')')
    {
        return (-1, FrameOrigin::Module(BuildId::parse(build).unwrap_or_default()));
    }
    let marked = MARKS.iter().find_map(|(origin, mark)| Some((*origin, text.strip_suffix(mark)?)));
    let (origin, text) = marked.unwrap_or((FrameOrigin::Executed, text));
    let column = text
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix(':')?.split_once(':'))
        .filter(|(known, _)| known.parse() == Ok(line))
        .and_then(|(_, column)| column.parse::<i32>().ok());
    (column.map_or(-1, |column| column.saturating_sub(1)), origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_and_an_origin_come_back() {
        for (name, line, column, origin) in [
            ("parse", 11, 4, FrameOrigin::Executed),
            ("a:1:2", 0, 0, FrameOrigin::Transpiled),
            ("(anonymous)", 5, -1, FrameOrigin::SourceMap),
            ("v8::f", -1, -1, FrameOrigin::Module(BuildId::new(&[1, 2]))),
            ("a.node+0x1f", -1, -1, FrameOrigin::Module(BuildId::default())),
        ] {
            let url = "file:///a.js".into();
            let frame = CallFrame { url, line, column, origin, ..CallFrame::root() };
            let text = system_name(&frame, name);
            assert_eq!(read(&text, name, i64::from(line) + 1), (column, origin), "{text}");
        }
        assert_eq!(system_name(&CallFrame::root(), "(root)"), "(root)");
    }

    #[test]
    fn names_of_others_tell_nothing() {
        for text in ["", "main.main", "parse", "parse:x:5", "parse:12", "parse:13:5", "parse:12:y"]
        {
            assert_eq!(read(text, "parse", 12), (-1, FrameOrigin::Executed), "{text}");
        }
    }
}
