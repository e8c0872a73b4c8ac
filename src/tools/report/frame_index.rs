//! What frames are: functions in files in packages, or what V8 made up.

use std::collections::HashMap;

use crate::format::url::file_path;
use crate::profile::frame::CallFrame;
use crate::profile::frame_table::FrameTable;

/// What a thread does in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A function.
    Function,
    /// `(idle)`
    Idle,
    /// `(garbage collector)`
    Gc,
    /// `(program)`
    Program,
    /// `(root)` itself: nothing is known of this time. A merged trace has it between recordings.
    Nothing,
}

/// A function, in whatever process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SourceFunction {
    /// Never empty.
    pub name: String,
    /// Index into `FrameIndex::files`.
    pub file: u32,
    /// From 1; 0 for none.
    pub line: i32,
    /// From 1; 0 for none.
    pub column: i32,
}

/// A file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// An absolute path, a URL, or what V8 has instead; empty for native code.
    pub path: String,
    /// Index into `FrameIndex::packages`.
    pub package: u32,
}

/// All there is in a set of frames.
#[derive(Debug, Default)]
pub(super) struct FrameIndex {
    /// By the frames' numbers.
    whats: Vec<(FrameKind, u32)>,
    /// Each once.
    pub functions: Vec<SourceFunction>,
    /// Each once.
    pub files: Vec<SourceFile>,
    /// Names, each once.
    pub packages: Vec<String>,
}

impl FrameIndex {
    /// Finds them.
    pub(super) fn of(frames: &FrameTable) -> Self {
        let mut subjects = Self::default();
        let mut functions: HashMap<SourceFunction, u32> = HashMap::new();
        let mut files: HashMap<String, u32> = HashMap::new();
        let mut packages: HashMap<String, u32> = HashMap::new();
        for frame in frames.list() {
            let what = what(frame);
            if what != FrameKind::Function {
                subjects.whats.push((what, 0));
                continue;
            }
            let path = file_path(&frame.url).into_owned();
            let file = match files.get(&path) {
                Some(file) => *file,
                None => {
                    let package = package_of(&path);
                    let next = subjects.packages.len() as u32;
                    let package = *packages.entry(package.to_owned()).or_insert_with(|| {
                        subjects.packages.push(package.to_owned());
                        next
                    });
                    let file = subjects.files.len() as u32;
                    subjects.files.push(SourceFile { path: path.clone(), package });
                    files.insert(path, file);
                    file
                }
            };
            let name = match frame.function_name.as_str() {
                "" => "(anonymous)",
                name => name,
            };
            let from_1 = |place: i32| place.saturating_add(1).max(0);
            let (line, column) = (from_1(frame.line), from_1(frame.column));
            let function = SourceFunction { name: name.to_owned(), file, line, column };
            let next = subjects.functions.len() as u32;
            let function = *functions.entry(function).or_insert_with_key(|function| {
                subjects.functions.push(function.clone());
                next
            });
            subjects.whats.push((FrameKind::Function, function));
        }
        subjects
    }

    /// What the frame of this number is.
    pub(super) fn what(&self, frame: u32) -> FrameKind {
        self.whats[frame as usize].0
    }

    /// Index into `functions`, if it is one.
    pub(super) fn function(&self, frame: u32) -> Option<u32> {
        let (what, function) = self.whats[frame as usize];
        (what == FrameKind::Function).then_some(function)
    }

    /// Index into `files`, for a function.
    pub(super) fn file(&self, frame: u32) -> Option<u32> {
        self.function(frame).map(|function| self.functions[function as usize].file)
    }

    /// Index into `packages`, for a function.
    pub(super) fn package(&self, frame: u32) -> Option<u32> {
        self.file(frame).map(|file| self.files[file as usize].package)
    }
}

fn what(frame: &CallFrame) -> FrameKind {
    match frame.function_name.as_str() {
        _ if !frame.is_meta() => FrameKind::Function,
        "(idle)" => FrameKind::Idle,
        "(garbage collector)" => FrameKind::Gc,
        "(program)" => FrameKind::Program,
        _ => FrameKind::Nothing,
    }
}

/// Which package a file belongs to: the innermost `node_modules` tells.
fn package_of(path: &str) -> &str {
    const NODE: &str = "node:";
    const NATIVE: &str = "(native)";
    const OWN: &str = "(own code)";
    if path.is_empty() {
        return NATIVE;
    }
    if path.starts_with(NODE) {
        return NODE;
    }
    let is_separator = |c: char| c == '/' || c == '\\';
    let mut package = None;
    let mut at = 0;
    for part in path.split(is_separator) {
        at += part.len() + 1;
        if part != "node_modules" {
            continue;
        }
        let Some(rest) = path.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let scope = if rest.starts_with('@') { 1 } else { 0 };
        package = rest
            .match_indices(is_separator)
            .nth(scope)
            .map_or(Some(rest), |(end, _)| rest.get(..end));
    }
    package.unwrap_or(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packages_are_named_by_the_innermost_node_modules() {
        for (path, package) in [
            ("/r/src/a.js", "(own code)"),
            ("[eval]", "(own code)"),
            ("evalmachine.<anonymous>", "(own code)"),
            ("/r/my_node_modules/a.js", "(own code)"),
            ("/r/node_modules", "(own code)"),
            ("", "(native)"),
            ("node:internal/fs/utils", "node:"),
            ("/r/node_modules/typescript/lib/tsc.js", "typescript"),
            ("/r/node_modules/@babel/core/lib/index.js", "@babel/core"),
            ("/r/node_modules/a/node_modules/@b/c/d.js", "@b/c"),
            ("/r/node_modules/.pnpm/x@1.2.3/node_modules/x/x.js", "x"),
            ("C:\\r\\node_modules\\x\\x.js", "x"),
            ("https://host/node_modules/x/x.js", "x"),
            ("/r/node_modules/x.js", "x.js"),
            ("/r/node_modules/@s", "@s"),
            ("/é/node_modules/日/x.js", "日"),
        ] {
            assert_eq!(package_of(path), package, "{path}");
        }
    }

    #[test]
    fn one_function_in_two_processes_is_one() {
        let mut frames = FrameTable::new();
        let frame = |script_id, line| CallFrame {
            function_name: String::new(),
            url: "file:///r/a%20b.js".into(),
            script_id,
            line,
            column: 0,
        };
        let numbers: Vec<u32> =
            [(1, 0), (2, 0), (2, 5)].map(|(id, line)| frames.number(frame(id, line))).to_vec();
        let subjects = FrameIndex::of(&frames);
        let functions: Vec<_> = numbers.iter().map(|n| subjects.function(*n).unwrap()).collect();
        assert!(functions[0] == functions[1] && functions[1] != functions[2]);
        let function = &subjects.functions[functions[0] as usize];
        assert_eq!((&*function.name, function.line, function.column), ("(anonymous)", 1, 1));
        assert_eq!(subjects.files[function.file as usize].path, "/r/a b.js");
    }

    proptest! {
        #[test]
        fn any_path_has_a_package(path in "(node_modules|/|\\\\|@|é|a|node:){0,9}") {
            prop_assert!(!package_of(&path).is_empty() || path.contains("//") || path.contains('\\'));
        }
    }
}
