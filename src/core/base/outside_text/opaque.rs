//! Texts that look random, as keys and ids are.

/// Returns whether a part of a path or a word is random: it changes between letters and digits more often than
/// names do.
pub(super) fn is_opaque(text: &str) -> bool {
    let is_random = |run: &str| {
        let changes = changes_of_kind(run);
        run.len() >= 6 && changes >= 3 || run.len() >= 16 && changes >= 2
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random)
}

/// Returns whether a text is base64 of random bytes, which can have slashes as a path has.
pub(super) fn is_base64(text: &str) -> bool {
    const MIN_LENGTH: usize = 32;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let changes = changes_of_kind(text) + changes_of_case(text);
    text.len() >= MIN_LENGTH && text.bytes().all(is_allowed) && changes * 6 > text.len()
}

/// Returns how often a letter follows a digit, or a digit a letter.
fn changes_of_kind(text: &str) -> usize {
    let is_change = |a: u8, b: u8| {
        a.is_ascii_alphanumeric()
            && b.is_ascii_alphanumeric()
            && a.is_ascii_digit() != b.is_ascii_digit()
    };
    text.as_bytes().windows(2).filter(|pair| is_change(pair[0], pair[1])).count()
}

/// Returns how often a capital letter follows a small one.
fn changes_of_case(text: &str) -> usize {
    let is_change = |a: u8, b: u8| a.is_ascii_lowercase() && b.is_ascii_uppercase();
    text.as_bytes().windows(2).filter(|pair| is_change(pair[0], pair[1])).count()
}
