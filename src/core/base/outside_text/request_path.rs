//! The path of a request as a pattern: `/users/17` is `/users/:id`.

use super::opaque::is_opaque;

/// What stands for a part that differs from request to request.
const ID: &str = ":id";

/// The longest part of a path that can be a name, in characters.
const MAX_PART: usize = 64;

/// Returns the path of a URL as a pattern, without path parameters (`;jsessionid=…`).
pub(super) fn pattern_of(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').map(part_of).collect();
    parts.join("/")
}

fn part_of(part: &str) -> &str {
    let part = part.split(';').next().unwrap_or_default();
    if is_id(part) { ID } else { part }
}

/// Returns whether a part is an id, an address of a person, or a random text.
fn is_id(part: &str) -> bool {
    let is_all = |allowed: fn(&u8) -> bool| !part.is_empty() && part.as_bytes().iter().all(allowed);
    is_all(u8::is_ascii_digit)
        || part.len() >= 16 && is_all(|byte| byte.is_ascii_hexdigit())
        || part.find('@').is_some_and(|at| at > 0)
        || part.contains("%40")
        || is_uuid(part)
        || is_opaque(part)
        || part.chars().nth(MAX_PART).is_some()
}

pub(super) fn is_uuid(part: &str) -> bool {
    const DIGITS: [usize; 5] = [8, 4, 4, 4, 12];
    let groups: Vec<&str> = part.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq(DIGITS) && groups.iter().all(is_hex)
}
