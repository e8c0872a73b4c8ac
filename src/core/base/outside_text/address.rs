//! URLs without their secrets.

use std::borrow::Cow;

use super::request_path::pattern_of;
use super::short::{LEFT_OUT, MAX_READ, start_of};

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
    match UrlParts::of(url) {
        // A file has no user, and a writer can have made the URL of a path.
        Some(_) if url.starts_with("file://") => {
            Cow::Borrowed(without_query(before_query(url), "%3F"))
        }
        Some(UrlParts { scheme, host, path, is_cut: true }) => {
            Cow::Owned(format!("{scheme}{host}{path}"))
        }
        Some(_) => Cow::Borrowed(url),
        None => Cow::Borrowed(without_query(url, "?")),
    }
}

/// Returns an address of a request with its path as a pattern; none for other texts.
pub(super) fn request_address(text: &str) -> Option<String> {
    let UrlParts { scheme, host, path, .. } = UrlParts::of(start_of(text, MAX_READ))?;
    Some(format!("{scheme}{host}{}", pattern_of(path)))
}

/// Returns a text with marks for the users and the queries of its addresses; none for a text that is kept as it is.
pub(super) fn marked(text: &str) -> Option<String> {
    let contents = data_contents(text);
    // Most texts have neither, and marks of a program come here on its thread.
    if contents.is_none() && !text.contains("://") {
        return None;
    }
    let mut marked = String::new();
    let mut rest = &text[..contents.unwrap_or(text.len())];
    while let Some(at) = rest.find("://") {
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
        let start = rest[..at].trim_end_matches(is_of_scheme).len();
        let address = &rest[start..];
        let address = &address[..address.find(ends_address).unwrap_or(address.len())];
        marked.push_str(&rest[..start]);
        marked.push_str(&marked_address(address));
        rest = &rest[start + address.len()..];
    }
    marked.push_str(rest);
    if contents.is_some() {
        marked.push_str(LEFT_OUT);
    }
    (marked != text).then_some(marked)
}

/// Returns where the contents of a `data:` URL begin. They can have spaces.
pub(super) fn data_contents(text: &str) -> Option<usize> {
    text.match_indices("data:").find_map(|(at, scheme)| {
        let is_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let contents = at + scheme.len();
        let comma = contents + text[contents..].find(',')?;
        let is_kind = text[contents..comma].bytes().all(|byte| byte.is_ascii_graphic());
        (is_word && is_kind).then_some(comma + 1)
    })
}

/// Returns whether a character stands behind an address in a text.
fn ends_address(c: char) -> bool {
    c.is_whitespace() || "\"'`<>,|(){}".contains(c)
}

fn marked_address(address: &str) -> String {
    let Some(UrlParts { scheme, host, path, is_cut: true }) = UrlParts::of(address) else {
        return address.to_owned();
    };
    let behind_scheme = &address[scheme.len()..];
    let user = match behind_scheme.starts_with(host) {
        _ if host.is_empty() && !behind_scheme.starts_with('/') => LEFT_OUT,
        true => "",
        false => "…@",
    };
    let has_query = !behind_scheme.ends_with(&format!("{host}{path}"));
    let query = if has_query && user != LEFT_OUT { "?…" } else { "" };
    format!("{scheme}{user}{host}{path}{query}")
}

/// Returns the text before a query and a fragment.
pub(super) fn before_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}

impl<'a> UrlParts<'a> {
    /// Returns the parts of a URL with a host.
    fn of(url: &'a str) -> Option<Self> {
        let (name, _) = url.split_once("://")?;
        // One letter is a drive.
        let is_scheme = name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
        if !is_scheme {
            return None;
        }
        let (scheme, rest) = url.split_at(name.len() + 3);
        let mut from = 0;
        while let length @ 1.. = user_length(&rest[from..]) {
            from += length;
        }
        let kept = before_query(&rest[from..]);
        let (host, path) = kept.split_at(kept.find('/').unwrap_or(kept.len()));
        Some(Self { scheme, host, path, is_cut: kept.len() < rest.len() })
    }
}

/// Returns the length of the user, the password and the `@` before a host; of everything if there is a password and
/// no host. A password can have the characters that begin a path or a query.
fn user_length(rest: &str) -> usize {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(at) = authority.rfind('@') {
        return at + 1;
    }
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit());
    match rest.rfind('@') {
        _ if is_port => 0,
        Some(at) => at + 1,
        None => rest.len(),
    }
}

/// Returns the kind of a `data:` URL's contents.
fn kind_of_data(url: &str) -> Option<&str> {
    let contents = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (head, _) = url[contents.len()..].split_once(',')?;
    let kind = head.split(';').next().unwrap_or_default();
    kind.bytes().all(|byte| byte.is_ascii_graphic()).then(|| start_of(kind, 64))
}

/// Returns a path without what looks like a query: `?name=value`, with this question mark.
fn without_query<'a>(path: &'a str, mark: &str) -> &'a str {
    match path.split_once(mark) {
        Some((file, query)) if query.contains('=') => file,
        _ => path,
    }
}
