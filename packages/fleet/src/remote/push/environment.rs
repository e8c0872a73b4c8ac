//! What environment variables tell of a server, and of who sends: what nobody but the server may know is not
//! in a command line.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;

use percent_encoding::percent_decode_str;

use super::options::PushOptions;

/// The address of the server.
pub const ADDRESS: &str = "CPU_PROF_PUSH";
const HEADERS: &str = "CPU_PROF_PUSH_HEADERS";
const CERTIFICATES: &str = "CPU_PROF_PUSH_CA";
const SERVICE: &str = "CPU_PROF_PUSH_SERVICE";
const TAGS: &str = "CPU_PROF_PUSH_TAGS";

/// The most bytes of a file with certificates.
const MOST_PEM: u64 = 4 << 20;

/// What the variables have. The address and the headers can be secrets, so there is no `Debug`.
#[derive(Default)]
pub struct PushEnvironment {
    /// Address of the server.
    pub url: Option<String>,
    /// Name of the service.
    pub service: Option<String>,
    /// Labels of all profiles.
    pub tags: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    /// PEM.
    certificates: Option<String>,
}

impl PushEnvironment {
    /// Reads the variables. The error is for the user, and has no value.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let given = |name| variable(name).filter(|value| !value.trim().is_empty());
        let headers = given(HEADERS).map(|text| {
            pairs(&text).ok_or_else(|| {
                format!("{HEADERS}: each header is a name and a value, as X-Scope-OrgID=team")
            })
        });
        let tags = given(TAGS).map(|text| {
            let tags = pairs(&text).filter(|tags| tags.keys().all(|key| is_key(key)));
            tags.ok_or_else(|| format!("{TAGS}: each tag is a key and a value, as region=eu"))
        });
        let certificates = given(CERTIFICATES).map(|path| {
            text_of(&path)
                .map_err(|why| format!("{CERTIFICATES}: the certificates cannot be read: {why}"))
        });
        Ok(Self {
            url: given(ADDRESS),
            service: given(SERVICE),
            tags: tags.transpose()?.unwrap_or_default(),
            headers: headers.transpose()?.unwrap_or_default(),
            certificates: certificates.transpose()?,
        })
    }

    /// Adds the headers and the certificates to options, which take precedence.
    pub fn complete(&self, options: &mut PushOptions) {
        for (name, value) in &self.headers {
            options.headers.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if options.certificates.is_none() {
            options.certificates.clone_from(&self.certificates);
        }
    }
}

/// Returns the pairs of a text such as `a=b,c=d`, as in `OTEL_EXPORTER_OTLP_HEADERS`: values can be
/// percent-encoded. None if a part is no pair.
fn pairs(text: &str) -> Option<BTreeMap<String, String>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=')?;
            let name = name.trim();
            let value = percent_decode_str(value.trim()).decode_utf8();
            let value = value.map_or_else(|_| value_as_is(part), |value| value.into_owned());
            (!name.is_empty()).then(|| (name.to_owned(), value))
        })
        .collect()
}

/// Returns the value of a pair whose percent signs are not those of an encoded text.
fn value_as_is(part: &str) -> String {
    part.split_once('=').map_or("", |(_, value)| value.trim()).to_owned()
}

/// Returns whether a text is the key of a tag.
fn is_key(text: &str) -> bool {
    let is_start = |sign: char| sign.is_ascii_alphabetic() || sign == '_';
    text.starts_with(is_start)
        && text.chars().all(|sign| is_start(sign) || sign.is_ascii_digit() || sign == '.')
}

/// Returns the text of a file that is not too large for certificates. Something else than a file could be
/// read for ever.
fn text_of(path: &str) -> Result<String, String> {
    let described = |error: std::io::Error| error.to_string();
    if !fs::metadata(path).map_err(described)?.is_file() {
        return Err("it is no file".into());
    }
    let mut text = String::new();
    let file = File::open(path).map_err(described)?;
    let length = file.take(MOST_PEM + 1).read_to_string(&mut text).map_err(described)?;
    if length as u64 > MOST_PEM { Err("the file is too large".into()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<PushEnvironment, String> {
        PushEnvironment::read(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        })
    }

    fn found(text: &str) -> Vec<(String, String)> {
        pairs(text).unwrap().into_iter().collect()
    }

    #[test]
    fn headers_are_those_of_a_list() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found(""), []);
        assert_eq!(found("a=b, c=d%2Ce ,f="), [pair("a", "b"), pair("c", "d,e"), pair("f", "")]);
        assert_eq!(found("Authorization=Basic YTpi=="), [pair("Authorization", "Basic YTpi==")]);
        assert_eq!(found("a=50%,b=%ff"), [pair("a", "50%"), pair("b", "%ff")]);
        for text in ["=x", "x", "a=b,c"] {
            assert!(pairs(text).is_none(), "{text}");
        }
    }

    #[test]
    fn options_take_precedence() {
        let environment =
            read(&[(ADDRESS, "http://h"), (HEADERS, "a=1,b=2"), (SERVICE, " "), (TAGS, "k.1=v")]);
        let environment = environment.ok().unwrap();
        assert_eq!(environment.url.as_deref(), Some("http://h"));
        assert_eq!(environment.service, None);
        assert_eq!(environment.tags.get("k.1").map(String::as_str), Some("v"));
        let headers = [("a".to_owned(), "own".to_owned())].into();
        let mut options = PushOptions { headers, ..PushOptions::default() };
        environment.complete(&mut options);
        assert_eq!(options.headers.into_values().collect::<Vec<_>>(), ["own", "2"]);
    }

    #[test]
    fn errors_name_the_variable_and_no_value() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap();
        for (name, value) in [
            (HEADERS, "SECRET"),
            (TAGS, "SECRET"),
            (TAGS, "1SECRET=2"),
            (CERTIFICATES, "/missing/SECRET"),
            (CERTIFICATES, folder),
        ] {
            let error = read(&[(name, value)]).err().unwrap();
            assert!(error.starts_with(name) && !error.contains("SECRET"), "{error}");
        }
    }
}
