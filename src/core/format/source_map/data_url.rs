//! Maps that stand in the code itself, as `data:` URLs.

use data_url::DataUrl;

/// Returns the text of a `data:` URL; none if the URL is damaged or the text is not UTF-8.
pub fn text(url: &str) -> Option<String> {
    let (body, _) = DataUrl::process(url).ok()?.decode_to_vec().ok()?;
    String::from_utf8(body).ok()
}

/// Returns whether a URL is a `data:` URL.
pub fn is_data_url(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded() {
        for (url, expected) in [
            ("data:application/json;base64,eyJhIjoxfQ==", Some("{\"a\":1}")),
            ("data:application/json;charset=utf-8;base64,eyJhIjoxfQ", Some("{\"a\":1}")),
            ("data:application/json,%7B%22a%22%3A1%7D", Some("{\"a\":1}")),
            ("DATA:,x", Some("x")),
            ("data:application/json;base64,e", None),
            ("data:,%ff", None),
            ("data:", None),
        ] {
            assert!(is_data_url(url), "{url}");
            assert_eq!(text(url).as_deref(), expected, "{url}");
        }
        assert!(!is_data_url("a.js.map") && !is_data_url("dé"));
    }
}
