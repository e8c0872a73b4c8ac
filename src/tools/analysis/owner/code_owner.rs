//! Who is responsible for a function: a rule of a linter, a plugin, a test, a package, or own code.

use cpu_prof_core::profile::package::{is_built_in, is_test, is_users, package_folder};

use super::call_sites::{CallSite, Runs};

/// The part of a program that a function works for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CodeOwner {
    /// Kind of the owner.
    pub kind: OwnerKind,
    /// Name of the rule or of the package; path of the file in own code, and for tests.
    pub name: String,
    /// Whether the code is neither in a package nor Node's.
    pub is_users: bool,
}

/// The kinds of owners. Work below an owner of the first kinds is done for this owner, whichever
/// package does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum OwnerKind {
    /// A rule of a linter.
    Rule,
    /// A plugin of a tool.
    Plugin,
    /// A loader of webpack.
    Loader,
    /// A transform of Jest.
    Transform,
    /// A test.
    Test,
    /// A file of tests.
    TestFile,
    /// Any other package.
    Package,
    /// Any other code outside of packages.
    Own,
}

/// A function, as far as its owner depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnedCode<'a> {
    /// Path of the file.
    pub path: &'a str,
    /// Package of the file.
    pub package: &'a str,
    /// Name of the function.
    pub function: &'a str,
}

impl CodeOwner {
    /// Returns whether the work of this owner counts for another owner, which called. What a plugin or a
    /// rule of a package calls in own code is own work: the package only passes the call on.
    pub(super) fn helps(&self, caller: &Self) -> bool {
        let is_passed_on = self.is_users
            && !caller.is_users
            && (caller.kind == OwnerKind::Rule || caller.kind.is_plugin());
        let is_in_test = (self.kind, caller.kind) == (OwnerKind::TestFile, OwnerKind::Test);
        caller.has_helpers() && (!self.has_helpers() || is_in_test) && !is_passed_on
    }

    fn has_helpers(&self) -> bool {
        self.kind < OwnerKind::Package
    }
}

impl OwnerKind {
    /// Returns the kind's name in JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Plugin => "plugin",
            Self::Loader => "loader",
            Self::Transform => "transform",
            Self::Test => "test",
            Self::TestFile => "test file",
            Self::Package => "package",
            Self::Own => "own code",
        }
    }

    /// Returns whether a tool has called the code as a part of the tool, whatever the tool calls such parts.
    pub(super) fn is_plugin(self) -> bool {
        matches!(self, Self::Plugin | Self::Loader | Self::Transform)
    }
}

/// The package of ESLint.
pub(super) const ESLINT: &str = "eslint";
/// Files beside rules that are none.
const NO_RULES: [&str; 5] = ["index", "utils", "util", "helpers", "shared"];
/// The folder of the plugins that a tool has itself.
const OWN_PLUGINS: &str = "/plugins/";

impl OwnedCode<'_> {
    /// Returns the owner of the function; none for Node's and native code. `is_linted` tells whether
    /// ESLint called the code.
    pub(super) fn owner(self, is_linted: bool) -> Option<CodeOwner> {
        let Self { path, package, function } = self;
        if is_built_in(package) {
            return None;
        }
        if !is_users(package) {
            let is_plugin_of_eslint = rule_prefix(ESLINT, package).is_some();
            let rule = if is_plugin_of_eslint { self.rule(ESLINT) } else { None };
            return rule.or_else(|| self.named(OwnerKind::Package, package));
        }
        match rule_of(path).filter(|_| is_linted) {
            Some(rule) => self.named(OwnerKind::Rule, rule),
            None if is_test(path) => match test_title(function) {
                Some(title) => self.named(OwnerKind::Test, &format!("{path} › {title}")),
                None => self.named(OwnerKind::TestFile, path),
            },
            None => self.named(OwnerKind::Own, package),
        }
    }

    /// Returns the owner of the function that a tool of this package has called.
    pub(super) fn called_by(self, tool: &CallSite) -> Option<CodeOwner> {
        let Self { path, package, .. } = self;
        if is_built_in(package) {
            return None;
        }
        let kind = match tool.runs {
            Runs::Rules => return self.rule(tool.package),
            Runs::Plugins | Runs::Taps => OwnerKind::Plugin,
            Runs::Loaders => OwnerKind::Loader,
            Runs::Transforms => OwnerKind::Transform,
        };
        if !tool.is_foreign(package) {
            let (_, file) = self.inside()?.rsplit_once(OWN_PLUGINS)?;
            let is_plugin = tool.package == package && !file.contains('/');
            let name = format!("{package}{OWN_PLUGINS}{}", file.split('.').next()?);
            return if is_plugin { self.named(kind, &name) } else { None };
        }
        self.named(kind, if is_users(package) { path } else { package })
    }

    /// Returns whether the function is in the code of an owner, and not only called by it.
    pub(super) fn is_of(self, owner: &CodeOwner) -> bool {
        owner.name == if owner.is_users { self.path } else { self.package }
    }

    /// Returns the rule that the function belongs to; none for what a package has besides rules.
    fn rule(self, linter: &str) -> Option<CodeOwner> {
        if is_users(self.package) {
            return self.named(OwnerKind::Rule, rule_of(self.path).unwrap_or(self.path));
        }
        let prefix = rule_prefix(linter, self.package).unwrap_or_default();
        let rule = rule_of(self.inside()?)?;
        self.named(OwnerKind::Rule, &format!("{prefix}{rule}"))
    }

    /// Returns the path within the package.
    fn inside(&self) -> Option<&str> {
        self.path.get(package_folder(self.path)?.len()..)
    }

    fn named(&self, kind: OwnerKind, name: &str) -> Option<CodeOwner> {
        Some(CodeOwner { kind, name: name.to_owned(), is_users: is_users(self.package) })
    }
}

/// Returns what stands before the names of a package's rules: `react/` for `eslint-plugin-react`, and
/// `order/` for `stylelint-order`; none for a package that is not named as one with rules for the linter.
fn rule_prefix(linter: &str, package: &str) -> Option<String> {
    if package == linter {
        return Some(String::new());
    }
    let (scope, name) = match package.split_once('/') {
        Some((scope, name)) => (Some(scope), name),
        None => (None, package),
    };
    let name = name.strip_prefix(linter)?;
    let name = match name.strip_prefix("-plugin") {
        Some(name) => name,
        None if linter == ESLINT => return None,
        None => name,
    };
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

#[cfg(test)]
mod tests {
    use super::OwnerKind::{Own, Package, Rule, TestFile};
    use super::*;
    use cpu_prof_core::profile::package::package_of;

    fn code<'a>(path: &'a str, function: &'a str) -> OwnedCode<'a> {
        OwnedCode { path, package: package_of(path), function }
    }

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
            ("/r/node_modules/stylelint/lib/rules/x/index.js", Package, "stylelint"),
            ("/r/node_modules/vite-plugin-svgr/dist/index.js", Package, "vite-plugin-svgr"),
            ("/r/node_modules/url-loader/dist/index.js", Package, "url-loader"),
            ("/r/node_modules/@babel/preset-env/lib/index.js", Package, "@babel/preset-env"),
            ("/r/node_modules/typescript/lib/tsc.js", Package, "typescript"),
            ("/r/src/a.test.ts", TestFile, "/r/src/a.test.ts"),
            ("/r/src/__tests__/a.ts", TestFile, "/r/src/__tests__/a.ts"),
            ("/r/src/a.ts", Own, "(own code)"),
            ("/r/tools/rules/no-x.js", Own, "(own code)"),
        ] {
            let is_users = !path.contains("node_modules");
            let owner = code(path, "f").owner(false);
            assert_eq!(owner, Some(CodeOwner { kind, name: name.into(), is_users }), "{path}");
        }
        assert_eq!(code("node:fs", "f").owner(true), None);
        assert_eq!(code("", "f").owner(true), None);
        let test = code("/r/a.test.ts", "callback of it('adds up')").owner(false).unwrap();
        assert_eq!((test.kind, test.name.as_str()), (OwnerKind::Test, "/r/a.test.ts › adds up"));
        let hook = code("/r/a.test.ts", "callback of beforeEach").owner(false).unwrap();
        assert_eq!(hook.kind, TestFile);
        let own_rule = code("/r/tools/rules/no-x.js", "f").owner(true).unwrap();
        assert_eq!((own_rule.kind, own_rule.name.as_str()), (Rule, "no-x"));
    }
}
