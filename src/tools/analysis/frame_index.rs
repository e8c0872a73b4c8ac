//! The meaning of frames: functions in files in packages, or states of V8.

use rustc_hash::FxHashMap;

use super::json::ReportPlace;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::base::path_text::is_windows;
use cpu_prof_core::format::url::frame_path;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::package::{is_built_in, is_users, package_of};
use cpu_prof_session::model::frame_table::FrameTable;

/// The name that the recorder gives to functions of addons, which V8 cannot tell apart.
pub(crate) const ADDON_FUNCTION: &str = "(native addon)";

/// The activity of a thread in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// Runs a function: index into [`FrameIndex::functions`].
    Function(usize),
    /// `(idle)`
    Idle,
    /// `(garbage collector)`
    Gc,
    /// `(program)`
    Program,
    /// `(root)`: a merged trace has samples of it in the time between two recordings.
    Unrecorded,
}

/// A function. Processes that load the same file share its functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SourceFunction {
    /// Name, never empty.
    pub name: String,
    /// Index into [`FrameIndex::files`].
    pub file: usize,
    /// Line, from 1; 0 for none.
    pub line: i32,
    /// Column, from 1; 0 for none.
    pub column: i32,
    /// Whether line and column are those of transpiled code, and not of the file.
    pub is_transpiled: bool,
    /// V8's id of the text that the function is in, if a program compiled it; 0 for the code of files. Line and
    /// column count in the text.
    pub text: u32,
    /// Line of the file at which the text was compiled, from 1; 0 where that is not known.
    pub compiled_at: u32,
}

/// A file.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SourceFile {
    /// Absolute path, URL, or V8's name for the script; empty for native code.
    pub path: String,
    /// Index into [`FrameIndex::packages`].
    pub package: usize,
    /// Whether the file has native code.
    pub is_module: bool,
    /// Whether the file is the source of a compiled language, whose functions another tool has named.
    pub is_compiled: bool,
}

/// The functions, files and packages of a session.
#[derive(Debug, Default)]
pub struct FrameIndex {
    /// Kind of each frame, by its number.
    kinds: Vec<FrameKind>,
    /// Paths of files of Windows, by their lower case.
    spellings: FxHashMap<String, String>,
    /// All functions.
    pub functions: FxIndexSet<SourceFunction>,
    /// All files.
    pub files: FxIndexSet<SourceFile>,
    /// Names of all packages.
    pub packages: FxIndexSet<String>,
}

impl FrameIndex {
    /// Returns the index of a session's frames.
    pub fn of(frames: &FrameTable) -> Self {
        let mut index = Self::default();
        index.read(frames);
        index
    }

    /// Adds the functions of a session. From now on the numbers of frames are those of this session.
    pub fn read(&mut self, frames: &FrameTable) {
        self.kinds.clear();
        for frame in frames.list() {
            let kind = match frame.function_name.as_str() {
                _ if !frame.is_meta() => FrameKind::Function(self.add_function(frame)),
                CallFrame::IDLE => FrameKind::Idle,
                CallFrame::GC => FrameKind::Gc,
                CallFrame::PROGRAM => FrameKind::Program,
                _ => FrameKind::Unrecorded,
            };
            self.kinds.push(kind);
        }
    }

    fn add_function(&mut self, frame: &CallFrame) -> usize {
        let from_1 = |position: i32| position.saturating_add(1).max(0);
        let name = match frame.function_name.as_str() {
            "" => "(anonymous)",
            name => name,
        };
        let function = SourceFunction {
            name: name.to_owned(),
            file: self.add_file(frame),
            line: from_1(frame.line),
            column: from_1(frame.column),
            is_transpiled: frame.origin == FrameOrigin::Transpiled,
            text: if frame.origin == FrameOrigin::Evaluated { frame.script_id } else { 0 },
            compiled_at: frame
                .compiler
                .as_deref()
                .map_or(0, |site| from_1(site.line).unsigned_abs()),
        };
        self.functions.insert_full(function).0
    }

    fn add_file(&mut self, frame: &CallFrame) -> usize {
        let mut path = frame_path(frame).into_owned();
        if is_windows(&path) {
            // Windows takes upper and lower case for the same; the first form counts.
            path = self.spellings.entry(path.to_lowercase()).or_insert(path).clone();
        }
        let package = frame.package.as_deref().unwrap_or_else(|| package_of(&path)).to_owned();
        let package = self.packages.insert_full(package).0;
        let is_module = frame.module().is_some();
        // A source map can lead from WebAssembly, which runs beside JavaScript, to such a source.
        let is_compiled = frame.origin == FrameOrigin::Executed && is_compiled_source(&path);
        self.files.insert_full(SourceFile { path, package, is_module, is_compiled }).0
    }

    /// Returns the name and the place of a function.
    pub fn place(&self, function: usize) -> ReportPlace<'_> {
        let function = &self.functions[function];
        let SourceFunction { name, file, line, column, is_transpiled, text, compiled_at } =
            function;
        let SourceFile { path, package, .. } = &self.files[*file];
        ReportPlace {
            name,
            file: path,
            line: *line,
            column: *column,
            transpiled: *is_transpiled,
            text: *text,
            compiled_at: *compiled_at,
            package: &self.packages[*package],
        }
    }

    /// Returns a line that V8 or another tool counted for a function; 0 if the line cannot be in the
    /// function. V8 counts the lines of inlined functions for the caller, and Chrome writes the line of
    /// the caller where a function has no script.
    pub fn line_within(&self, function: usize, line: u32) -> u32 {
        let is_before = i64::from(line) < i64::from(self.functions[function].line);
        if self.is_native(function) || is_before { 0 } else { line }
    }

    /// Returns whether a function has no script.
    pub fn is_native(&self, function: usize) -> bool {
        let file = &self.files[self.functions[function].file];
        file.path.is_empty() || file.is_module
    }

    /// Returns whether a function is machine code that no engine of scripts has made.
    pub(crate) fn is_machine_code(&self, function: usize) -> bool {
        self.is_native(function) || self.files[self.functions[function].file].is_compiled
    }

    /// Returns whether a function is one of a native module.
    pub fn is_in_module(&self, function: usize) -> bool {
        self.files[self.functions[function].file].is_module
    }

    /// Returns for each function whether it is neither Node's nor native.
    pub(crate) fn code_functions(&self) -> Vec<bool> {
        let files = self.code_files();
        self.functions.iter().map(|function| files[function.file]).collect()
    }

    /// Returns for each file whether it has code that is neither Node's nor native.
    pub(crate) fn code_files(&self) -> Vec<bool> {
        let is_code =
            |file: &SourceFile| !file.is_module && !is_built_in(&self.packages[file.package]);
        self.files.iter().map(is_code).collect()
    }

    /// Returns whether a file is neither in a package nor Node's.
    pub fn is_users(&self, file: usize) -> bool {
        is_users(&self.packages[self.files[file].package])
    }

    /// Returns the kind of the frame with this number.
    pub fn kind(&self, frame: u32) -> FrameKind {
        self.kinds[frame as usize]
    }

    /// Returns the index of the frame's function.
    pub fn function(&self, frame: u32) -> Option<usize> {
        match self.kind(frame) {
            FrameKind::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Returns the index of the frame's file.
    pub fn file(&self, frame: u32) -> Option<usize> {
        self.function(frame).map(|function| self.functions[function].file)
    }
}

/// Returns whether a path is that of a source that is compiled before it runs.
fn is_compiled_source(path: &str) -> bool {
    const ENDINGS: [&str; 14] =
        ["go", "rs", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "s", "S", "asm", "zig", "swift"];
    path.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_in_two_processes_is_indexed_once() {
        let mut frames = FrameTable::new();
        let frame = |script_id, line| CallFrame {
            function_name: String::new(),
            url: "file:///r/a%20b.js".into(),
            script_id,
            line,
            column: 0,
            ..CallFrame::root()
        };
        let numbers: Vec<u32> =
            [(1, 0), (2, 0), (2, 5)].map(|(id, line)| frames.number(frame(id, line))).to_vec();
        let index = FrameIndex::of(&frames);
        let functions: Vec<_> = numbers.iter().map(|n| index.function(*n).unwrap()).collect();
        assert!(functions[0] == functions[1] && functions[1] != functions[2]);
        let function = &index.functions[functions[0]];
        assert_eq!((&*function.name, function.line, function.column), ("(anonymous)", 1, 1));
        assert_eq!(index.files[function.file].path, "/r/a b.js");
    }

    #[test]
    fn a_file_of_windows_is_indexed_once() {
        let files = |urls: [&str; 3]| {
            let mut frames = FrameTable::new();
            for url in urls {
                frames.number(CallFrame { url: url.into(), script_id: 1, ..CallFrame::root() });
            }
            let files = FrameIndex::of(&frames).files;
            files.into_iter().map(|file| file.path).collect::<Vec<_>>()
        };
        let windows = ["file:///C:/R/a.js", "file:///c:/r/A.js", r"c:\R\a.js"];
        assert!(files(windows).contains(&"C:/R/a.js".to_owned()));
        assert_eq!(files(windows).len(), 2, "{:?}", files(windows));
        assert_eq!(files(["/R/a.js", "/r/a.js", "/r/A.js"]).len(), 4);
    }
}
