//! Short texts.

/// What stands for a text that is left out.
pub(super) const LEFT_OUT: &str = "…";

/// The longest name of an event, in characters.
pub(super) const MAX_NAME: usize = 300;

/// The most of a text that is looked at for a name, in characters.
pub(super) const MAX_READ: usize = 8 * MAX_NAME;

/// Returns the start of a text, of at most `most` characters.
pub(super) fn start_of(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    &text[..end]
}
