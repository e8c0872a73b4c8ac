//! Which functions without a file are the program's own code: in a profile of V8 they are V8's and Node's, and in
//! one of a native program, which has only names or addresses, they are the program.

use super::file_tables::FileTables;
use crate::profile::package::package_of;

/// Endings of the files that V8 runs.
const SCRIPTS: [&[u8]; 9] =
    [b".js", b".mjs", b".cjs", b".jsx", b".ts", b".mts", b".cts", b".tsx", b".wasm"];
/// Starts of the names that V8 and Node give to what is no file.
const OF_V8: [&[u8]; 3] = [b"node:", b"evalmachine.", b"wasm:"];
/// Functions that only V8's profiles have.
const STATES: [&[u8]; 3] = [b"(program)", b"(garbage collector)", b"(idle)"];
/// Parts of the names of libraries' files.
const LIBRARIES: [&[u8]; 4] = [b".so", b".dylib", b".dll", b".DLL"];

/// Whose code has no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnCode {
    /// V8's and Node's.
    Scripts,
    /// The program's, but for code of libraries.
    Program,
    /// The program's: all of it is in libraries.
    Library,
}

impl OwnCode {
    pub(super) fn of(tables: &FileTables<'_>) -> Self {
        let text = |index| tables.bytes(index).unwrap_or_default();
        let is_script = |file: &[u8]| {
            SCRIPTS.iter().any(|ending| file.ends_with(ending))
                || OF_V8.iter().any(|start| file.starts_with(start))
        };
        let mut functions = tables.functions.values();
        if functions
            .any(|function| is_script(text(function.file)) || STATES.contains(&text(function.name)))
        {
            return Self::Scripts;
        }
        let mut locations = tables.locations.values();
        match locations.any(|location| !is_library(text(tables.module(location.mapping)))) {
            true => Self::Program,
            false => Self::Library,
        }
    }

    /// Returns the package of code without a file, which is in this module; none if the path tells it.
    pub(super) fn package(self, module: &[u8]) -> Option<Box<str>> {
        let is_own = match self {
            Self::Scripts => false,
            Self::Program => !is_library(module),
            Self::Library => true,
        };
        // Any path outside of packages is own code.
        is_own.then(|| package_of("/").into())
    }
}

/// Returns whether a module is a library or a part of the system: `[kernel.kallsyms]`.
fn is_library(module: &[u8]) -> bool {
    let name = module.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
    let has = |part: &&[u8]| name.windows(part.len()).any(|at| at == *part);
    name.starts_with(b"[") || LIBRARIES.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        for (module, expected) in [
            ("", false),
            ("/srv/app/server", false),
            ("/usr/lib/libc.so.6", true),
            ("/usr/lib/libsystem.dylib", true),
            ("C:\\Windows\\ntdll.dll", true),
            ("[vdso]", true),
            ("[kernel.kallsyms]", true),
            ("/srv/x.so/app", false),
        ] {
            assert_eq!(is_library(module.as_bytes()), expected, "{module}");
        }
    }
}
