//! The comment of generated code that names its source map.

use memchr::memmem;

const MARK: &[u8] = b"sourceMappingURL=";

/// Returns the URL in the last comment of the form `//# sourceMappingURL=…`, if nothing but comments
/// follows.
pub fn map_url(code: &str) -> Option<&str> {
    let at = memmem::rfind(code.as_bytes(), MARK)?;
    let (before, rest) = (&code[..at], &code[at + MARK.len()..]);
    let before = before.trim_end_matches([' ', '\t']);
    let opening = before.strip_suffix(['#', '@'])?;
    let is_block = opening.ends_with("/*");
    if !is_block && !opening.ends_with("//") {
        return None;
    }
    let end = rest.find(|character: char| character.is_whitespace()).unwrap_or(rest.len());
    let (mut url, mut rest) = rest.split_at(end);
    if is_block {
        match url.find("*/") {
            Some(close) => (url, rest) = (&url[..close], &url[close + 2..]),
            None => rest = rest.trim_start().strip_prefix("*/")?,
        }
    }
    let is_comment = |line: &str| matches!(line.trim(), "" | "*/") || line.trim().starts_with("//");
    let is_url = !url.is_empty() && !url.contains(['"', '\'', '`']);
    (is_url && rest.lines().all(is_comment)).then_some(url)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_comment_counts() {
        for (code, url) in [
            ("f()\n//# sourceMappingURL=a.js.map", Some("a.js.map")),
            ("f()\n//# sourceMappingURL=a.js.map\r\n\r\n", Some("a.js.map")),
            ("//@ sourceMappingURL=a.map\n//# sourceMappingURL=b.map\n", Some("b.map")),
            ("f()/*# sourceMappingURL=a.css.map */", Some("a.css.map")),
            ("f()/*# sourceMappingURL=a.map*/\n", Some("a.map")),
            (
                "f() //# sourceMappingURL=data:application/json;base64,e30=\n",
                Some("data:application/json;base64,e30="),
            ),
            ("//# sourceMappingURL=a.map\n//# debugId=5\n// end", Some("a.map")),
            ("//# sourceMappingURL=a.map\nf()", None),
            ("const x = '//# sourceMappingURL=' + y", None),
            ("s = \"//# sourceMappingURL=a.map\"\n", None),
            ("//# sourceMappingURL=\n", None),
            ("// sourceMappingURL=a.map", None),
            ("sourceMappingURL=a.map", None),
            ("/*# sourceMappingURL=a.map f() */", None),
            ("", None),
        ] {
            assert_eq!(map_url(code), url, "{code}");
        }
    }

    proptest! {
        #[test]
        fn any_code_is_read(code in "(sourceMappingURL=|//|#|/\\*|\\*/|é| |\\n|a|'){0,12}") {
            let _ = map_url(&code);
        }
    }
}
