//! The names that tools give to the sources of a map, and where such a source may be.

use cpu_prof_core::base::path_text::{self, is_drive, is_windows, volume};
use cpu_prof_core::format::url::file_path;

/// Where a source may be.
#[derive(Debug, PartialEq, Eq)]
pub enum SourcePlace {
    /// An absolute path, with slashes.
    Path(String),
    /// A path below a folder that the name does not tell: that of the project.
    InProject {
        /// The path.
        path: String,
        /// A URL of the source, if no folder has the path.
        url: String,
    },
    /// No file: code of a bundler, or a page.
    Url(String),
}

/// Folders and beginnings of names that a bundler gives to its own code.
const OF_BUNDLERS: [&str; 6] =
    ["webpack/", "(webpack)/", "external ", "external commonjs", "[turbopack]/", "[next]/"];

/// Returns the place of a source; none for a source without a name. `folder` is the folder of the
/// map, absolute and with slashes.
pub fn place(name: &str, folder: &str) -> Option<SourcePlace> {
    let name = name.trim_start_matches('\0');
    if name.is_empty() {
        return None;
    }
    let windows = with_slashes(name, folder);
    let name = windows.as_deref().unwrap_or(name);
    let place = match scheme(name) {
        Some("file") => SourcePlace::Path(normal(&file_path(name))),
        Some("http" | "https" | "node" | "data") => SourcePlace::Url(name.to_owned()),
        Some(scheme) => of_bundler(scheme, &name[scheme.len() + 1..]),
        None if name.starts_with("[project]/") => of_bundler("turbopack", name),
        // Two slashes begin a share on Windows only.
        None if name.starts_with("//") && windows.is_none() && !is_windows(folder) => {
            SourcePlace::Path(normal(&format!("/{}", name.trim_start_matches('/'))))
        }
        None if name.starts_with('/') || is_drive(name) => SourcePlace::Path(normal(name)),
        None => SourcePlace::Path(normal(&format!("{folder}/{}", without_query(name)))),
    };
    Some(place)
}

/// `webpack` for `webpack://app/./a.ts`; none for a path, also for one that begins with a drive.
fn scheme(name: &str) -> Option<&str> {
    let (scheme, _) = name.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'));
    is_scheme.then_some(scheme)
}

/// Returns the place of a source by what stands behind the colon of its scheme.
fn of_bundler(scheme: &str, rest: &str) -> SourcePlace {
    // `//name-of-the-bundle/path`
    let (bundle, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_once('/').unwrap_or(("", rest)),
        None => ("", rest),
    };
    let path = without_query(path.trim_start_matches('/'));
    let path = path.strip_prefix("[project]/").unwrap_or(path);
    if OF_BUNDLERS.iter().any(|own| path.starts_with(own)) {
        return SourcePlace::Url(format!("{scheme}://{bundle}/{path}"));
    }
    let path = normal(&format!("/{path}"));
    let url = format!("{scheme}://{bundle}{path}");
    SourcePlace::InProject { path: path[1..].to_owned(), url }
}

/// Returns a path of Windows with slashes; none for any other text. `folder` is that of the map.
fn with_slashes(name: &str, folder: &str) -> Option<String> {
    // A relative path has no drive that tells its system.
    let is_on_windows = is_windows(name) || is_windows(folder) || !name.contains('/');
    let has_backslash = name.contains('\\') && is_on_windows;
    has_backslash.then(|| path_text::with_slashes(&name.replace('\\', "/")).into_owned())
}

/// Removes what bundlers append to tell the parts of a file apart: `a.vue?vue&type=script`.
fn without_query(name: &str) -> &str {
    name.split_once('?').map_or(name, |(path, _)| path)
}

/// Removes `.` and `..` from an absolute path.
fn normal(path: &str) -> String {
    let volume = volume(path);
    let mut parts = Vec::new();
    for part in path[volume.len()..].split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{volume}/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::SourcePlace::{Path, Url};
    use super::*;

    fn in_project(path: &str, url: &str) -> SourcePlace {
        SourcePlace::InProject { path: path.into(), url: url.into() }
    }

    #[test]
    fn names_tell_places() {
        for (name, expected) in [
            ("../src/a.ts", Path("/r/src/a.ts".into())),
            ("a.ts", Path("/r/dist/a.ts".into())),
            ("./x/../a.ts?v=1", Path("/r/dist/a.ts".into())),
            ("/abs/a.ts", Path("/abs/a.ts".into())),
            ("file:///abs/a%20b.ts", Path("/abs/a b.ts".into())),
            ("file:///C:/p/a.ts", Path("C:/p/a.ts".into())),
            ("C:\\p\\src\\a.ts", Path("C:/p/src/a.ts".into())),
            ("C:\\..\\a.ts", Path("C:/a.ts".into())),
            ("..\\src\\a.ts", Path("/r/src/a.ts".into())),
            ("webpack://app/./src/a.ts", in_project("src/a.ts", "webpack://app/src/a.ts")),
            ("webpack:///./src/a.ts?1f3c", in_project("src/a.ts", "webpack:///src/a.ts")),
            ("webpack:///src/a.ts", in_project("src/a.ts", "webpack:///src/a.ts")),
            (
                "webpack://app/../node_modules/lodash/x.js",
                in_project("node_modules/lodash/x.js", "webpack://app/node_modules/lodash/x.js"),
            ),
            ("turbopack:///[project]/src/a.ts", in_project("src/a.ts", "turbopack:///src/a.ts")),
            ("[project]/src/a.ts", in_project("src/a.ts", "turbopack:///src/a.ts")),
            ("webpack://app/webpack/runtime/x", Url("webpack://app/webpack/runtime/x".into())),
            ("webpack://app/external \"fs\"", Url("webpack://app/external \"fs\"".into())),
            ("https://host/a.ts", Url("https://host/a.ts".into())),
            ("\0virtual:x", in_project("x", "virtual:///x")),
        ] {
            assert_eq!(place(name, "/r/dist"), Some(expected), "{name}");
        }
        assert_eq!(place("", "/r"), None);
    }

    #[test]
    fn maps_of_windows_tell_places() {
        for (name, folder, expected) in [
            ("../src/a.ts", "C:/r/dist", "C:/r/src/a.ts"),
            ("..\\src\\a.ts", "C:/r/dist", "C:/r/src/a.ts"),
            ("../../../../a.ts", "C:/r/dist", "C:/a.ts"),
            // Behind a root of sources.
            ("..\\src/a.ts", "C:/r/dist", "C:/r/src/a.ts"),
            ("C:\\r\\/src/a.ts", "/r", "C:/r/src/a.ts"),
            ("..\\src/a.ts", "/r", "/r/..\\src/a.ts"),
            ("c:\\r\\src\\a.ts", "D:/x", "C:/r/src/a.ts"),
            ("file:///c:/r/src/a.ts", "D:/x", "C:/r/src/a.ts"),
            ("file://server/share/a.ts", "C:/r", "//server/share/a.ts"),
            ("../src/a.ts", "//server/share/dist", "//server/share/src/a.ts"),
            ("../../../src/a.ts", "//server/share/dist", "//server/share/src/a.ts"),
            ("\\\\server\\share\\a.ts", "C:/r", "//server/share/a.ts"),
            ("\\\\?\\C:\\r\\a.ts", "C:/r", "C:/r/a.ts"),
            ("/src/a.ts", "C:/r", "/src/a.ts"),
            ("//cdn/src/a.ts", "/r", "/cdn/src/a.ts"),
        ] {
            assert_eq!(place(name, folder), Some(Path(expected.into())), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_an_absolute_place(
            name in "(webpack|file|:|/|\\.\\.|\\.|\\\\|C|a|\\?|\\x00|é){1,9}",
            folder in prop::sample::select(vec!["/r/dist", "C:/r/dist", "//server/share/dist"]),
        ) {
            if let Some(Path(path)) = place(&name, folder) {
                prop_assert!(path.starts_with('/') || is_drive(&path), "{name} {path}");
                let inside = &path[volume(&path).len()..];
                prop_assert!(!inside.contains("/../") && !inside.contains("//"), "{name} {path}");
            }
        }
    }
}
