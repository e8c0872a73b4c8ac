//! The files to read: given by their own paths, or found in folders.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::input::{Failed, Input};
use crate::base::cold_sort::ColdSort;
use crate::base::system::files::{FileId, identify_target};

/// Returns the files among `paths`, and the files in the folders among `paths` and in their folders,
/// sorted by name. Each file comes once.
///
/// Only files with the extension of a trace are taken from a folder. Hidden files, hidden folders and
/// `node_modules` are skipped.
pub fn find(paths: &[PathBuf]) -> (Vec<Input>, Vec<Failed>) {
    find_also(paths, |_| false)
}

/// Returns the files that `find` returns, and the other files in folders that `is_input` takes by their
/// contents.
pub fn find_also(
    paths: &[PathBuf],
    is_input: impl Fn(&Input) -> bool,
) -> (Vec<Input>, Vec<Failed>) {
    let (inputs, failed) = (Vec::new(), Vec::new());
    let mut search = FileSearch { inputs, failed, group: 0, seen: HashSet::new(), is_input };
    for (group, path) in paths.iter().enumerate() {
        search.group = group;
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => search.folder(path),
            Ok(metadata) => search.file(path, &metadata, true),
            Err(error) => search.fail(path, &error),
        }
    }
    (search.inputs, search.failed)
}

struct FileSearch<F> {
    inputs: Vec<Input>,
    failed: Vec<Failed>,
    /// Index of the given path.
    group: usize,
    seen: HashSet<FileId>,
    /// Whether a file whose name is not that of a trace is an input.
    is_input: F,
}

impl<F: Fn(&Input) -> bool> FileSearch<F> {
    fn folder(&mut self, folder: &Path) {
        let entries =
            fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.fail(folder, &error),
        };
        entries.cold_sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if is_left_out(&name) {
                continue;
            }
            // Does not follow links to folders, which could lead in a circle.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.folder(&path);
            } else if is_input_name(&name) {
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => {}
                    Ok(metadata) => self.file(&path, &metadata, false),
                    Err(error) => self.fail(&path, &error),
                }
            } else if let Some(input) = self.other_input(&path) {
                self.add(input);
            }
        }
    }

    /// Returns a file of a folder that is an input by its contents.
    fn other_input(&self, path: &Path) -> Option<Input> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let (path, group) = (path.to_owned(), self.group);
        let input = Input { path, bytes: metadata.len(), is_named: false, group };
        (self.is_input)(&input).then_some(input)
    }

    fn file(&mut self, path: &Path, metadata: &fs::Metadata, is_named: bool) {
        if !metadata.is_file() {
            let reason = "it is not a regular file; copy its content into a file first".to_owned();
            self.failed.push(Failed { path: path.to_owned(), reason });
            return;
        }
        self.add(Input { path: path.to_owned(), bytes: 0, is_named, group: self.group });
    }

    /// Adds a file, unless it is known by another path.
    fn add(&mut self, input: Input) {
        match identify_target(&input.path) {
            Ok((id, bytes)) if self.seen.insert(id) => self.inputs.push(Input { bytes, ..input }),
            Ok(_) => {}
            Err(error) => self.fail(&input.path, &error),
        }
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "it does not exist".to_owned(),
            _ => format!("it cannot be read: {error}"),
        };
        self.failed.push(Failed { path: path.to_owned(), reason });
    }
}

/// Endings of files in folders that are inputs, without `.gz`.
const ENDINGS: [&str; 6] = [".json", ".trace", ".cpuprofile", ".pb", ".pprof", ".prof"];

/// Returns whether an entry of a folder is left out, with all below it.
pub fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// Returns whether a file in a folder is an input, by its name.
pub fn is_input_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    // Node's own trace events.
    let is_log = name.starts_with("node_trace.") && name.ends_with(".log");
    is_log || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_endings() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands/README.md");
        let text = fs::read_to_string(page).unwrap();
        let (_, list) = text.split_once(" files that end in ").unwrap();
        let (list, _) = list.split_once(" (or these with `.gz`)").unwrap();
        let told: Vec<&str> = list.split('`').filter(|span| span.starts_with('.')).collect();
        assert_eq!(told, ENDINGS);
    }

    #[test]
    fn folders_are_read_in_order_and_files_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["b", "node_modules", ".git"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for name in [
            "c.cpuprofile",
            "a.trace.json",
            "b/x.json.gz",
            "b/notes.txt",
            "b/other.log",
            "b/node_trace.1.log",
            "b/x.trace.json.partial",
            "node_modules/package.json",
            ".git/x.json",
            ".x.json",
            "named.txt",
        ] {
            fs::write(at(name), "{}").unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), at("b/round.json")).unwrap();
        let (inputs, failed) =
            find(&[at("named.txt"), dir.path().into(), at("a.trace.json"), at("missing")]);
        let names: Vec<_> = inputs
            .iter()
            .map(|input| input.path.strip_prefix(dir.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["named.txt", "a.trace.json", "b/node_trace.1.log", "b/x.json.gz", "c.cpuprofile"]
        );
        assert!(inputs[0].is_named && !inputs[1].is_named);
        assert_eq!(inputs[0].bytes, 2);
        let reason = "it does not exist".to_owned();
        assert_eq!(failed, [Failed { path: at("missing"), reason }]);
    }

    #[test]
    fn other_names_in_folders_are_inputs_by_their_contents() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a.json", "cpu.out", "profile", "notes.txt", ".hidden"] {
            fs::write(at(name), name).unwrap();
        }
        std::os::unix::fs::symlink(at("profile"), at("same")).unwrap();
        let is_input = |input: &Input| !input.path.ends_with("notes.txt");
        let (inputs, failed) = find_also(&[dir.path().into()], is_input);
        let names: Vec<_> = inputs.iter().map(|input| input.path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.json", "cpu.out", "profile"]);
        assert!(inputs.iter().all(|input| input.bytes > 0 && !input.is_named) && failed.is_empty());
    }

    #[test]
    fn only_regular_files_are_read() {
        let (inputs, failed) = find(&["/dev/null".into()]);
        assert!(inputs.is_empty());
        assert!(failed[0].reason.contains("not a regular file"));
    }
}
