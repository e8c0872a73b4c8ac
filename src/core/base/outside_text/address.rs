//! URLs without their secrets.

use std::borrow::Cow;

use super::request_path::pattern_of;
use super::short::{LEFT_OUT, MAX_NAME, start_of};

/// The parts of a URL that are kept.
struct UrlParts<'a> {
    /// `https://`
    scheme: &'a str,
    /// `host:443`, without a user.
    host: &'a str,
    /// `/users/17`
    path: &'a str,
    /// Whether a user, a query or a fragment is left out.
    is_cut: bool,
}

/// Returns the URL of a script without a user, a query, a fragment, or code.
///
/// A path can have a question mark. Only what looks like a query is left out of it.
pub fn script_url(url: &str) -> Cow<'_, str> {
    if let Some(kind) = kind_of_data(url) {
        return Cow::Owned(format!("data:{kind},{LEFT_OUT}"));
    }
    let kept = match UrlParts::of(url) {
        // A path that a writer has made a URL of.
        Some(UrlParts { scheme: "file://", is_cut: false, .. }) => {
            Cow::Borrowed(without_query(url, "%3F"))
        }
        Some(UrlParts { scheme, host, path, is_cut: true }) => {
            Cow::Owned(format!("{scheme}{host}{path}"))
        }
        Some(_) => Cow::Borrowed(url),
        None => Cow::Borrowed(without_query(url, "?")),
    };
    match start_of(&kept, MAX_URL) {
        (start, true) => Cow::Owned(format!("{start}{LEFT_OUT}")),
        (_, false) => kept,
    }
}

/// The longest URL of a script, in characters: paths of files are long.
const MAX_URL: usize = 4096;

/// Returns an address of a request with its path as a pattern; none for other texts.
pub(super) fn request_address(text: &str) -> Option<String> {
    let (start, _) = start_of(text, 8 * MAX_NAME);
    let UrlParts { scheme, host, path, .. } = UrlParts::of(start)?;
    Some(format!("{scheme}{host}{}", pattern_of(path)))
}

/// Returns an address with a mark where a user or a query is left out; none for a text that is kept as it is.
pub(super) fn marked_address(text: &str) -> Option<String> {
    if let Some(kind) = kind_of_data(text) {
        return Some(format!("data:{kind},{LEFT_OUT}"));
    }
    let UrlParts { scheme, host, path, is_cut } = UrlParts::of(text)?;
    is_cut.then(|| {
        let has_user = !text[scheme.len()..].starts_with(host);
        let user = if has_user { format!("{LEFT_OUT}@") } else { String::new() };
        let has_rest = !text.ends_with(&format!("{host}{path}"));
        let rest = if has_rest { format!("?{LEFT_OUT}") } else { String::new() };
        format!("{scheme}{user}{host}{path}{rest}")
    })
}

/// Returns the text before a query and a fragment.
pub(super) fn before_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}

impl<'a> UrlParts<'a> {
    /// Returns the parts of a URL with a host.
    fn of(url: &'a str) -> Option<Self> {
        let (name, _) = url.split_once("://")?;
        let is_scheme = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
        if !is_scheme {
            return None;
        }
        let (scheme, rest) = url.split_at(name.len() + 3);
        let kept = before_query(rest);
        let (authority, path) = kept.split_at(kept.find('/').unwrap_or(kept.len()));
        let host = authority.rsplit('@').next().unwrap_or_default();
        let is_cut = kept.len() < rest.len() || host.len() < authority.len();
        Some(Self { scheme, host, path, is_cut })
    }
}

/// Returns the kind of a `data:` URL's contents.
fn kind_of_data(url: &str) -> Option<&str> {
    let contents = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (head, _) = url[contents.len()..].split_once(',')?;
    let kind = head.split(';').next().unwrap_or_default();
    kind.bytes().all(|byte| byte.is_ascii_graphic()).then(|| start_of(kind, 64).0)
}

/// Returns a path without what looks like a query: `?name=value`, with this question mark.
fn without_query<'a>(path: &'a str, mark: &str) -> &'a str {
    match path.split_once(mark) {
        Some((file, query)) if query.contains('=') => file,
        _ => path,
    }
}
