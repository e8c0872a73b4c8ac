//! What Pyroscope is told of a profile, in the query of a request.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays in a query as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The name of a service without a name.
const UNNAMED: &str = "unknown_service";

/// The most signs of a value: servers refuse more than 2048 bytes, and an address has an end too.
const MOST_SIGNS: usize = 512;

/// The label that names a service. Its value can have any signs, those of the name in the query are few.
const SERVICE: &str = "service_name";

/// What is known of a profile.
#[derive(Debug, Clone, Default)]
pub struct PushMeta {
    /// The name of the service.
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// Unix time.
    pub from_ms: f64,
    pub until_ms: f64,
    /// Samples in a second.
    pub sample_rate: f64,
}

impl PushMeta {
    /// Returns the query of a profile. Without `format=pprof`, a body would be taken for folded stacks.
    pub(super) fn query(&self) -> String {
        let seconds = |ms: f64| (ms / 1000.0).max(0.0) as u64;
        // The server reads whole numbers only, and takes 0 for a rate.
        let rate = (self.sample_rate.round().max(1.0)) as u32;
        let name = self.series();
        format!(
            "format=pprof&from={}&until={}&name={}&spyName=nodespy&sampleRate={rate}",
            seconds(self.from_ms),
            // A profile of less than a second has a length too.
            seconds(self.until_ms).max(seconds(self.from_ms) + 1),
            utf8_percent_encode(&name, ESCAPED),
        )
    }

    /// Returns the name with the labels: `name{key=value,…}`.
    fn series(&self) -> String {
        let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || "-_./".contains(sign);
        let name = replaced(&self.name, is_of_name);
        let name = if name.is_empty() { UNNAMED.to_owned() } else { name };
        let mut labels: BTreeMap<String, String> = BTreeMap::new();
        if name != self.name && !self.name.trim().is_empty() {
            labels.insert(SERVICE.into(), value_of(&self.name));
        }
        for (key, value) in &self.labels {
            let value = value_of(value);
            if let Some(key) = key_of(key).filter(|_| !value.is_empty()) {
                labels.insert(key, value);
            }
        }
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("{name}{{{}}}", labels.join(","))
    }
}

/// Replaces all other signs.
fn replaced(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    text.trim()
        .chars()
        .take(MOST_SIGNS)
        .map(|sign| if is_kept(sign) { sign } else { '_' })
        .collect()
}

/// Returns the name of a label in the form that the server takes. It keeps names with two underscores for
/// itself.
fn key_of(key: &str) -> Option<String> {
    let key = replaced(key, |sign| sign.is_ascii_alphanumeric() || sign == '_');
    let bare = key.trim_start_matches('_');
    let key = if key.starts_with("__") { format!("_{bare}") } else { key.clone() };
    let first = key.bytes().next()?;
    match first.is_ascii_digit() {
        true => Some(format!("_{key}")),
        false => (!key.trim_matches('_').is_empty()).then_some(key),
    }
}

/// Returns the value of a label without the signs that end it.
fn value_of(value: &str) -> String {
    replaced(value, |sign| !sign.is_control() && !"{},=\"".contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, labels: &[(&str, &str)]) -> String {
        let labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        PushMeta { name: name.into(), labels, ..PushMeta::default() }.series()
    }

    #[test]
    fn names_have_only_signs_that_the_server_takes() {
        assert_eq!(series("org/app-1.2", &[]), "org/app-1.2{}");
        assert_eq!(series("@org/app", &[]), "_org/app{service_name=@org/app}");
        assert_eq!(series("", &[]), "unknown_service{}");
        assert_eq!(series("a{b=c}", &[]), "a_b_c_{service_name=a_b_c_}");
        let labels =
            [("a.b", "x,y=\"z\"{}"), ("1", "one"), ("__name__", "n"), ("", "e"), ("k", "")];
        assert_eq!(series("a", &labels), "a{_1=one,_name__=n,a_b=x_y__z___}");
        assert_eq!(series("a", &[("route", "/Übersicht/:id")]), "a{route=/Übersicht/:id}");
    }

    #[test]
    fn a_query_has_whole_seconds() {
        let meta = PushMeta {
            name: "a".into(),
            labels: [("k".into(), "v w".into())].into(),
            from_ms: 1_700_000_000_900.0,
            until_ms: 1_700_000_000_950.0,
            sample_rate: 999.6,
        };
        assert_eq!(
            meta.query(),
            "format=pprof&from=1700000000&until=1700000001&name=a%7Bk%3Dv%20w%7D&spyName=nodespy&\
             sampleRate=1000"
        );
    }
}
