//! The files in which the names of a module's functions can be: the folders of the user, the module itself,
//! and the system's folder of debug files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::elf_file::{ReadableFiles, UnreadFile, with_elf};
use cpu_prof_core::base::native_code::BuildId;
use cpu_prof_core::format::elf::build_of;

/// The system's folder of debug files.
const SYSTEM_FOLDER: &str = "/usr/lib/debug";

/// Files of a folder of the user that are looked at.
const LISTED: usize = 500;

/// Where debug files are looked for.
#[derive(Debug, Default)]
pub(super) struct DebugFiles {
    readable: ReadableFiles,
    folders: Vec<PathBuf>,
    /// Files directly in the user's folders, by their builds; none before they were needed.
    listed: Option<FxHashMap<BuildId, PathBuf>>,
}

/// What the file that a module was loaded from is now.
#[derive(Debug)]
pub(super) enum ModuleFile {
    /// The file that was recorded.
    Same(File),
    /// Another build, or no module.
    Other,
    Unread(UnreadFile),
}

impl DebugFiles {
    /// Returns the files of some folders, below a folder only, or everywhere.
    pub(super) fn new(folders: Vec<PathBuf>, within: Option<PathBuf>) -> Self {
        Self { readable: ReadableFiles::within(within), folders, listed: None }
    }

    /// Returns the number of places that [`Self::in_folders`] knows.
    pub(super) fn places(&self) -> usize {
        4 * self.folders.len() + 1
    }

    /// Opens the file of a build in a place in the user's folders, by the number of the place.
    pub(super) fn in_folders(&mut self, place: usize, path: &str, build: BuildId) -> Option<File> {
        let Some(folder) = self.folders.get(place / 4) else {
            let file = self.listed().get(&build).cloned()?;
            return self.open(&file, build);
        };
        let folder = folder.clone();
        let file = match place % 4 {
            0 => folder.join(debug_file(build)?),
            1 => folder.join(".build-id").join(debug_file(build)?),
            2 => folder.join(file_name(path)?),
            _ => folder.join(format!("{}.debug", file_name(path)?)),
        };
        self.open(&file, build)
    }

    /// Opens the file that a module was loaded from.
    pub(super) fn module(&self, path: &str, build: BuildId) -> ModuleFile {
        match self.readable.open_named(path) {
            Ok(file) if has_build(&file, build) => ModuleFile::Same(file),
            Ok(_) => ModuleFile::Other,
            Err(reason) => ModuleFile::Unread(reason),
        }
    }

    /// Opens the debug file that the system has for a build.
    pub(super) fn of_system(&self, build: BuildId) -> Option<File> {
        let file = Path::new(SYSTEM_FOLDER).join(".build-id").join(debug_file(build)?);
        self.open(&file, build)
    }

    fn open(&self, path: &Path, build: BuildId) -> Option<File> {
        self.readable.open(path).ok().filter(|file| has_build(file, build))
    }

    fn listed(&mut self) -> &FxHashMap<BuildId, PathBuf> {
        let (folders, readable) = (&self.folders, &self.readable);
        self.listed.get_or_insert_with(|| {
            let entries = folders.iter().flat_map(|folder| {
                fs::read_dir(folder).into_iter().flatten().take(LISTED).flatten()
            });
            let files = entries.filter_map(|entry| {
                let file = readable.open(&entry.path()).ok()?;
                Some((build_of_file(&file)?, entry.path()))
            });
            files.collect()
        })
    }
}

fn has_build(file: &File, build: BuildId) -> bool {
    build_of_file(file) == Some(build)
}

fn build_of_file(file: &File) -> Option<BuildId> {
    with_elf(file, |elf| Some(build_of(elf))).filter(BuildId::is_known)
}

/// Returns the path of a build's debug file below a folder of such files: `ab/cdef.debug`.
fn debug_file(build: BuildId) -> Option<PathBuf> {
    let digits = build.to_string();
    let (folder, file) = digits.split_at_checked(2).filter(|(_, file)| !file.is_empty())?;
    Some(Path::new(folder).join(format!("{file}.debug")))
}

/// Returns the file's name in the path of a module; none if it can be more than a name.
fn file_name(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let is_name = !name.is_empty() && name != ".." && !name.contains(['\\', ':', '\0']);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_files_are_found_by_builds_and_by_names() {
        let build = BuildId::parse("abcdef01").unwrap();
        assert_eq!(debug_file(build).unwrap(), Path::new("ab/cdef01.debug"));
        for short in ["", "ab"] {
            assert_eq!(debug_file(BuildId::parse(short).unwrap_or_default()), None);
        }
        for (path, name) in [
            ("/usr/lib/libz.so.1", Some("libz.so.1")),
            ("/usr/..", None),
            ("/usr/", None),
            (r"/a\..\b", None),
            ("/c:", None),
        ] {
            assert_eq!(file_name(path), name, "{path}");
        }
    }
}
