//! The code of an error in what an object store answers.

/// The longest code.
const MAX_BYTES: usize = 64;

/// Returns the code of an error: a word of letters. What else the answer says can have secrets.
pub(super) fn error_code(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_word = !code.is_empty()
        && code.len() <= MAX_BYTES
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_is_a_code() {
        let code = |text: &str| error_code(text.as_bytes());
        assert_eq!(
            code("<Error><Code>NoSuchBucket</Code><Message>x</Message></Error>").as_deref(),
            Some("NoSuchBucket")
        );
        for text in ["", "<Code>", "<Code></Code>", "<Code>a b</Code>", "<Code>\u{1b}[2J</Code>"] {
            assert_eq!(code(text), None, "{text}");
        }
        assert_eq!(error_code(b"<Code>\xff</Code>"), None);
        assert_eq!(code(&format!("<Code>{}</Code>", "a".repeat(65))), None);
    }
}
