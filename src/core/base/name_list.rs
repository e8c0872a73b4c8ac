//! Lists of names in messages.

/// Returns names in one line, the first few of many: `a, b and 3 more`.
pub fn first_of(names: &[String], shown: usize) -> String {
    let first = names.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(shown) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_counted() {
        let names = ["a", "b", "c"].map(str::to_owned);
        for (shown, expected) in [(1, "a and 2 more"), (2, "a, b and 1 more"), (3, "a, b, c")] {
            assert_eq!(first_of(&names, shown), expected);
        }
        assert_eq!(first_of(&[], 2), "");
    }
}
