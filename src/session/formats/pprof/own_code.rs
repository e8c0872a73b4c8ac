//! Which functions without a file are the program's own code. Where most functions have a file, they are those
//! of the engine that runs scripts, or of the system. Where most have only a symbol or an address, as those of a
//! native program without debug information, they are the program.

use super::file_tables::FileTables;
use cpu_prof_core::profile::frame::CallFrame;
use cpu_prof_core::profile::package::package_of;

/// Functions that only V8's profiles have, which can have few others with a file.
const STATES: [&str; 3] = [CallFrame::PROGRAM, CallFrame::GC, CallFrame::IDLE];
/// What tools write in place of a file that they do not know.
const NO_FILES: [&[u8]; 7] =
    [b"Unknown", b"unknown", b"(unknown)", b"<unknown>", b"[unknown]", b"??", b"?"];
/// Parts of the names of libraries' files.
const LIBRARIES: [&[u8]; 4] = [b".so", b".dylib", b".dll", b".DLL"];

/// Whose code has no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnCode {
    /// That of the engine and of the system.
    WithFiles,
    /// The program's, but for code of libraries.
    Program,
    /// The program's: all of it is in libraries.
    Library,
}

impl OwnCode {
    pub(super) fn of(tables: &FileTables<'_>) -> Self {
        let text = |index| tables.bytes(index).unwrap_or_default();
        let functions = tables.functions.values();
        let with_file = functions.clone().filter(|function| is_file(text(function.file)));
        let addresses = tables.locations.values().filter(|location| location.lines.is_empty());
        let all = functions.len() + addresses.count();
        let mut names = functions.map(|function| text(function.name));
        if 2 * with_file.count() >= all
            || names.any(|name| STATES.map(str::as_bytes).contains(&name))
        {
            return Self::WithFiles;
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
            Self::WithFiles => false,
            Self::Program => !is_library(module),
            Self::Library => true,
        };
        // Any path outside of packages is own code.
        is_own.then(|| package_of("/").into())
    }
}

/// Returns whether the text of a function's file names one.
pub(super) fn is_file(text: &[u8]) -> bool {
    !text.is_empty() && !NO_FILES.contains(&text)
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
