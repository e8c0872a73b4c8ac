//! Who is responsible for a function: a rule of ESLint, a plugin, a test file, a package, or own code.

use cpu_prof_core::profile::package::{is_built_in, is_users, package_folder, package_of};

/// The part of a program that a function works for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CodeOwner {
    /// Kind of the owner.
    pub kind: OwnerKind,
    /// Name of the rule, of the plugin's package, of the package, or path of the test file.
    pub name: String,
}

/// The kinds of owners. Work below an owner of the first kinds is done for this owner, whichever
/// package does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum OwnerKind {
    /// A rule of ESLint.
    Rule,
    /// A plugin or loader of a build tool.
    Plugin,
    /// A test.
    Test,
    /// A file of tests.
    TestFile,
    /// Any other package.
    Package,
    /// Any other code outside of packages.
    Own,
}

impl OwnerKind {
    /// Returns whether the work of others counts for an owner of this kind.
    fn has_helpers(self) -> bool {
        self < Self::Package
    }

    /// Returns whether work of an owner of this kind counts for an owner of another kind that called.
    pub(crate) fn helps(self, caller: Self) -> bool {
        caller.has_helpers()
            && (!self.has_helpers() || (self, caller) == (Self::TestFile, Self::Test))
    }
}

/// The package of ESLint.
pub(crate) const ESLINT: &str = "eslint";
/// Words in the names of packages that are parts of a build tool.
const PLUGIN_WORDS: [&str; 3] = ["plugin", "loader", "preset"];
/// Files beside rules that are none.
const NO_RULES: [&str; 5] = ["index", "utils", "util", "helpers", "shared"];

/// Returns the owner of a function in a file; none for Node's and native code. `is_linted` tells
/// whether ESLint called the code.
pub(crate) fn owner_of(path: &str, function: &str, is_linted: bool) -> Option<CodeOwner> {
    let package = package_of(path);
    if is_built_in(package) {
        return None;
    }
    let owner = |kind, name: &str| Some(CodeOwner { kind, name: name.to_owned() });
    if is_users(package) {
        return match rule_of(path).filter(|_| is_linted) {
            Some(rule) => owner(OwnerKind::Rule, rule),
            None if is_test(path) => match test_title(function) {
                Some(title) => owner(OwnerKind::Test, &format!("{path} › {title}")),
                None => owner(OwnerKind::TestFile, path),
            },
            None => owner(OwnerKind::Own, package),
        };
    }
    let inside =
        package_folder(path).and_then(|folder| path.get(folder.len()..)).unwrap_or_default();
    if let Some(prefix) = rule_prefix(package)
        && let Some(rule) = rule_of(inside)
    {
        return owner(OwnerKind::Rule, &format!("{prefix}{rule}"));
    }
    // Parts of ESLint; its plugins are known by their rules.
    let is_of_eslint = package.starts_with("@eslint/") || rule_prefix(package).is_some();
    let is_plugin = package.split(['/', '-', '.']).any(|word| PLUGIN_WORDS.contains(&word));
    owner(if is_plugin && !is_of_eslint { OwnerKind::Plugin } else { OwnerKind::Package }, package)
}

/// Returns what stands before the names of a package's rules: `react/` for `eslint-plugin-react`; none
/// for a package without rules.
fn rule_prefix(package: &str) -> Option<String> {
    if package == ESLINT {
        return Some(String::new());
    }
    let (scope, name) = match package.split_once('/') {
        Some((scope, name)) => (Some(scope), name),
        None => (None, package),
    };
    let name = name.strip_prefix("eslint-plugin")?;
    match (scope, name.strip_prefix('-')) {
        (None, Some(name)) => Some(format!("{name}/")),
        (Some(scope), Some(name)) => Some(format!("{scope}/{name}/")),
        (Some(scope), None) if name.is_empty() => Some(format!("{scope}/")),
        _ => None,
    }
}

/// Returns the name of the rule in a file: `no-x` for `…/rules/no-x.js` and `…/rules/no-x/index.js`.
fn rule_of(path: &str) -> Option<&str> {
    let (_, rest) = path.rsplit_once("/rules/")?;
    let name = match rest.split_once('/') {
        None => rest.split('.').next()?,
        Some((name, file)) if file.starts_with("index.") => name,
        Some(_) => return None,
    };
    (!name.is_empty() && !NO_RULES.contains(&name)).then_some(name)
}

/// Returns the title of the test that a callback is.
fn test_title(function: &str) -> Option<&str> {
    let call = function.strip_prefix("callback of ")?;
    let title =
        ["test('", "it('", "specify('"].iter().find_map(|start| call.strip_prefix(start))?;
    title.strip_suffix("')")
}

fn is_test(path: &str) -> bool {
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    file.contains(".test.") || file.contains(".spec.") || path.contains("/__tests__/")
}

#[cfg(test)]
mod tests {
    use super::OwnerKind::{Own, Package, Plugin, Rule, TestFile};
    use super::*;

    #[test]
    fn files_have_owners() {
        for (path, kind, name) in [
            ("/r/node_modules/eslint/lib/rules/no-undef.js", Rule, "no-undef"),
            ("/r/node_modules/eslint/lib/rules/utils/ast-utils.js", Package, "eslint"),
            ("/r/node_modules/eslint/lib/rules/index.js", Package, "eslint"),
            ("/r/node_modules/eslint/lib/linter/linter.js", Package, "eslint"),
            ("/r/node_modules/eslint-plugin-react/lib/rules/jsx-key.js", Rule, "react/jsx-key"),
            (
                "/r/node_modules/@typescript-eslint/eslint-plugin/dist/rules/no-shadow.js",
                Rule,
                "@typescript-eslint/no-shadow",
            ),
            ("/r/node_modules/@s/eslint-plugin-a/src/rules/x/index.js", Rule, "@s/a/x"),
            ("/r/node_modules/@s/eslint-plugin/src/main.js", Package, "@s/eslint-plugin"),
            ("/r/node_modules/@eslint/plugin-kit/dist/index.js", Package, "@eslint/plugin-kit"),
            ("/r/node_modules/vite-plugin-svgr/dist/index.js", Plugin, "vite-plugin-svgr"),
            ("/r/node_modules/@vitejs/plugin-react/dist/index.js", Plugin, "@vitejs/plugin-react"),
            ("/r/node_modules/ts-loader/dist/index.js", Plugin, "ts-loader"),
            ("/r/node_modules/@babel/preset-env/lib/index.js", Plugin, "@babel/preset-env"),
            ("/r/node_modules/typescript/lib/tsc.js", Package, "typescript"),
            ("/r/src/a.test.ts", TestFile, "/r/src/a.test.ts"),
            ("/r/src/__tests__/a.ts", TestFile, "/r/src/__tests__/a.ts"),
            ("/r/src/a.ts", Own, "(own code)"),
            ("/r/tools/rules/no-x.js", Own, "(own code)"),
        ] {
            assert_eq!(
                owner_of(path, "f", false),
                Some(CodeOwner { kind, name: name.into() }),
                "{path}"
            );
        }
        assert_eq!(owner_of("node:fs", "f", true), None);
        assert_eq!(owner_of("", "f", true), None);
        let test = owner_of("/r/a.test.ts", "callback of it('adds up')", false).unwrap();
        assert_eq!((test.kind, test.name.as_str()), (OwnerKind::Test, "/r/a.test.ts › adds up"));
        let hook = owner_of("/r/a.test.ts", "callback of beforeEach", false).unwrap();
        assert_eq!(hook.kind, TestFile);
        let own_rule = owner_of("/r/tools/rules/no-x.js", "f", true).unwrap();
        assert_eq!((own_rule.kind, own_rule.name.as_str()), (Rule, "no-x"));
    }
}
