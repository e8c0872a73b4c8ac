//! What a file is, by its path: of which package, one of Node's loaders, a test.

/// Code of Node itself.
const NODE: &str = "node:";
/// Functions without a script.
pub const NATIVE: &str = "(native)";
/// Code outside of `node_modules`.
const OWN: &str = "(own code)";

/// Files of Node that load modules, and that start a process or a worker.
const LOADERS: [&str; 4] = [
    "node:internal/modules/",
    "node:internal/bootstrap/",
    "node:internal/main/",
    "node:internal/process/pre_execution",
];

/// Returns the package of a file: the one in the innermost `node_modules` of its path.
pub fn package_of(path: &str) -> &str {
    if path.is_empty() {
        NATIVE
    } else if path.starts_with(NODE) {
        NODE
    } else {
        path_in_node_modules(path).map_or(OWN, package_name)
    }
}

/// Returns whether the name is that of code outside of packages.
pub fn is_users(package: &str) -> bool {
    package == OWN
}

/// Returns whether the name is that of Node's code, or of functions without a script.
pub fn is_built_in(package: &str) -> bool {
    package == NODE || package == NATIVE
}

/// Returns whether the name is that of functions without a script, or without a file.
pub fn is_native(package: &str) -> bool {
    package == NATIVE
}

/// Returns whether a file of Node loads modules, or starts a process or a worker.
pub fn is_loader(path: &str) -> bool {
    LOADERS.iter().any(|start| path.starts_with(start))
}

/// Returns whether a file has the name or the folder of tests.
pub fn is_test(path: &str) -> bool {
    let file = path.rsplit(is_separator).next().unwrap_or_default();
    file.contains(".test.") || file.contains(".spec.") || path.contains("/__tests__/")
}

/// Returns the folder of the package that a file is in: the one in the innermost `node_modules`. Tools
/// keep files of their own there, in folders that begin with a dot.
pub fn package_folder(path: &str) -> Option<&str> {
    let inner = path_in_node_modules(path).filter(|inner| !inner.starts_with('.'))?;
    let end = path.len() - inner.len() + package_name(inner).len();
    path.get(..end)
}

/// Returns the part of a path after the innermost `node_modules`, if there is one.
fn path_in_node_modules(path: &str) -> Option<&str> {
    let mut inner = None;
    let mut at = 0;
    for part in path.split(is_separator) {
        at += part.len() + 1;
        if part == "node_modules" {
            inner = path.get(at..).filter(|rest| !rest.is_empty()).or(inner);
        }
    }
    inner
}

/// Returns `typescript` for `typescript/lib/tsc.js`, and `@babel/core` for `@babel/core/index.js`.
fn package_name(path: &str) -> &str {
    let scopes = usize::from(path.starts_with('@'));
    let end = path.match_indices(is_separator).nth(scopes);
    end.map_or(path, |(end, _)| &path[..end])
}

fn is_separator(c: char) -> bool {
    c == '/' || c == '\\'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packages_are_named_by_the_innermost_node_modules() {
        for (path, package) in [
            ("/r/src/a.js", "(own code)"),
            ("[eval]", "(own code)"),
            ("evalmachine.<anonymous>", "(own code)"),
            ("/r/my_node_modules/a.js", "(own code)"),
            ("/r/node_modules", "(own code)"),
            ("", "(native)"),
            ("node:internal/fs/utils", "node:"),
            ("/r/node_modules/typescript/lib/tsc.js", "typescript"),
            ("/r/node_modules/@babel/core/lib/index.js", "@babel/core"),
            ("/r/node_modules/a/node_modules/@b/c/d.js", "@b/c"),
            ("/r/node_modules/.pnpm/x@1.2.3/node_modules/x/x.js", "x"),
            ("C:\\r\\node_modules\\x\\x.js", "x"),
            ("https://host/node_modules/x/x.js", "x"),
            ("/r/node_modules/x.js", "x.js"),
            ("/r/node_modules/@s", "@s"),
            ("/é/node_modules/日/x.js", "日"),
        ] {
            assert_eq!(package_of(path), package, "{path}");
        }
    }

    #[test]
    fn packages_have_folders() {
        for (path, folder) in [
            (
                "/r/node_modules/a/node_modules/@b/c/d.js",
                Some("/r/node_modules/a/node_modules/@b/c"),
            ),
            ("/r/node_modules/a/x/d.js", Some("/r/node_modules/a")),
            ("/r/a.js", None),
            ("/r/node_modules/", None),
            ("/r/node_modules/.vite-temp/vite.config.mjs", None),
        ] {
            assert_eq!(package_folder(path), folder, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_a_package(path in "(node_modules|/|\\\\|@|é|a|node:){0,9}") {
            prop_assert!(!package_of(&path).is_empty() || path.contains("//") || path.contains('\\'));
        }
    }
}
