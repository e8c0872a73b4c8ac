//! Where tools call their plugins, loaders and rules. The name of a package proves nothing: a function
//! is a plugin's because a tool calls it as one.
//!
//! A tool is added by a row. Record a run with a slow plugin and look at its stacks (`cpu-prof convert
//! <trace> -o stacks.collapsed`): the row names the function of the tool right above the plugin's. These
//! rows were read off such runs, of the versions in the comments.

use cpu_prof_core::profile::package::package_folder;

/// Functions of a tool that call code of others.
#[derive(Debug)]
pub(super) struct CallSite {
    /// Package of the tool.
    pub package: &'static str,
    /// Part of the file's path in the package; empty for all files.
    file: &'static str,
    /// Names of the functions, without a number at the end, which bundlers add; empty for all.
    functions: &'static [&'static str],
    /// What is called.
    pub runs: Runs,
    /// Packages that the functions call for other things.
    helpers: &'static [&'static str],
    /// Packages of a tool that goes on in a callback, which a plugin calls when the plugin is done: their
    /// work below the plugin is not the plugin's.
    pub resumed: &'static [&'static str],
}

/// What a tool calls, in the tool's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    Plugins,
    /// Plugins, by code that tapable compiles for each hook.
    Taps,
    /// Loaders of webpack.
    Loaders,
    /// Transforms of Jest.
    Transforms,
    /// Rules of a linter.
    Rules,
}

/// The call sites of one function, by their places in [`CALL_SITES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct SitesOf {
    /// For code that the function calls.
    pub direct: Option<u8>,
    /// For code that the function calls by compiled code.
    pub taps: Option<u8>,
}

/// The name of functions without one.
const ANONYMOUS: &str = "(anonymous)";

/// What webpack is made of. Its own parts are plugins too, and count for webpack.
const OF_WEBPACK: &[&str] = &[
    "webpack",
    "webpack-cli",
    "tapable",
    "enhanced-resolve",
    "loader-runner",
    "schema-utils",
    "@rspack/core",
];

/// What Vite is made of, and calls as functions.
const OF_VITE: &[&str] =
    &["vite", "rollup", "rolldown", "@rolldown/pluginutils", "esbuild", "postcss", "lightningcss"];

/// Packages that wrap plugins: whatever they call, the tool above has called.
const WRAPPERS: [&str; 2] = ["unplugin", "@babel/helper-plugin-utils"];

/// The first row for compiled code whose caller is not known, because it continues a hook.
pub(super) const CONTINUED_TAPS: u8 = 0;

/// All call sites.
pub(super) static CALL_SITES: [CallSite; 19] = [
    // webpack 5.112 with tapable 2.3. Only the first call of a hook has a function of tapable above.
    taps("webpack"),
    taps("tapable"),
    taps("enhanced-resolve"),
    taps("@rspack/core"),
    of_webpack(plugins("webpack", "lib/webpack", &["createCompiler", "webpack"])),
    // webpack 5.112 runs loaders by itself, and earlier versions by loader-runner.
    loaders("webpack", "lib/loaders/"),
    loaders("loader-runner", ""),
    // Rollup 4.68 calls most hooks in the callback of a promise. Nothing that Rollup needs is in
    // another package.
    CallSite {
        helpers: OF_VITE,
        ..plugins("rollup", "dist/", &[ANONYMOUS, "runHook", "runHookSync", "applyOptionHook"])
    },
    // Rolldown 1.2.
    CallSite { helpers: OF_VITE, ..plugins("rolldown", "dist/", &["plugin"]) },
    // Vite 6.4 and 8.3: `handler` wraps the hooks of a build, the others are those of the server.
    CallSite {
        helpers: OF_VITE,
        ..plugins(
            "vite",
            "dist/node/",
            &["handler", "transform", "resolveId", "load", "hookParallel", "runConfigHook"],
        )
    },
    // esbuild 0.25 and 0.28 need no other package.
    plugins("esbuild", "lib/", &[]),
    // Babel 7.29: only visitors of plugins have a state, with which `newFn` calls them.
    plugins("@babel/traverse", "/visitors.", &["newFn"]),
    // The functions that make plugins, `pre` and `post`.
    CallSite {
        helpers: &["gensync"],
        ..plugins("@babel/core", "/gensync-utils/async.", &["sync", "async"])
    },
    // PostCSS 8.5.
    plugins(
        "postcss",
        "lib/lazy-result.",
        &[ANONYMOUS, "runOnRoot", "runAsync", "visitTick", "visitSync", "sync"],
    ),
    // Stylelint 17.16; earlier versions have no `runRule`.
    rules("stylelint", "lib/lintPostcssResult.", &[ANONYMOUS, "lintPostcssResult", "runRule"]),
    // ESLint 9.39 and 10.15.
    rules("eslint", "lib/linter/", &["createRuleListeners", "ruleErrorHandler", "callSync"]),
    // GraphQL Code Generator 7.4.
    plugins("@graphql-codegen/core", "/execute-plugin.", &[ANONYMOUS]),
    // Prettier 3.10 needs no other package.
    plugins("prettier", "index.", &[]),
    // Jest 30.5.
    CallSite {
        runs: Runs::Transforms,
        helpers: &["jest-util", "fast-json-stable-stringify"],
        ..plugins(
            "@jest/transform",
            "build/",
            &["transformSource", "transformSourceAsync", "_getCacheKey", "_getCacheKeyAsync"],
        )
    },
];

const fn plugins(
    package: &'static str,
    file: &'static str,
    functions: &'static [&'static str],
) -> CallSite {
    CallSite { package, file, functions, runs: Runs::Plugins, helpers: &[], resumed: &[] }
}

const fn rules(
    package: &'static str,
    file: &'static str,
    functions: &'static [&'static str],
) -> CallSite {
    CallSite { runs: Runs::Rules, ..plugins(package, file, functions) }
}

const fn taps(package: &'static str) -> CallSite {
    CallSite { runs: Runs::Taps, ..of_webpack(plugins(package, "", &[])) }
}

const fn loaders(package: &'static str, file: &'static str) -> CallSite {
    CallSite { runs: Runs::Loaders, ..of_webpack(plugins(package, file, &["LOADER_EXECUTION"])) }
}

const fn of_webpack(site: CallSite) -> CallSite {
    CallSite { helpers: OF_WEBPACK, resumed: OF_WEBPACK, ..site }
}

impl SitesOf {
    /// Returns the call sites of a function.
    pub(super) fn of(package: &str, path: &str, function: &str) -> Self {
        let mut sites = Self::default();
        for (number, site) in (0_u8..).zip(&CALL_SITES) {
            if site.package == package && site.has(path, function) {
                match site.runs {
                    Runs::Taps => sites.taps = Some(number),
                    _ => sites.direct = Some(number),
                }
            }
        }
        sites
    }
}

impl CallSite {
    fn has(&self, path: &str, function: &str) -> bool {
        let inside = package_folder(path).and_then(|folder| path.get(folder.len()..));
        let is_file = inside.is_some_and(|inside| inside.contains(self.file));
        is_file && (self.functions.is_empty() || self.functions.contains(&without_number(function)))
    }

    /// Returns whether code of a package is more than a part of the tool.
    pub(super) fn is_foreign(&self, package: &str) -> bool {
        package != self.package && !self.helpers.contains(&package)
    }
}

/// Returns whether a package calls the functions of plugins for a tool.
pub(super) fn is_wrapper(package: &str) -> bool {
    WRAPPERS.contains(&package)
}

/// Returns whether a package calls plugins, and does not go on in their callbacks.
pub(super) fn calls_plugins(package: &str) -> bool {
    CALL_SITES.iter().any(|site| site.package == package && site.resumed.is_empty())
}

/// Returns whether a function of compiled code is one by which tapable continues a hook.
pub(super) fn continues_hook(function: &str) -> bool {
    matches!(without_number(function), "_next" | "_done" | "_loop")
}

fn without_number(function: &str) -> &str {
    function.trim_end_matches(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package_at(path: &str, function: &str) -> (Option<&'static str>, Option<Runs>) {
        let package = cpu_prof_core::profile::package::package_of(path);
        let SitesOf { direct, taps } = SitesOf::of(package, path, function);
        let site = |number: Option<u8>| number.map(|number| &CALL_SITES[usize::from(number)]);
        (site(direct).map(|site| site.package), site(taps).map(|site| site.runs))
    }

    #[test]
    fn functions_of_tools_are_call_sites() {
        for (path, function, direct, taps) in [
            ("rollup/dist/shared/rollup.js", "(anonymous)", Some("rollup"), None),
            ("rollup/dist/shared/rollup.js", "runHookSync", Some("rollup"), None),
            ("rollup/dist/shared/rollup.js", "bundle", None, None),
            ("prettier/index.mjs", "parse7", Some("prettier"), None),
            ("prettier/plugins/babel.mjs", "parse", None, None),
            ("webpack/lib/webpack.js", "createCompiler", Some("webpack"), Some(Runs::Taps)),
            ("webpack/lib/Compilation.js", "seal", None, Some(Runs::Taps)),
            (
                ".pnpm/vite@6/node_modules/vite/dist/node/chunks/dep-x.js",
                "handler",
                Some("vite"),
                None,
            ),
            ("vite/dist/client/client.mjs", "handler", None, None),
            ("my-rollup/dist/rollup.js", "runHookSync", None, None),
        ] {
            let path = format!("/r/node_modules/{path}");
            assert_eq!(package_at(&path, function), (direct, taps), "{path} {function}");
        }
        assert_eq!(package_at("/r/rollup/dist/rollup.js", "runHookSync"), (None, None));
    }

    #[test]
    fn hooks_without_a_caller_have_a_row() {
        assert_eq!(CALL_SITES[usize::from(CONTINUED_TAPS)].runs, Runs::Taps);
        assert!(continues_hook("_next17") && !continues_hook("validate0"));
    }
}
