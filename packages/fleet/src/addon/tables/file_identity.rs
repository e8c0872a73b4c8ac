//! The name of a file that is the same for all runs of a repository: on another machine, in another
//! folder, after a package has moved.

use cpu_prof_core::base::path_text::{below, is_windows};
use cpu_prof_core::profile::package::package_folder;

/// Returns the name of a file: in a package below the package's folder, else below the root of the
/// repository, else as it is.
pub(super) fn file_identity<'a>(path: &'a str, root: Option<&str>) -> &'a str {
    if let Some(folder) = package_folder(path) {
        let within = path[folder.len()..].trim_start_matches(['/', '\\']);
        // A file beside the packages is a package of its own.
        let beside = || folder.rsplit(['/', '\\']).next().unwrap_or(folder);
        let name = if within.is_empty() { beside() } else { within };
        if !name.is_empty() {
            return name;
        }
    }
    root.and_then(|root| below(path, root)).unwrap_or(path)
}

/// Returns whether a name is still that of a place on one machine.
pub(super) fn is_absolute(name: &str) -> bool {
    name.starts_with('/') || is_windows(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_have_one_name_on_all_machines() {
        for (path, root, name) in [
            ("/r/src/a.js", Some("/r"), "src/a.js"),
            ("/r/src/a.js", Some("/r/"), "src/a.js"),
            ("/r/src/a.js", Some("/q"), "/r/src/a.js"),
            ("/r/src/a.js", None, "/r/src/a.js"),
            ("/r/src/a.js", Some("/"), "/r/src/a.js"),
            ("C:/Repo/src/a.js", Some("C:/repo"), "src/a.js"),
            ("//server/share/r/a.js", Some("//server/share/r"), "a.js"),
            ("/r/node_modules/x/lib/a.js", Some("/r"), "lib/a.js"),
            ("/elsewhere/node_modules/x/lib/a.js", Some("/r"), "lib/a.js"),
            ("/r/node_modules/@s/x/a.js", Some("/r"), "a.js"),
            ("/r/node_modules/.pnpm/x@1.0.0/node_modules/x/lib/a.js", Some("/r"), "lib/a.js"),
            ("/r/node_modules/a/node_modules/b/c.js", Some("/r"), "c.js"),
            ("C:/r/node_modules/x/lib/a.js", Some("C:/r"), "lib/a.js"),
            (r"x\node_modules\y\lib\a.js", None, r"lib\a.js"),
            ("/r/node_modules/x.js", Some("/r"), "x.js"),
            ("/r/node_modules/.vite-temp/a.mjs", Some("/r"), "node_modules/.vite-temp/a.mjs"),
            ("https://host/node_modules/x/a.js", None, "a.js"),
            ("node:internal/fs/utils", Some("/r"), "node:internal/fs/utils"),
            ("wasm://wasm/0d1f2a", Some("/r"), "wasm://wasm/0d1f2a"),
            ("[eval]", Some("/r"), "[eval]"),
            ("", Some("/r"), ""),
        ] {
            assert_eq!(file_identity(path, root), name, "{path} {root:?}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_a_name(
            path in r"(node_modules|/|\\\\|@|é|a|node:|C:|\\.pnpm){0,9}",
            root in prop::option::of(r"(/|C:|é|a){0,4}"),
        ) {
            let name = file_identity(&path, root.as_deref());
            prop_assert!(path.contains(name));
            prop_assert_eq!(name.is_empty(), path.is_empty());
        }
    }
}
