//! What may be read for recordings. Anybody can have written a recording, and it can name any file, in
//! any number of ways.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::code_text::line_starts;
use cpu_prof_core::base::path_text::is_local_file;
use cpu_prof_core::base::system::{IS_WINDOWS, regular_file};
use cpu_prof_session::formats::source_map::decode::{MapError, decode};
use cpu_prof_session::formats::source_map::map::SourceMap;

/// The largest file that is read: bytes. The largest real bundles have some 50 MB, and their maps
/// 200 MB.
const MOST_OF_FILE: usize = 256 << 20;

/// What is read and decoded for one command: bytes. Half of it is enough for a bundle of 50 MB, its map
/// of 200 MB, and the decoded mappings.
const MOST: usize = 1 << 30;

/// The kind of the error of a file outside of the folder.
pub(super) const OUTSIDE: ErrorKind = ErrorKind::Unsupported;

/// Endings of code that Node or a transpiler runs.
const CODE: [&str; 25] = [
    "js",
    "mjs",
    "cjs",
    "jsx",
    "es",
    "es6",
    "ts",
    "mts",
    "cts",
    "tsx",
    "vue",
    "svelte",
    "astro",
    "mdx",
    "svx",
    "coffee",
    "litcoffee",
    "ls",
    "civet",
    "imba",
    "marko",
    "riot",
    "gjs",
    "gts",
    "res",
];

/// The bytes that may still be read and decoded.
#[derive(Debug)]
pub(super) struct Allowance {
    left: usize,
    /// The folder below which files are read; none for everywhere.
    within: Option<PathBuf>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self::within(None)
    }
}

impl Allowance {
    /// Allows files below a folder, or everywhere.
    pub(super) fn within(folder: Option<PathBuf>) -> Self {
        Self { left: MOST, within: folder }
    }

    /// Reads a file of code. Names of functions are taken from its text, so other files, which can hold
    /// secrets, are not read.
    pub(super) fn read_code(&mut self, path: &str) -> io::Result<String> {
        let ending = Path::new(path).extension();
        let is_code = |ending: &OsStr| CODE.iter().any(|code| ending.eq_ignore_ascii_case(code));
        if !ending.is_none_or(is_code) {
            return Err(no_code());
        }
        let text = self.read(path)?;
        if ending.is_none() && !is_script(&text) {
            return Err(no_code());
        }
        let line_starts = size_of::<usize>() * line_starts(&text).count();
        self.left = self.left.checked_sub(line_starts).ok_or_else(|| too_large(used_up()))?;
        Ok(text)
    }

    /// Reads a file of text. An error of the kind `FileTooLarge` says which limit was reached.
    pub(super) fn read(&mut self, path: &str) -> io::Result<String> {
        if !is_local_file(path, IS_WINDOWS) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is no file of a local disk"));
        }
        if let Some(folder) = &self.within
            && !regular_file::is_below(Path::new(path), folder)
        {
            return Err(io::Error::new(OUTSIDE, outside(folder)));
        }
        let most = MOST_OF_FILE.min(self.left);
        let bytes = regular_file::read(Path::new(path), most as u64).map_err(|error| {
            if error.kind() != ErrorKind::FileTooLarge {
                return error;
            }
            too_large(match most {
                MOST_OF_FILE => format!("it has more than {} MB", MOST_OF_FILE >> 20),
                _ => used_up(),
            })
        })?;
        self.left -= bytes.len();
        String::from_utf8(bytes)
            .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
    }

    /// Decodes a map.
    pub(super) fn decode(&mut self, json: &str) -> Result<SourceMap, MapError> {
        decode(json, &mut self.left)
    }
}

/// Returns whether the first line of a text says that Node, or a relative of it, runs the text.
fn is_script(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with("#!") && ["node", "tsx", "bun", "deno"].iter().any(|name| line.contains(name))
}

fn outside(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "it is outside of {folder}, and was not looked for; allow a folder with both \
         (--root of cpu-prof mcp, sourcesIn in code)"
    )
}

fn no_code() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not code")
}

fn too_large(reason: String) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, reason)
}

fn used_up() -> String {
    format!("it does not fit: {} MB of code and maps are read in all", MOST >> 20)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_read_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        File::create(at("huge.js")).unwrap().set_len(MOST_OF_FILE as u64 + 1).unwrap();
        fs::write(at("a.js"), "x".repeat(600)).unwrap();
        let mut allowance = Allowance::default();
        let error = allowance.read(&at("huge.js")).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 256 MB");
        assert_eq!(allowance.left, MOST);
        let mut allowance = Allowance { left: 1000, within: None };
        assert_eq!(allowance.read(&at("a.js")).unwrap().len(), 600);
        // The same file by another name.
        let error = allowance.read(&at("./a.js")).unwrap_err();
        assert_eq!(error.to_string(), "it does not fit: 1024 MB of code and maps are read in all");
    }

    #[test]
    fn only_code_is_read_for_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        for (name, text, is_code) in [
            ("a.js", "f()", true),
            ("b.TS", "f()", true),
            ("cli", "#!/usr/bin/env node\nf()", true),
            ("shadow", "root:*:1", false),
            ("backup", "#!/bin/sh\nKEY=1", false),
            (".env", "KEY=1", false),
            ("a.json", "{}", false),
            ("id.pem", "x", false),
        ] {
            fs::write(at(name), text).unwrap();
            assert_eq!(Allowance::default().read_code(&at(name)).is_ok(), is_code, "{name}");
        }
        for path in ["//server/share/a.js", r"\\server\share\a.js", "C:/a.js", "a.js"] {
            let error = Allowance::default().read_code(path).unwrap_err();
            assert_eq!(error.to_string(), "it is no file of a local disk", "{path}");
        }
        symlink("/proc/self/maps", at("link.js")).unwrap();
        assert!(Allowance::default().read_code(&at("link.js")).is_err());
    }
    #[test]
    fn files_are_read_below_one_folder() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        fs::create_dir(at("in")).unwrap();
        for name in ["in/a.js", "out.js", "inner.js"] {
            fs::write(at(name), "f()").unwrap();
        }
        symlink(at("out.js"), at("in/link.js")).unwrap();
        symlink(at("in"), at("same")).unwrap();
        let mut allowance = Allowance::within(Some(at("in").into()));
        symlink(at("absent"), at("in/dangling.js")).unwrap();
        symlink(dir.path(), at("in/up")).unwrap();
        for (name, error) in [
            ("in/a.js", None),
            ("same/a.js", None),
            ("in/absent.js", Some(ErrorKind::NotFound)),
            ("in/absent/absent.js", Some(ErrorKind::NotFound)),
            ("in/../out.js", Some(OUTSIDE)),
            ("in/../absent.js", Some(OUTSIDE)),
            ("in/link.js", Some(OUTSIDE)),
            ("in/dangling.js", Some(OUTSIDE)),
            ("in/up/out.js", Some(OUTSIDE)),
            ("in/up/absent.js", Some(OUTSIDE)),
            ("out.js", Some(OUTSIDE)),
            ("absent.js", Some(OUTSIDE)),
            ("absent/absent.js", Some(OUTSIDE)),
            ("inner.js", Some(OUTSIDE)),
        ] {
            assert_eq!(allowance.read(&at(name)).err().map(|error| error.kind()), error, "{name}");
        }
        let mut nowhere = Allowance::within(Some(at("absent").into()));
        assert!(nowhere.read(&at("in/a.js")).is_err());
    }
}
