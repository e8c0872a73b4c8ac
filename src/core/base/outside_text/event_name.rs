//! Names of events: of requests, marks and measures.

use std::borrow::Cow;

use super::address::{before_query, marked, request_address};
use super::request_path::pattern_of;
use super::short::{LEFT_OUT, MAX_NAME, MAX_READ, start_of};

/// Returns the name of an event. The path of a request is a pattern, without a query; other URLs in a name are
/// without a user and a query.
pub fn event_name(name: &str) -> Cow<'_, str> {
    let cleaned = request_name(name)
        .or_else(|| request_address(name))
        .or_else(|| marked(start_of(name, MAX_READ)));
    let kept = cleaned.map_or(Cow::Borrowed(name), Cow::Owned);
    let start = start_of(&kept, MAX_NAME);
    if start.len() < kept.len() { Cow::Owned(format!("{start}{LEFT_OUT}")) } else { kept }
}

/// Returns whether the detail of a timing, as JSON, is one of Node's about a request, which has its headers.
pub fn holds_request(detail: &str) -> bool {
    detail.starts_with(r#"{"req":{"#) && detail.contains(r#""headers":"#)
}

/// Returns the name of a request, `GET /users/:id`; none for other names.
fn request_name(name: &str) -> Option<String> {
    let (method, target) = name.split_once(' ')?;
    let is_method = !method.is_empty()
        && method.len() <= 20
        && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    if !is_method {
        return None;
    }
    if let Some(address) = request_address(target) {
        return Some(format!("{method} {address}"));
    }
    let target = start_of(target, MAX_READ);
    target.starts_with('/').then(|| format!("{method} {}", pattern_of(before_query(target))))
}
