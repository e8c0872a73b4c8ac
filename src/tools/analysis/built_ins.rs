//! The built-in functions in which the time of functions was spent: by their frames, or by the text of the
//! lines where V8 has no frames for them.

use rustc_hash::FxHashMap;

use super::frame_index::{ADDON_FUNCTION, FrameIndex, SourceFunction};
use super::json::{ReportBuiltIn, ReportPlace};
use super::lines::LineCosts;
use super::native::module::module_of;
use crate::names::originals::source_lines::{FunctionPlace, SourceLines};
use cpu_prof_core::base::cold_sort::ColdSort;

/// Functions that are looked at: each can need another file.
const MAX_FUNCTIONS: usize = 50;
/// Self time of a function that makes its file worth a look, microseconds.
const MIN_US: u64 = 10_000;

/// Returns the built-ins that the lines of functions call, the most time first. `functions` are the functions
/// with their self times, the longest first.
pub(crate) fn built_ins(
    functions: impl Iterator<Item = (usize, u64)>,
    lines: &LineCosts,
    index: &FrameIndex,
    sources: &mut SourceLines,
) -> FxHashMap<usize, Vec<ReportBuiltIn>> {
    let heavy = functions.filter(|(_, self_us)| *self_us >= MIN_US).take(MAX_FUNCTIONS);
    let mut found: FxHashMap<usize, Vec<ReportBuiltIn>> =
        heavy.map(|(id, _)| (id, Vec::new())).collect();
    for (function, line, self_us) in lines.list() {
        let Some(list) = found.get_mut(&function) else { continue };
        let Some(place) = place_of(function, index) else { continue };
        let Some(name) = sources.built_in(place, line) else { continue };
        match list.iter_mut().find(|known| known.name == name) {
            Some(known) => known.self_us = known.self_us.saturating_add(self_us),
            None => list.push(ReportBuiltIn { name, self_us }),
        }
    }
    for list in found.values_mut() {
        list.cold_sort_by_key(|built_in| (std::cmp::Reverse(built_in.self_us), built_in.name));
    }
    found
}

/// Returns the place of a function; none if it has none in a file.
fn place_of(function: usize, index: &FrameIndex) -> Option<FunctionPlace<'_>> {
    let SourceFunction { name, file, line, column, is_transpiled, text, .. } =
        &index.functions[function];
    let path = &index.files[*file].path;
    if *is_transpiled || *text > 0 || path.is_empty() || path.starts_with("node:") {
        return None;
    }
    // Names that V8 did not give.
    let is_own = name == "(anonymous)" || name.starts_with("callback of ");
    let name = if is_own { "" } else { name };
    let (line, column) = (u32::try_from(*line).ok()?, u32::try_from(*column).ok()?);
    Some(FunctionPlace { path, name, line, column })
}

/// Returns the name of a function of Node with its module, as a program calls the function: `fs.readFileSync`.
/// A native function has its own name.
pub fn name_of(place: &ReportPlace<'_>) -> String {
    let Some(file) = place.file.strip_prefix("node:") else {
        return match place.name {
            ADDON_FUNCTION => "a native addon".to_owned(),
            name if place.file.is_empty() => name.to_owned(),
            name => format!("{name} of {}", module_of(place.file, name)),
        };
    };
    let file = file.strip_prefix("internal/").unwrap_or(file);
    let module = match file.split('/').next() {
        Some("perf") => "performance",
        module => module.unwrap_or(file),
    };
    // What `gzipSync` and others of zlib are inside.
    let is_wrapper = place.name == "(anonymous)" || place.name.ends_with("BufferWrapper");
    if is_wrapper { module.to_owned() } else { format!("{module}.{}", place.name) }
}

/// Returns whether a built-in function is not what a program has called: a wrapper of another, or code without
/// a file, which another function has compiled.
pub(crate) fn is_no_call(place: &ReportPlace<'_>) -> bool {
    let is_wrapper = place.file == "node:internal/util" || place.name == "consoleCall";
    is_wrapper || place.text > 0 || (place.file.is_empty() && place.line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'a>(name: &'a str, file: &'a str, line: i32) -> ReportPlace<'a> {
        ReportPlace {
            name,
            file,
            line,
            column: 1,
            transpiled: false,
            text: 0,
            compiled_at: 0,
            package: "node:",
        }
    }

    #[test]
    fn functions_of_node_have_the_names_of_the_api() {
        for (file, name, expected) in [
            ("node:fs", "readFileSync", "fs.readFileSync"),
            ("node:internal/crypto/pbkdf2", "pbkdf2Sync", "crypto.pbkdf2Sync"),
            ("node:internal/perf/performance", "now", "performance.now"),
            ("node:zlib", "syncBufferWrapper", "zlib"),
            ("node:internal/console/constructor", "log", "console.log"),
            ("", "RegExp: ^a+$", "RegExp: ^a+$"),
            ("", "(native addon)", "a native addon"),
            (
                "/r/b/better_sqlite3.node",
                "Statement::JS_get",
                "Statement::JS_get of better_sqlite3",
            ),
            (
                "/usr/bin/node",
                "v8::internal::Builtin_JsonParse",
                "v8::internal::Builtin_JsonParse of V8",
            ),
        ] {
            assert_eq!(name_of(&place(name, file, 1)), expected);
        }
    }

    #[test]
    fn wrappers_and_compiled_code_are_no_calls() {
        for (name, file, line, expected) in [
            ("consoleCall", "", 0, true),
            ("deprecated", "node:internal/util", 9, true),
            ("row", "", 3, true),
            ("log", "node:internal/console/constructor", 9, false),
            ("RegExp: ^a+$", "", 0, false),
        ] {
            assert_eq!(is_no_call(&place(name, file, line)), expected, "{name}");
        }
    }
}
