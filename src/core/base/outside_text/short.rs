//! Short texts.

/// What stands for a text that is left out.
pub(super) const LEFT_OUT: &str = "…";

/// The longest name of an event, in characters.
pub(super) const MAX_NAME: usize = 300;

/// Returns the start of a text of at most `most` characters, and whether something is missing.
pub(super) fn start_of(text: &str, most: usize) -> (&str, bool) {
    if text.len() <= most {
        return (text, false);
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}
