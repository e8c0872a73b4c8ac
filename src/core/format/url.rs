//! V8's resource names as the URLs that DevTools expects, and back.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

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

/// Returns the URL of a call frame.
///
/// V8 names CommonJS files by their absolute path, and everything else by a URL already.
pub fn frame_url(resource_name: &str, node_modules: NodeModules) -> String {
    let url = match resource_name.as_bytes() {
        [b'/', ..] => file_url(resource_name),
        _ => resource_name.to_owned(),
    };
    match node_modules {
        NodeModules::Foldable => url,
        NodeModules::Shown => url.replace("/node_modules/", "/node_modules\\"),
    }
}

fn file_url(path: &str) -> String {
    let mut url = String::with_capacity(path.len() + 8);
    url.push_str("file://");
    url.extend(utf8_percent_encode(path, &ENCODED));
    url
}

/// Returns the URL as it was before [`NodeModules::Shown`].
pub(crate) fn true_url(url: &str) -> Cow<'_, str> {
    if url.contains("/node_modules\\") {
        Cow::Owned(url.replace("/node_modules\\", "/node_modules/"))
    } else {
        Cow::Borrowed(url)
    }
}

/// Returns the path of a `file:` URL, decoded. Returns other text unchanged, and a path that is not
/// UTF-8 without decoding.
pub fn file_path(url: &str) -> Cow<'_, str> {
    let Some(path) = url.strip_prefix("file://") else { return Cow::Borrowed(url) };
    // `file:///C:/…`
    let is_drive =
        matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    let path = if is_drive { &path[1..] } else { path };
    percent_decode_str(path).decode_utf8().unwrap_or(Cow::Borrowed(path))
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
    fn invalid_file_urls_give_a_path() {
        for (url, path) in [
            ("file:///C:/a%20b.js", "C:/a b.js"),
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
            if !(path.len() > 2 && path.as_bytes()[2] == b':') {
                prop_assert_eq!(file_path(&url), path.clone());
            }
            let shown = frame_url(&path, NodeModules::Shown);
            prop_assert!(!shown.contains("/node_modules/"), "{shown}");
            prop_assert_eq!(true_url(&shown), url);
        }

        #[test]
        fn any_other_name_stays(name in "[^/].*") {
            prop_assert_eq!(frame_url(&name, NodeModules::Foldable), name);
        }
    }
}
