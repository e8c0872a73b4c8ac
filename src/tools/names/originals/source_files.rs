//! Finds the files that the sources of maps are.

use std::path::Path;

use rustc_hash::FxHashMap;

use cpu_prof_core::base::path_text::{ancestors, is_local_file, volume};
use cpu_prof_core::base::system::IS_WINDOWS;
use cpu_prof_core::format::url::frame_url;
use cpu_prof_core::profile::package::package_folder;
use cpu_prof_core::profile::program::NodeModules;
use cpu_prof_session::formats::source_map::source_name::{SourcePlace, place};

/// Folders above a generated file in which the sources of a bundle are looked for.
const LEVELS: usize = 24;

/// Questions whether a file exists. A bundle of ten thousand sources leads to fewer than a hundred
/// thousand.
const MAX_QUESTIONS: usize = 250_000;

/// The longest path that is asked for: bytes.
const MAX_PATH: usize = 1024;

/// Which files exist, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct SourceFiles {
    known: FxHashMap<String, bool>,
    has_stopped: bool,
}

impl SourceFiles {
    /// Returns the URL of a source by its name in the map of a file; none for a source without a name.
    pub(super) fn url(&mut self, name: &str, generated: &str) -> Option<String> {
        let folder = generated.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = match place(name, folder)? {
            SourcePlace::Url(url) => return Some(url),
            SourcePlace::Path(path) => path,
            SourcePlace::InProject { path, url } => match self.above(folder, &path) {
                Some(path) => path,
                None if package_folder(generated).is_some() => format!("/{path}"),
                None => return Some(url),
            },
        };
        // A package's maps may name files of the machine that built the package.
        let path = match package_folder(generated) {
            Some(package) if package_folder(&path).is_none() => {
                let name = name.trim_start_matches(['.', '/']);
                let inside = path[volume(&path).len()..].trim_start_matches('/');
                let tail = if path.ends_with(name) { name } else { inside };
                format!("{package}/{tail}")
            }
            // A server of a bundler names files by their path below the project.
            None if name.starts_with('/') && !self.exists(&path) => {
                self.above(folder, path.trim_start_matches('/')).unwrap_or(path)
            }
            _ => path,
        };
        Some(frame_url(&path, NodeModules::Foldable))
    }

    /// Returns the file of a path below one of the folders above a file.
    fn above(&mut self, folder: &str, path: &str) -> Option<String> {
        let folders = ancestors(folder).take(LEVELS);
        let mut files = folders.map(|folder| format!("{folder}/{path}"));
        files.find(|file| self.exists(file))
    }

    fn exists(&mut self, path: &str) -> bool {
        if let Some(exists) = self.known.get(path) {
            return *exists;
        }
        self.has_stopped |= self.known.len() >= MAX_QUESTIONS;
        if self.has_stopped || path.len() > MAX_PATH {
            return false;
        }
        let exists = is_local_file(path, IS_WINDOWS) && Path::new(path).is_file();
        self.known.insert(path.to_owned(), exists);
        exists
    }

    /// Returns what the user should know.
    pub(super) fn note(&self) -> Option<String> {
        self.has_stopped.then(|| {
            format!(
                "sources were looked for in {MAX_QUESTIONS} places; further ones have the names that \
                 their source maps give"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sources_are_found_in_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        fs::create_dir_all(format!("{root}/src")).unwrap();
        fs::write(format!("{root}/src/a.ts"), "").unwrap();
        let bundle = format!("{root}/dist/server/app.js");
        let mut files = SourceFiles::default();
        let mut url = |name: &str| files.url(name, &bundle);
        let found = Some(format!("file://{root}/src/a.ts"));
        for name in
            ["webpack://app/./src/a.ts", "../../src/a.ts", "/src/a.ts", "[project]/src/a.ts"]
        {
            assert_eq!(url(name), found, "{name}");
        }
        assert_eq!(url("webpack://app/./src/b.ts").as_deref(), Some("webpack://app/src/b.ts"));
        let config = format!("{root}/node_modules/.vite-temp/vite.config.ts.timestamp-1.mjs");
        let of_config = SourceFiles::default().url("../../src/a.ts", &config);
        assert_eq!(of_config, Some(format!("file://{root}/src/a.ts")));
        assert_eq!(url("../b.ts"), Some(format!("file://{root}/dist/b.ts")));
        assert_eq!(url("/gone/b.ts").as_deref(), Some("file:///gone/b.ts"));
        assert_eq!(url("C:\\p\\a.ts").as_deref(), Some("file:///C:/p/a.ts"));
    }

    #[test]
    fn sources_of_packages_stay_in_their_package() {
        let mut files = SourceFiles::default();
        let file = "/r/node_modules/@s/p/dist/index.js";
        for (name, url) in [
            ("../src/index.ts", "file:///r/node_modules/@s/p/src/index.ts"),
            (
                "../../../../../packages/p/src/index.ts",
                "file:///r/node_modules/@s/p/packages/p/src/index.ts",
            ),
            ("/home/build/src/index.ts", "file:///r/node_modules/@s/p/home/build/src/index.ts"),
            ("webpack://p/./src/index.ts", "file:///r/node_modules/@s/p/src/index.ts"),
            ("../node_modules/q/index.ts", "file:///r/node_modules/@s/p/node_modules/q/index.ts"),
            ("../../../q/index.ts", "file:///r/node_modules/q/index.ts"),
        ] {
            assert_eq!(files.url(name, file).as_deref(), Some(url), "{name}");
        }
    }

    #[test]
    fn sources_of_windows_are_named_and_not_looked_for_on_posix() {
        let file = "C:/r/dist/server/app.js";
        for (name, url) in [
            ("../../src/a.ts", "file:///C:/r/src/a.ts"),
            (r"..\..\src\a.ts", "file:///C:/r/src/a.ts"),
            (r"d:\r\src\a.ts", "file:///D:/r/src/a.ts"),
            (r"\\server\share\a.ts", "file://server/share/a.ts"),
            ("webpack://app/./src/a.ts", "webpack://app/src/a.ts"),
            // The folder is there, but below the working directory.
            ("webpack://app/./read/mod.rs", "webpack://app/read/mod.rs"),
        ] {
            assert_eq!(SourceFiles::default().url(name, file).as_deref(), Some(url), "{name}");
        }
        let of_package = "C:/r/node_modules/p/dist/index.js";
        for (name, url) in [
            ("../src/index.ts", "file:///C:/r/node_modules/p/src/index.ts"),
            (r"D:\build\src\index.ts", "file:///C:/r/node_modules/p/build/src/index.ts"),
            ("webpack://p/./src/index.ts", "file:///C:/r/node_modules/p/src/index.ts"),
        ] {
            assert_eq!(
                SourceFiles::default().url(name, of_package).as_deref(),
                Some(url),
                "{name}"
            );
        }
        let on_share = "//server/share/dist/app.js";
        let url = SourceFiles::default().url("../src/a.ts", on_share);
        assert_eq!(url.as_deref(), Some("file://server/share/src/a.ts"));
    }

    #[test]
    fn questions_are_limited() {
        let mut files = SourceFiles::default();
        for source in 0..=MAX_QUESTIONS / 4 {
            files.url(&format!("webpack://app/{source}.ts"), "/gone/a/b/c.js");
        }
        assert_eq!(files.known.len(), MAX_QUESTIONS);
        assert!(files.note().unwrap().contains("250000 places"));
    }
}
