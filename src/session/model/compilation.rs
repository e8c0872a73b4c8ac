//! What TypeScript's compiler worked on.

use serde::Deserialize;

/// Names of TypeScript's compilers, which take `-p`.
pub const COMPILERS: [&str; 4] = ["tsc", "vue-tsc", "tspc", "ttsc"];

/// Ends of the paths of the compiler, as TypeScript ships it.
const PATHS: [&str; 3] =
    ["/typescript/lib/_tsc.js", "/typescript/lib/tsc.js", "/typescript/lib/typescript.js"];

/// The phase of finding the files of a program.
pub const RESOLVE: &str = "resolve modules";
/// The phase that has constructs.
pub const CHECK: &str = "check";

/// Functions with the phase that each begins. V8 has no frames of the two functions that the recorder
/// observes, `createProgram` and `checkSourceFile`, so those that they call are here too.
const PHASES: [(&str, &str); 9] = [
    ("createProgram", RESOLVE),
    ("processRootFile", RESOLVE),
    ("processTypeReferenceDirective", RESOLVE),
    ("createSourceFile", "parse"),
    ("bindSourceFile", "bind"),
    ("checkSourceFile", CHECK),
    ("checkSourceFileWorker", CHECK),
    ("checkSourceFileNodesWorker", CHECK),
    ("emitFiles", "emit"),
];

/// Returns whether a file is the compiler's.
pub fn is_compiler(path: &str) -> bool {
    PATHS.iter().any(|end| path.ends_with(end))
}

/// Returns the phase of the compiler that a function begins.
pub fn phase_below(function: &str) -> Option<&'static str> {
    named(&PHASES, function)
}

/// Returns what a table has for a function.
pub fn named(table: &[(&str, &'static str)], function: &str) -> Option<&'static str> {
    // A bundler adds a number to the second function of a name.
    let function = function.trim_end_matches(|c: char| c.is_ascii_digit());
    table.iter().find(|(name, _)| *name == function).map(|(_, what)| *what)
}

/// Returns the folder of a project whose file has the usual name, as other processes of the project have it.
pub fn without_config(path: &str) -> &str {
    path.strip_suffix("/tsconfig.json").unwrap_or(path)
}

/// A time in which the compiler worked on a file, or a moment from which on it works on a project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompilerSpan {
    /// Start, microseconds.
    pub start_us: i64,
    /// End, microseconds.
    pub end_us: i64,
    /// Path of the project's tsconfig file.
    pub project: String,
    /// Path of the file that was checked; none where a project begins.
    pub file: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_known_by_its_path() {
        assert!(is_compiler("/r/node_modules/typescript/lib/_tsc.js"));
        assert!(is_compiler("C:/r/node_modules/typescript/lib/typescript.js"));
        assert!(!is_compiler("/r/node_modules/my-typescript/lib/tsc.js"));
        assert!(!is_compiler("/r/src/tsc.js"));
    }
}
