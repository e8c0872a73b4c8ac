//! Paths as text, of any system: a recording of Windows is also read on Linux.
//!
//! Paths of Windows have one form in everything that people read: with slashes and a capital drive,
//! `C:/repo/a.js`, and `//server/share/a.js` for a network share. All that looks into a path needs to
//! know only slashes, and Windows opens this form too.

use std::borrow::Cow;

use super::windows_names::{is_allowed, is_reserved};

/// Returns whether a text begins as an absolute path of Windows: with a drive, or with a share.
pub fn is_windows(path: &str) -> bool {
    is_drive(path) || is_share(path)
}

/// Returns whether a text begins with a drive: `C:/` or `c:\`.
pub fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether a text begins with a share, a device or a verbatim prefix: `\\server\` or `\\?\`.
/// POSIX has no use for two slashes, and Node removes one of them.
fn is_share(path: &str) -> bool {
    match path.as_bytes() {
        [b'\\', b'\\', ..] => true,
        [b'/', b'/', third, ..] => *third != b'/',
        _ => false,
    }
}

/// Returns a path of Windows in the form for people; any other text unchanged. On POSIX a backslash
/// can be part of a name.
pub fn with_slashes(path: &str) -> Cow<'_, str> {
    if !is_windows(path) {
        return Cow::Borrowed(path);
    }
    let has_capital = !path.starts_with(|c: char| c.is_ascii_lowercase());
    if has_capital && !path.contains('\\') && !path.starts_with("//?/") {
        return Cow::Borrowed(path);
    }
    let mut text = path.replace('\\', "/");
    // The prefix of long paths.
    if let Some(share) = text.strip_prefix("//?/UNC/") {
        text = format!("//{share}");
    } else if let Some(long) = text.strip_prefix("//?/").filter(|long| is_drive(long)) {
        text = long.to_owned();
    }
    if is_drive(&text)
        && let Some(drive) = text.get_mut(..1)
    {
        drive.make_ascii_uppercase();
    }
    Cow::Owned(text)
}

/// Returns the drive or the share that a path with slashes begins with; nothing on POSIX.
pub fn volume(path: &str) -> &str {
    if is_drive(path) {
        return &path[..2];
    }
    if !is_share(path) {
        return "";
    }
    let end = path.match_indices('/').nth(3).map_or(path.len(), |(end, _)| end);
    &path[..end]
}

/// Returns a folder with slashes, and the folders above it, without slashes at their ends: that of `/`
/// is empty.
pub fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    let volume = volume(folder).len();
    std::iter::successors(Some(folder.trim_end_matches('/')), move |folder| {
        let (above, _) = folder.rsplit_once('/')?;
        (above.len() >= volume).then_some(above)
    })
}

/// Returns the part of a path below a folder, both with slashes. Windows takes upper and lower case
/// for the same.
pub fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches('/');
    let (start, rest) = path.split_at_checked(folder.len())?;
    if folder.is_empty() || !is_same(start, folder) {
        return None;
    }
    rest.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// Returns a part of a place that a user typed, as the place `C:/repo/src/a.js:12` can have it: on
/// Windows, users type backslashes.
pub fn as_in_place<'a>(typed: &'a str, place: &str) -> Cow<'a, str> {
    if is_windows(place) { typed.replace('\\', "/").into() } else { typed.into() }
}

/// Returns whether two paths with slashes, or the beginnings of two, are the same.
pub fn is_same(a: &str, b: &str) -> bool {
    let ignores_case = is_windows(a) || a.ends_with(':');
    if ignores_case { a.eq_ignore_ascii_case(b) } else { a == b }
}

/// Returns whether a path that a recording names may be looked at. Anybody can have written the
/// recording. To open a share would send the user's credentials to the server that the path names, and
/// to open a device can wait forever; neither has the code of a program. A path of another system would
/// count from the working directory.
pub fn is_local_file(path: &str, is_windows_system: bool) -> bool {
    if !is_windows_system {
        return path.starts_with('/') && !is_share(path);
    }
    let is_part = |part: &str| part.chars().all(is_allowed) && !is_reserved(part);
    is_drive(path) && path[3..].split(['/', '\\']).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_of_windows_have_slashes() {
        for (path, expected) in [
            (r"C:\repo\src\a.js", "C:/repo/src/a.js"),
            (r"c:\a.js", "C:/a.js"),
            ("c:/a.js", "C:/a.js"),
            ("C:/a.js", "C:/a.js"),
            (r"\\server\share\a.js", "//server/share/a.js"),
            (r"\\?\C:\long\a.js", "C:/long/a.js"),
            (r"\\?\c:\long\a.js", "C:/long/a.js"),
            (r"\\?\UNC\server\share\a.js", "//server/share/a.js"),
            ("//?/C:/a.js", "C:/a.js"),
            (r"\\.\pipe\x", "//./pipe/x"),
            (r"C:\é\日.js", "C:/é/日.js"),
            (r"/a\b.js", r"/a\b.js"),
            (r"src\a.js", r"src\a.js"),
            ("C:", "C:"),
            ("C:a.js", "C:a.js"),
            ("node:fs", "node:fs"),
            ("", ""),
        ] {
            assert_eq!(with_slashes(path), expected, "{path}");
        }
    }

    #[test]
    fn a_path_is_below_its_folders() {
        for (path, folder, expected) in [
            ("/r/src/a.js", "/r", Some("src/a.js")),
            ("/r/src/a.js", "/r/", Some("src/a.js")),
            ("/rest/a.js", "/r", None),
            ("/R/a.js", "/r", None),
            ("/r", "/r", None),
            ("/r/", "/r", None),
            ("/a.js", "/", None),
            ("/a.js", "", None),
            ("/é/a.js", "/e", None),
            ("C:/Repo/A.js", "C:/repo", Some("A.js")),
            ("C:/a.js", "C:/", Some("a.js")),
            ("D:/repo/a.js", "C:/repo", None),
            ("//server/share/a.js", "//SERVER/share", Some("a.js")),
        ] {
            assert_eq!(below(path, folder), expected, "{path} {folder}");
        }
    }

    #[test]
    fn places_have_what_users_type() {
        assert_eq!(as_in_place(r"src\a.js", "C:/repo/src/a.js:12"), "src/a.js");
        assert_eq!(as_in_place("src/a", "C:/repo/src/a.js:12"), "src/a");
        assert_eq!(as_in_place(r"src\a.js", "/repo/src/a.js:12"), r"src\a.js");
    }

    #[test]
    fn folders_have_ancestors() {
        for (folder, expected) in [
            ("/a/b", &["/a/b", "/a", ""][..]),
            ("C:/a/b/", &["C:/a/b", "C:/a", "C:"]),
            ("//server/share/a", &["//server/share/a", "//server/share"]),
            ("/", &[""]),
            ("", &[""]),
            ("a/b", &["a/b", "a"]),
        ] {
            assert_eq!(ancestors(folder).collect::<Vec<_>>(), expected, "{folder}");
        }
    }

    #[test]
    fn paths_have_volumes() {
        for (path, expected) in [
            ("C:/a", "C:"),
            ("//server/share/a/b", "//server/share"),
            ("//server", "//server"),
            ("/a/b", ""),
            ("a", ""),
        ] {
            assert_eq!(volume(path), expected, "{path}");
        }
    }

    #[test]
    fn only_files_of_local_disks_are_looked_at() {
        for (path, on_windows, on_posix) in [
            ("C:/repo/a.js", true, false),
            (r"C:\repo\a.js", true, false),
            ("C:/repo/console.js", true, false),
            ("/repo/a.js", false, true),
            ("//server/share/a.js", false, false),
            (r"\\server\share\a.js", false, false),
            (r"\\.\pipe\x", false, false),
            (r"\\?\C:\a.js", false, false),
            (r"\??\UNC\server\share\a.js", false, false),
            (r"/\server\share\a.js", false, true),
            ("C:/repo/COM1.js", false, false),
            ("C:/nul/a.js", false, false),
            ("C:/a.js:secret", false, false),
            ("C:/a?.js", false, false),
            ("C:a.js", false, false),
            ("src/a.js", false, false),
            ("node:fs", false, false),
            ("", false, false),
        ] {
            assert_eq!(is_local_file(path, true), on_windows, "{path} on Windows");
            assert_eq!(is_local_file(path, false), on_posix, "{path} on POSIX");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_one_form(path in prop_oneof![any::<String>(), r"([Cc]:|\\\\|//|\?|UNC|/|\\|é|a){0,9}"]) {
            let text = with_slashes(&path);
            prop_assert_eq!(with_slashes(&text), text.clone());
            prop_assert!(!is_windows(&path) || !text.contains('\\'), "{text}");
            prop_assert!(text.starts_with(volume(&text)));
        }

        #[test]
        fn no_share_is_ever_opened(
            start in prop::sample::select(vec![r"\\", "//", r"\/", r"/\", r"\??\", r"\\?\", r"\\.\", "//?/"]),
            rest in r"[a-zC:\\/.?]{0,12}",
        ) {
            let path = start.to_owned() + &rest;
            prop_assert!(!is_local_file(&path, true), "{}", path);
        }
    }
}
