//! Paths as they are on every machine: two versions of a program mostly stand in two folders.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use cpu_prof_core::base::path_text::{is_same, is_windows, volume};

const MODULES: &str = "/node_modules/";

/// Returns a path as on every machine: macOS may give the letters of names and their accents apart.
pub(super) fn short_path<'a>(path: &'a str, root: &str) -> Cow<'a, str> {
    let path = short_form(path, root);
    if path.is_ascii() || is_nfc(&path) { path } else { path.nfc().collect::<String>().into() }
}

/// Returns a path within the innermost `node_modules`, or relative to `root` where both have a folder
/// in common. `root` is absolute.
fn short_form<'a>(path: &'a str, root: &str) -> Cow<'a, str> {
    if let Some(at) = path.rfind(MODULES) {
        return path[at + 1..].into();
    }
    if !is_local(path) || !is_local(root) {
        return path.into();
    }
    if !is_same(volume(path), volume(root)) {
        return path.into();
    }
    let parts = |path: &'a str| path[volume(path).len()..].split('/').skip(1);
    let ignores_case = is_windows(path);
    let root = root[volume(root).len()..].split('/').skip(1).filter(|part| !part.is_empty());
    let root: Vec<&str> = root.collect();
    let is_equal = |a: &str, b: &str| a == b || ignores_case && a.eq_ignore_ascii_case(b);
    let common = parts(path).zip(&root).take_while(|(a, b)| is_equal(a, b)).count();
    // Nearly all paths have /home in common.
    if common < 2 && common < root.len() || common == 0 {
        return path.into();
    }
    let up = std::iter::repeat_n("..", root.len() - common);
    up.chain(parts(path).skip(common)).collect::<Vec<_>>().join("/").into()
}

/// Returns a command without the folder in which its run was started.
pub(super) fn short_command<'a>(command: &'a str, root: &str) -> Cow<'a, str> {
    match root.trim_end_matches('/') {
        "" => command.into(),
        root => {
            let command = command.replace(&format!("{root}/"), "");
            match is_windows(root) {
                true => command.replace(&format!("{root}/").replace('/', "\\"), "").into(),
                false => command.into(),
            }
        }
    }
}

fn is_local(path: &str) -> bool {
    path.starts_with('/') || is_windows(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_project() {
        let short = |path, root| short_path(path, root).into_owned();
        assert_eq!(short("/w/base/src/a.js", "/w/base"), "src/a.js");
        assert_eq!(short("/w/base/packages/b/a.js", "/w/base/packages/a"), "../b/a.js");
        assert_eq!(short("/home/me/a.js", "/home/you/project"), "/home/me/a.js");
        assert_eq!(short("/a.js", "/"), "/a.js");
        assert_eq!(short("/p/a.js", "/p"), "a.js");
        let pnpm = "/w/node_modules/.pnpm/lodash@4.17.21/node_modules/lodash/lodash.js";
        assert_eq!(short(pnpm, "/w"), "node_modules/lodash/lodash.js");
        assert_eq!(short("node:fs", "/w"), "node:fs");
        assert_eq!(short("/w/base/a.js", ""), "/w/base/a.js");
        assert_eq!(short("/w/e\u{301}/a.js", "/w"), "\u{e9}/a.js");
    }

    #[test]
    fn paths_of_windows_are_those_of_the_project() {
        let short = |path, root| short_path(path, root).into_owned();
        assert_eq!(short("D:/w/base/src/a.js", "D:/w/base"), "src/a.js");
        assert_eq!(short("D:/W/Base/src/a.js", "D:/w/base"), "src/a.js");
        assert_eq!(short("C:/a.js", "C:/"), "C:/a.js");
        assert_eq!(short("C:/p/a.js", "C:/p"), "a.js");
        assert_eq!(short("D:/w/a.js", "C:/w"), "D:/w/a.js");
        assert_eq!(short("C:/Users/me/a.js", "C:/Users/you/project"), "C:/Users/me/a.js");
        assert_eq!(short("//server/share/w/a.js", "//server/share/w"), "a.js");
        assert_eq!(short("C:/w/node_modules/x/a.js", "C:/w"), "node_modules/x/a.js");
        assert_eq!(short("/w/a.js", "C:/w"), "/w/a.js");
    }

    #[test]
    fn commands_are_those_of_the_project() {
        assert_eq!(short_command(r"node C:\w\a.js C:/w/b", "C:/w"), "node a.js b");

        assert_eq!(
            short_command("node /w/base/bin/a.js /tmp/b", "/w/base"),
            "node bin/a.js /tmp/b"
        );
        assert_eq!(short_command("node /w/base/a.js", ""), "node /w/base/a.js");
        assert_eq!(short_command("node /a.js", "/"), "node /a.js");
    }
}
