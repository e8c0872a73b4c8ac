//! V8's resource names as the URLs that DevTools expects, and back.

use std::borrow::Cow;

use percent_encoding::{
    AsciiSet, CONTROLS, PercentEncode, percent_decode_str, utf8_percent_encode,
};

use crate::base::outside_text::script_url;
use crate::base::path_text::{is_drive, is_windows, with_slashes};
use crate::profile::frame::{CallFrame, FrameOrigin, short_name};
use crate::profile::package::{is_built_in, is_users, package_of};
use crate::profile::program::NodeModules;

/// The ASCII characters that Node's `pathToFileURL` encodes. All others than ASCII are encoded too.
const ENCODED: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Start of the URLs of Node's own files, which DevTools' ignore rule matches.
const NODE: &str = "node:";
/// The same, not matched.
const SHOWN_NODE: &str = "Node:";

/// What stands behind the path of a file for the texts that it compiled.
pub const EVALUATED: &str = "(eval)";

/// Returns the URL of a call frame.
///
/// V8 names CommonJS files by their absolute path, and everything else by a URL already.
pub fn frame_url(resource_name: &str, node_modules: NodeModules) -> String {
    let resource_name = script_url(resource_name);
    let resource_name = &*short_name(&resource_name);
    let url = match resource_name.as_bytes() {
        _ if is_windows(resource_name) => windows_url(resource_name),
        [b'/', ..] => file_url(resource_name),
        _ => resource_name.to_owned(),
    };
    match node_modules {
        NodeModules::Foldable => url,
        NodeModules::AllShown if url.starts_with(NODE) => {
            format!("{SHOWN_NODE}{}", &url[NODE.len()..])
        }
        NodeModules::Shown | NodeModules::AllShown => {
            url.replace("/node_modules/", "/node_modules\\")
        }
    }
}

/// Returns whether DevTools shows the function of a resource by itself, and neither folds it nor takes it
/// for a state of V8 or a native function.
pub(crate) fn is_unfolded(resource_name: &str, node_modules: NodeModules) -> bool {
    let package = package_of(resource_name);
    let is_dependency = !is_built_in(package) && !is_users(package);
    is_users(package) || is_dependency && node_modules != NodeModules::Foldable
}

fn file_url(path: &str) -> String {
    let mut url = String::with_capacity(path.len() + 8);
    url.push_str("file://");
    url.extend(encoded(path));
    url
}

fn encoded(path: &str) -> PercentEncode<'_> {
    utf8_percent_encode(path, &ENCODED)
}

/// Returns the URL of a path of Windows: `file:///C:/repo/a.js`, `file://server/share/a.js`.
fn windows_url(path: &str) -> String {
    let with_slashes = with_slashes(path);
    let Some(share) = with_slashes.strip_prefix("//") else {
        // Node keeps the case of the drive.
        let drive = path.trim_start_matches(['\\', '/', '?']).get(..1).unwrap_or_default();
        return file_url(&format!("/{drive}{}", &with_slashes[1..]));
    };
    let (server, rest) = share.split_at(share.find('/').unwrap_or(share.len()));
    let server = server.to_ascii_lowercase();
    format!("file://{}{}", encoded(&server), encoded(rest))
}

/// Returns the URL as it was before [`NodeModules::Shown`] or [`NodeModules::AllShown`]. Older recordings have
/// queries.
pub fn true_url(url: &str) -> Cow<'_, str> {
    match shown_url(url) {
        Cow::Borrowed(url) => script_url(url),
        Cow::Owned(url) => Cow::Owned(script_url(&url).into_owned()),
    }
}

fn shown_url(url: &str) -> Cow<'_, str> {
    if let Some(name) = url.strip_prefix(SHOWN_NODE) {
        Cow::Owned(format!("{NODE}{name}"))
    } else if url.contains("/node_modules\\") {
        Cow::Owned(url.replace("/node_modules\\", "/node_modules/"))
    } else {
        Cow::Borrowed(url)
    }
}

/// Returns the path of a frame's file, as [`file_path`] does, or `/r/a.js (eval)` for a text that `/r/a.js` compiled.
pub fn frame_path(frame: &CallFrame) -> Cow<'_, str> {
    let path = file_path(&frame.url);
    match frame.origin {
        FrameOrigin::Evaluated => format!("{path} {EVALUATED}").trim_start().to_owned().into(),
        _ => path,
    }
}

/// Returns the path of a frame's file, with V8's id of a text: `/r/a.js (eval) VM86`. For formats that have no other
/// place for the id.
pub fn numbered_path(frame: &CallFrame) -> Cow<'_, str> {
    match frame.origin {
        FrameOrigin::Evaluated => format!("{} VM{}", frame_path(frame), frame.script_id).into(),
        _ => frame_path(frame),
    }
}

/// Returns the path of a `file:` URL, decoded, and a path of Windows with slashes. Returns other text
/// unchanged, and a path that is not UTF-8 without decoding.
///
/// Tools load a file anew by another query (`?t=1795556421468`), which is no part of the path.
pub fn file_path(url: &str) -> Cow<'_, str> {
    let Some(path) = url.strip_prefix("file://") else {
        return match is_windows(url) || url.starts_with('/') {
            true => with_slashes(without_reload(url)),
            false => with_slashes(url),
        };
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    if !path.starts_with('/') && !path.is_empty() {
        return Cow::Owned(with_slashes(&format!("//{}", decoded(path))).into_owned());
    }
    // `file:///C:/…`
    let path = path.strip_prefix('/').filter(|path| is_drive(path)).unwrap_or(path);
    match decoded(path) {
        Cow::Borrowed(path) => with_slashes(path),
        Cow::Owned(path) => Cow::Owned(with_slashes(without_reload(&path)).into_owned()),
    }
}

/// Returns a path without the query by which a tool loads a file anew. Other names can have a question
/// mark.
fn without_reload(path: &str) -> &str {
    const NAMES: [&str; 8] = ["t", "v", "mtime", "ts", "time", "timestamp", "update", "import"];
    let Some((file, query)) = path.rsplit_once('?') else { return path };
    let is_known = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        NAMES.contains(&name) && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'.')
    };
    if query.split('&').all(is_known) { file } else { path }
}

/// Returns a part of a URL as text; text that is not UTF-8 without decoding.
pub fn decoded(part: &str) -> Cow<'_, str> {
    percent_decode_str(part).decode_utf8().unwrap_or(Cow::Borrowed(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_become_file_urls() {
        let url = |path| frame_url(path, NodeModules::Foldable);
        assert_eq!(url("/repo/src/a.js"), "file:///repo/src/a.js");
        assert_eq!(url("/a b/100%/#1?.js"), "file:///a%20b/100%25/%231%3F.js");
        assert_eq!(url("/é/日.js"), "file:///%C3%A9/%E6%97%A5.js");
        assert_eq!(url("/a\\b[1]~!$&'()*+,;=:@|.js"), "file:///a%5Cb[1]~!$&'()*+,;=:@|.js");
    }

    #[test]
    fn paths_of_windows_become_file_urls() {
        for (path, url) in [
            (r"C:\repo\src\a.js", "file:///C:/repo/src/a.js"),
            (r"c:\a b\100%\#1.js", "file:///c:/a%20b/100%25/%231.js"),
            ("C:/é/日.js", "file:///C:/%C3%A9/%E6%97%A5.js"),
            (r"\\SERVER\share\a b.js", "file://server/share/a%20b.js"),
            (r"\\?\C:\long\a.js", "file:///C:/long/a.js"),
            (r"\\?\d:\long\a.js", "file:///d:/long/a.js"),
            (r"\\?\UNC\server\share\a.js", "file://server/share/a.js"),
        ] {
            assert_eq!(frame_url(path, NodeModules::Foldable), url, "{path}");
        }
        assert_eq!(
            frame_url(r"C:\r\node_modules\x\i.js", NodeModules::Shown),
            r"file:///C:/r/node_modules\x/i.js"
        );
    }

    #[test]
    fn urls_of_windows_give_one_form() {
        for (url, path) in [
            ("file:///C:/a%20b.js", "C:/a b.js"),
            ("file:///c:/repo/a.js", "C:/repo/a.js"),
            ("file:///C:/a%5Cb.js", "C:/a/b.js"),
            ("file://server/share/a%20b.js", "//server/share/a b.js"),
            (r"c:\repo\a.js", "C:/repo/a.js"),
            (r"\\server\share\a.js", "//server/share/a.js"),
        ] {
            assert_eq!(file_path(url), path, "{url}");
        }
    }

    #[test]
    fn queries_are_no_part_of_a_path() {
        for (url, path) in [
            ("file:///r/a.mjs?t=1795556421468", "/r/a.mjs"),
            ("file:///r/a.mjs?mtime=17.5#x", "/r/a.mjs"),
            ("file:///r/a%3Fb.mjs?v=1&import", "/r/a?b.mjs"),
            ("file:///C:/r/a.mjs?update=7", "C:/r/a.mjs"),
            ("file:///r/a.js%3Ft=1795556421468", "/r/a.js"),
            ("/r/a.ts?t=1795556421468", "/r/a.ts"),
            ("/r/a.vue?vue&type=script", "/r/a.vue?vue&type=script"),
            ("/r/what?.js", "/r/what?.js"),
            ("https://host/a.js?v=1", "https://host/a.js?v=1"),
        ] {
            assert_eq!(file_path(url), path, "{url}");
        }
    }

    #[test]
    fn other_names_stay() {
        for name in
            ["", "node:fs", "file:///a%20b.mjs", "evalmachine.<anonymous>", "[eval]", "wasm://x"]
        {
            assert_eq!(frame_url(name, NodeModules::Foldable), name);
        }
    }

    #[test]
    fn node_modules_can_be_kept_from_folding() {
        assert_eq!(
            frame_url("/r/node_modules/@a/b/node_modules/c/i.js", NodeModules::Shown),
            "file:///r/node_modules\\@a/b/node_modules\\c/i.js"
        );
        assert_eq!(
            frame_url("/r/my_node_modules/x.js", NodeModules::Shown),
            "file:///r/my_node_modules/x.js"
        );
    }

    #[test]
    fn node_can_be_kept_from_folding() {
        for (name, url) in [
            ("node:internal/fs/utils", "Node:internal/fs/utils"),
            ("/r/node_modules/x/i.js", "file:///r/node_modules\\x/i.js"),
            ("/r/a.js", "file:///r/a.js"),
            ("", ""),
        ] {
            assert_eq!(frame_url(name, NodeModules::AllShown), url);
            assert_eq!(true_url(url), frame_url(name, NodeModules::Foldable));
        }
        let folds = |name| !is_unfolded(name, NodeModules::Foldable);
        let folded = ["node:fs", "", "/r/node_modules/x/i.js"].map(folds);
        assert_eq!(folded, [true; 3]);
        assert!(!folds("/r/a.js") && !folds("file:///r/a.mjs"));
        assert!(is_unfolded("/r/node_modules/x/i.js", NodeModules::Shown));
        assert!(!is_unfolded("node:fs", NodeModules::Shown));
    }

    #[test]
    fn invalid_file_urls_give_a_path() {
        for (url, path) in [
            ("file:///100%", "/100%"),
            ("file:///a%2", "/a%2"),
            ("file:///%ff", "/%ff"),
            ("file://", ""),
            ("node:fs", "node:fs"),
            ("/a%20b", "/a%20b"),
        ] {
            assert_eq!(file_path(url), path);
        }
    }

    proptest! {
        #[test]
        fn any_path_comes_back_from_its_url(
            path in prop_oneof!["/\\PC*", "/(node_modules|/|%|%2F|\\\\|#|é|\\x00|a){0,9}"],
        ) {
            let url = frame_url(&path, NodeModules::Foldable);
            prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
            // A query of a bundler is not told from a part of a name.
            let is_ambiguous = is_windows(&path) || is_windows(&path[1..]) || path.contains('?');
            if !is_ambiguous {
                prop_assert_eq!(file_path(&url), path.clone());
            }
            let shown = frame_url(&path, NodeModules::Shown);
            prop_assert!(!shown.contains("/node_modules/"), "{shown}");
            prop_assert_eq!(true_url(&shown), url);
        }

        #[test]
        fn any_path_of_windows_comes_back_from_its_url(
            path in prop_oneof![
                r"[A-Za-z]:[\\/]\PC*",
                r"\\\\[a-z0-9.-]{1,9}\\\PC*",
                r"(\\\\\?\\)?C:\\(node_modules|\\|%|%2F|#|é|\x00|a){0,9}",
            ],
        ) {
            let url = frame_url(&path, NodeModules::Foldable);
            prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
            // Windows has no names with a question mark.
            if !path.trim_start_matches(r"\\?\").contains('?') {
                prop_assert_eq!(file_path(&url), with_slashes(&path), "{}", &url);
            }
            let shown = frame_url(&path, NodeModules::Shown);
            prop_assert_eq!(true_url(&shown), url);
        }

        #[test]
        fn any_other_name_stays(name in "[^/].*") {
            prop_assume!(!is_windows(&name) && script_url(&name) == name);
            prop_assert_eq!(frame_url(&name, NodeModules::Foldable), name);
        }
    }
}
