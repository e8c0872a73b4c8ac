//! The label of a process in DevTools, and whether its program is a tool.

use std::borrow::Cow;
use std::path::Path;

use crate::base::path_text::{below, is_local_file, is_windows, with_slashes};
use crate::base::settings::values::IgnoreList;
use crate::base::system::IS_WINDOWS;
use crate::profile::label::{pid_mark, shortened};
use crate::profile::program::{NodeModules, Program};

impl Program {
    /// Returns `tsc (pid 4242)`; of a worker of `node:cluster`, `server.js worker 2 (pid 4242)`.
    pub fn short_label(&self) -> String {
        let role = self.cluster_worker.map(|id| format!(" {}", worker_role(id)));
        format!("{}{} {}", self.name(), role.unwrap_or_default(), pid_mark(self.pid.into()))
    }

    /// Returns `tsc -p . (pid 4242)`: the process as reports name it.
    pub fn command_label(&self) -> String {
        format!("{} {}{}", self.name(), self.details(), pid_mark(self.pid.into()))
    }

    /// Returns `tsc: -p . (pid 4242)`: always a URL, because DevTools drops a process without one.
    pub fn url_label(&self) -> String {
        format!("{}: {}{}", scheme(&self.name()), self.details(), pid_mark(self.pid.into()))
    }

    /// Returns the label with that of a recording: `tsc: -p . [big file] (pid 4242)`.
    pub(crate) fn url_label_with(&self, recording_label: Option<&str>) -> String {
        let label = self.url_label();
        match recording_label {
            Some(text) => insert_before_pid(&label, &bracketed(text)),
            None => label,
        }
    }

    /// Returns the form of `node_modules` frames for a setting. `auto` shows them where the program
    /// itself is a tool under `node_modules`.
    pub fn node_modules(&self, setting: IgnoreList) -> NodeModules {
        match setting {
            IgnoreList::Keep => NodeModules::Foldable,
            IgnoreList::Show => NodeModules::Shown,
            IgnoreList::Auto if self.is_tool() => NodeModules::Shown,
            IgnoreList::Auto => NodeModules::Foldable,
        }
    }

    /// Returns the name of the main script, or `node` without a script. A tool's name is without its
    /// extension: `tsc`. A script that a package starts by itself gets the package's name too:
    /// `tinypool-process`. A script whose name says little gets its folder: `dist/main.js`.
    fn name(&self) -> String {
        let script = self.script().unwrap_or_default();
        let mut parts = parts_of(&script).rev();
        let Some(file) = parts.next() else { return "node".to_owned() };
        let folder = parts.next();
        // A hidden file keeps its dot.
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let stem = if stem.is_empty() { file } else { stem };
        if !self.is_tool() {
            return shortened(&own_name(folder, file, stem));
        }
        match package_of_part(&script) {
            Some(package) if !stem.contains(package) => shortened(&format!("{package}-{stem}")),
            _ => shortened(stem),
        }
    }

    /// Returns the path of the main script, with slashes.
    fn script(&self) -> Option<Cow<'_, str>> {
        if self.is_eval() {
            return None;
        }
        self.argv.get(1).map(|script| with_slashes(script))
    }

    /// Returns the role and the arguments, each with a space behind.
    fn details(&self) -> String {
        let role = self.cluster_worker.map(|id| format!("{} ", worker_role(id)));
        let arguments = self.arguments();
        let arguments = match arguments.is_empty() {
            true => arguments,
            false => format!("{} ", shortened(&arguments)),
        };
        role.unwrap_or_default() + &arguments
    }

    /// Returns the arguments that tell a reader something: paths below the working directory are
    /// relative, and sockets and temporary files, which differ in each run, are left out.
    fn arguments(&self) -> String {
        let (eval, given) = if self.is_eval() { (Some("-e"), 1) } else { (None, 2) };
        let given = self.argv.iter().skip(given).map(|argument| self.in_cwd(argument));
        let telling = given.filter(|argument| !names_temporary_file(argument));
        eval.map(Cow::Borrowed).into_iter().chain(telling).collect::<Vec<_>>().join(" ")
    }

    /// Returns an argument, as a relative path if the argument is a path below the working directory.
    fn in_cwd<'a>(&self, argument: &'a str) -> Cow<'a, str> {
        let path = with_slashes(argument);
        let relative = below(&path, &with_slashes(&self.cwd)).map(str::to_owned);
        relative.map_or(Cow::Borrowed(argument), Cow::Owned)
    }

    /// Returns whether the script is under `node_modules`, also behind a link (`/usr/bin/tsc`).
    fn is_tool(&self) -> bool {
        let Some(script) = self.script() else { return false };
        if is_in_node_modules(&script) {
            return true;
        }
        // A trace that is read can name any path.
        let is_local = is_local_file(&script, IS_WINDOWS);
        let real = if is_local { std::fs::canonicalize(&*script).ok() } else { None };
        real.is_some_and(|real| is_in_node_modules(&with_slashes(&real.to_string_lossy())))
    }
}

/// The role of a process that starts others by `node:cluster`.
pub const PRIMARY: &str = "primary";

/// Returns the role of a process that `node:cluster` has started.
pub fn worker_role(id: u32) -> String {
    format!("worker {id}")
}

/// Puts the role of a process that starts others by `node:cluster` into its label: `server.js: primary -p
/// 1 (pid 42)`.
pub fn as_primary(url_label: &str) -> String {
    match url_label.split_once(':') {
        Some((name, rest)) if !rest.trim_start().starts_with(PRIMARY) => {
            format!("{name}: {PRIMARY}{rest}")
        }
        _ => url_label.to_owned(),
    }
}

/// Returns whether an argument, or its value behind `=`, is the path of a socket or of a temporary
/// file.
fn names_temporary_file(argument: &str) -> bool {
    let value = match argument.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ => argument,
    };
    let path = with_slashes(value);
    let is_socket = path.ends_with(".sock") || path.starts_with("//./pipe/");
    // macOS has the folder of temporary files, and /tmp, behind links.
    let real = path.strip_prefix("/private").filter(|path| path.starts_with('/'));
    let temporary = std::env::temp_dir();
    let temporary = with_slashes(&temporary.to_string_lossy()).into_owned();
    let is_below = |folder: &str| {
        [Some(&*path), real].iter().flatten().any(|path| below(path, folder).is_some())
    };
    let is_absolute = path.starts_with('/') || is_windows(&path);
    is_absolute && (is_socket || is_below(&temporary) || is_below("/tmp"))
}

/// Returns the parts of a path with slashes.
fn parts_of(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

fn is_in_node_modules(path: &str) -> bool {
    parts_of(path).any(|part| part == "node_modules")
}

/// Returns the name of a script outside of packages.
fn own_name(folder: Option<&str>, file: &str, stem: &str) -> String {
    const SAYS_LITTLE: [&str; 9] =
        ["index", "main", "app", "cli", "server", "start", "run", "build", "worker"];
    // `C:` is no folder.
    let telling = |folder: &&str| SAYS_LITTLE.contains(&stem) && !folder.ends_with(':');
    match folder.filter(telling) {
        Some(folder) => format!("{folder}/{file}"),
        None => file.to_owned(),
    }
}

/// Returns the package of a script, without its scope. Returns none for a command of the package:
/// commands are at the package's root or in a folder `bin`.
fn package_of_part(script: &str) -> Option<&str> {
    let parts: Vec<_> = parts_of(script).collect();
    let modules = parts.iter().rposition(|part| *part == "node_modules")?;
    let (_, below) = parts.split_at(modules + 1);
    let is_scoped = below.first()?.starts_with('@');
    let (package, path) = below.get(usize::from(is_scoped)..)?.split_first()?;
    let (_, folders) = path.split_last()?;
    let is_command = folders.last().is_none_or(|folder| *folder == "bin");
    (!is_command).then_some(*package)
}

/// Returns a name as a URL's scheme: a letter, then letters, digits, `+`, `.` and `-`. Avoids
/// schemes that require a host.
fn scheme(name: &str) -> String {
    const HOST_FOLLOWS: [&str; 6] = ["file", "ftp", "http", "https", "ws", "wss"];
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-');
    let name: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    let is_free = !HOST_FOLLOWS.contains(&name.to_ascii_lowercase().as_str());
    if is_free && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("node-{name}")
    }
}

/// Puts a process's place into its label: `build: · packages/app (pid 4242)`.
pub fn with_place(url_label: &str, place: &str) -> String {
    insert_before_pid(url_label, &format!("· {} ", shortened(place)))
}

/// Takes the place out of the label of a process that works in `cwd`.
pub fn without_place(url_label: &str, cwd: &str) -> String {
    let with = url_label.rsplit_once("(pid ").and_then(|(start, end)| {
        let (start, place) = start.trim_end().rsplit_once("· ")?;
        Path::new(&*with_slashes(cwd)).ends_with(place).then(|| format!("{start}(pid {end}"))
    });
    with.unwrap_or_else(|| url_label.to_owned())
}

/// Returns a label with the name of the input that its process comes from: `tsc: -p . [base] (pid
/// 42)`.
pub fn with_input_name(url_label: &str, name: &str) -> String {
    match url_label.contains("(pid ") {
        true => insert_before_pid(url_label, &bracketed(name)),
        false => format!("{url_label} {}", bracketed(name).trim_end()),
    }
}

fn insert_before_pid(url_label: &str, text: &str) -> String {
    match url_label.rsplit_once("(pid ") {
        Some((start, end)) => format!("{start}{text}(pid {end}"),
        None => url_label.to_owned(),
    }
}

fn bracketed(recording_label: &str) -> String {
    format!("[{}] ", shortened(recording_label))
}

/// Takes the label of a recording out of the label of its process.
pub fn without_recording_label(url_label: &str, recording_label: &str) -> String {
    let Some((start, end)) = url_label.rsplit_once("(pid ") else { return url_label.to_owned() };
    let start = start.strip_suffix(&*bracketed(recording_label)).unwrap_or(start);
    format!("{start}(pid {end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn program(argv: &[&str], exec_argv: &[&str]) -> Program {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Program { pid: 42, argv: owned(argv), exec_argv: owned(exec_argv), ..Program::default() }
    }

    #[test]
    fn labels_name_the_script_and_its_arguments() {
        let tsc = program(&["/usr/bin/node", "/r/node_modules/.bin/tsc", "-p", "."], &[]);
        assert_eq!(tsc.url_label(), "tsc: -p . (pid 42)");
        assert_eq!(tsc.short_label(), "tsc (pid 42)");
        assert_eq!(program(&["node", "/r/nx.js"], &[]).url_label(), "nx.js: (pid 42)");
        assert_eq!(program(&["node"], &[]).url_label(), "node: (pid 42)");
        assert_eq!(program(&["node"], &["-e", "1"]).url_label(), "node: -e (pid 42)");
        assert_eq!(program(&["node", "x"], &["--eval=1"]).url_label(), "node: -e x (pid 42)");
    }

    #[test]
    fn a_command_has_the_name_as_it_is() {
        let story = program(&["node", "/r/story/app.js", "--port", "80"], &[]);
        assert_eq!(story.command_label(), "story/app.js --port 80 (pid 42)");
        let worker = Program { cluster_worker: Some(2), ..story };
        assert_eq!(worker.command_label(), "story/app.js worker 2 --port 80 (pid 42)");
        assert_eq!(program(&["node", "/r/nx.js"], &[]).command_label(), "nx.js (pid 42)");
    }

    #[test]
    fn processes_of_a_cluster_have_roles() {
        let worker =
            Program { cluster_worker: Some(2), ..program(&["node", "/r/web.js", "-p", "1"], &[]) };
        assert_eq!(worker.short_label(), "web.js worker 2 (pid 42)");
        assert_eq!(worker.url_label(), "web.js: worker 2 -p 1 (pid 42)");
        let primary = as_primary("web.js: -p 1 (pid 42)");
        assert_eq!(primary, "web.js: primary -p 1 (pid 42)");
        assert_eq!(as_primary(&primary), primary);
        assert_eq!(as_primary("web.js:"), "web.js: primary");
    }

    #[test]
    fn labels_have_no_temporary_files() {
        let labelled = |arguments: &[&str]| {
            let argv = [&["node", "/r/nx.js"], arguments].concat();
            Program { cwd: "/r".into(), ..program(&argv, &[]) }.url_label()
        };
        for (arguments, label) in [
            (&["/tmp/d/plugin-worker.sock", "x"][..], "nx.js: x (pid 42)"),
            (&["--out=/tmp/a.json", "--in=/r/a.json"], "nx.js: --in=/r/a.json (pid 42)"),
            (&["/r/src/a.ts", "/run/user/1/x.sock"], "nx.js: src/a.ts (pid 42)"),
            (&["/tmp", "tmp/x", "a.sock", "/r", "/r/"], "nx.js: /tmp tmp/x a.sock /r /r/ (pid 42)"),
            (&["a=/tmp/b"], "nx.js: a=/tmp/b (pid 42)"),
        ] {
            assert_eq!(labelled(arguments), label);
        }
        let in_tmp = Program { cwd: "/tmp/p".into(), ..program(&["node", "a", "/tmp/p/b"], &[]) };
        assert_eq!(in_tmp.url_label(), "a: b (pid 42)");
    }

    #[test]
    fn programs_of_windows_and_macos_have_the_same_labels() {
        let node = r"C:\Program Files\nodejs\node.exe";
        for (cwd, argv, label) in [
            (
                r"C:\r",
                &[node, r"C:\r\node_modules\typescript\bin\tsc", "-p", "."][..],
                "tsc: -p . (pid 42)",
            ),
            (
                r"C:\r",
                &[node, r"C:\r\dist\main.js", r"C:\r\src\a.ts"],
                "dist-main.js: src/a.ts (pid 42)",
            ),
            (r"C:\r", &[node, r"C:\main.js", r"src\a.ts"], r"main.js: src\a.ts (pid 42)"),
            (
                r"c:\R",
                &[node, r"C:\r\a.js", r"--in=C:\x", r"C:\r\b"],
                r"a.js: --in=C:\x b (pid 42)",
            ),
            (
                r"\\server\share",
                &[node, r"\\server\share\app\server.js"],
                "app-server.js: (pid 42)",
            ),
            (r"C:\r", &[node], "node: (pid 42)"),
            (
                r"C:\r",
                &[node, r"C:\nodejs\node_modules\npm\bin\npm-cli.js", "run", "build"],
                "npm-cli: run build (pid 42)",
            ),
            (
                r"C:\r",
                &[
                    node,
                    r"C:\r\node_modules\nx\src\daemon\start.js",
                    r"\\.\pipe\nx\d.sock",
                    r"\\.\pipe\x",
                ],
                "nx-start: (pid 42)",
            ),
            (
                "/r",
                &["node", "/r/a.js", "/private/tmp/x.json", "/private/x"],
                "a.js: /private/x (pid 42)",
            ),
        ] {
            let program = Program { cwd: cwd.into(), ..program(argv, &[]) };
            assert_eq!(program.url_label(), label, "{argv:?}");
        }
        let tool = program(&[node, r"C:\r\node_modules\typescript\bin\tsc"], &[]);
        assert_eq!(tool.node_modules(IgnoreList::Auto), NodeModules::Shown);
    }

    #[test]
    fn the_label_of_a_recording_is_put_in_and_taken_out() {
        let tsc = program(&["/usr/bin/node", "/r/tsc", "-p", "[x] (pid 7)"], &[]);
        for label in ["big file", "a] (pid 3) [b", "line\nbreak", &"x".repeat(200)] {
            let with = tsc.url_label_with(Some(label));
            assert_ne!(with, tsc.url_label());
            assert!(with.starts_with("tsc: -p [x] (pid 7) [") && with.ends_with("] (pid 42)"));
            assert_eq!(without_recording_label(&with, label), tsc.url_label());
            assert_eq!(without_recording_label(&tsc.url_label(), label), tsc.url_label());
        }
        assert_eq!(
            tsc.url_label_with(Some("big\tfile")),
            "tsc: -p [x] (pid 7) [big file] (pid 42)"
        );
        assert_eq!(tsc.url_label_with(None), tsc.url_label());
    }

    #[test]
    fn a_part_of_a_package_has_its_name() {
        for (script, name) in [
            ("tinypool/dist/entry/process.js", "tinypool-process"),
            ("nx/src/daemon/server/start.js", "nx-start"),
            ("@jest/core/build/run.js", "core-run"),
            ("jest-worker/build/jest-worker-child.js", "jest-worker-child"),
            ("typescript/bin/tsc", "tsc"),
            ("next/dist/bin/next", "next"),
            ("vitest/vitest.mjs", "vitest"),
            (".bin/eslint", "eslint"),
            ("@scope", "@scope"),
            ("a/node_modules/b/lib/cli.js", "b-cli"),
        ] {
            let program = program(&["node", &format!("/r/node_modules/{script}")], &[]);
            assert_eq!(program.name(), name);
        }
        for (script, name) in [
            ("/r/lib/server.js", "lib/server.js"),
            ("/r/dist/main.js", "dist/main.js"),
            ("/r/strip.ts", "strip.ts"),
            ("/r/tool", "tool"),
            ("main.js", "main.js"),
            ("/main.js", "main.js"),
        ] {
            assert_eq!(program(&["node", script], &[]).name(), name);
        }
    }

    #[test]
    fn a_url_label_always_parses() {
        for (script, label) in [
            ("/r/1st.js", "node-1st.js: (pid 42)"),
            ("/r/a b_c.js", "a-b-c.js: (pid 42)"),
            ("/r/日本.mjs", "node---.mjs: (pid 42)"),
            ("/r/my.config.js", "my.config.js: (pid 42)"),
            ("/r/dist/main.js", "dist-main.js: (pid 42)"),
            ("/r/https", "node-https: (pid 42)"),
            ("/r/http-server", "http-server: (pid 42)"),
        ] {
            assert_eq!(program(&["node", script], &[]).url_label(), label);
        }
    }

    #[test]
    fn long_arguments_are_cut() {
        let long = "x".repeat(500);
        let label = program(&["node", "/a.js", &long, "a\nb"], &[]).url_label();
        assert!(label.chars().count() < 110 && label.contains('…'));
        assert_eq!(program(&["node", "/a.js", "a\nb"], &[]).url_label(), "a.js: a b (pid 42)");
        assert_eq!(program(&["node", "/a\nb.js"], &[]).short_label(), "a b.js (pid 42)");
    }

    #[test]
    fn only_tools_show_node_modules() {
        let tool = program(&["node", "/r/node_modules/typescript/bin/tsc"], &[]);
        let app = program(&["node", "/r/server.js"], &[]);
        assert_eq!(tool.node_modules(IgnoreList::Auto), NodeModules::Shown);
        assert_eq!(app.node_modules(IgnoreList::Auto), NodeModules::Foldable);
        assert_eq!(tool.node_modules(IgnoreList::Keep), NodeModules::Foldable);
        assert_eq!(app.node_modules(IgnoreList::Show), NodeModules::Shown);
    }

    #[test]
    fn a_link_to_a_tool_is_the_tool() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("node_modules/typescript/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("tsc"), "").unwrap();
        let link = dir.path().join("tsc");
        std::os::unix::fs::symlink(bin.join("tsc"), &link).unwrap();
        let linked = program(&["node", link.to_str().unwrap()], &[]);
        assert_eq!(linked.node_modules(IgnoreList::Auto), NodeModules::Shown);
    }

    proptest! {
        #[test]
        fn labels_are_one_short_line(
            argv in vec(prop_oneof![any::<String>(), "([a-z/.\\n\\x1b é-]|file){0,200}"], 0..5),
            exec_argv in vec(prop_oneof![any::<String>(), "(-e|-p|--eval)=?[a-z]?"], 0..3),
            pid: u32,
        ) {
            let program = Program { pid, argv, exec_argv, ..Program::default() };
            for label in [program.short_label(), program.command_label(), program.url_label()] {
                prop_assert!(!label.contains(char::is_control), "{label:?}");
                prop_assert!(label.chars().count() <= 200, "{label}");
                let end = format!("(pid {pid})");
                prop_assert!(label.ends_with(&end), "{label}");
            }
            let url = program.url_label();
            let (scheme, rest) = url.split_once(':').unwrap();
            prop_assert!(scheme.starts_with(|c: char| c.is_ascii_alphabetic()), "{url}");
            prop_assert!(scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)));
            prop_assert!(rest.starts_with(' '), "{url}");
            program.node_modules(IgnoreList::Auto);
        }
    }
}
