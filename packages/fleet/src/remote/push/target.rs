//! Where payloads go: the address, and the headers of each request.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap,
    HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use http::{Request, Uri};
use percent_encoding::percent_decode_str;

use super::options::{PushOptions, ServerKind};
use super::query::PushMeta;
use crate::http_client::agent::host_of;

/// What this program sets itself.
const OWN: [HeaderName; 6] =
    [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, HOST];

/// The path of a collector, as the specification of OTLP has it.
const OTLP_PATH: &str = "/v1development/profiles";
const PYROSCOPE_PATH: &str = "/ingest";

/// A server. The headers and the address can have secrets, so they have no `Debug`.
pub(super) struct PushTarget {
    pub kind: ServerKind,
    /// The host and the port, which messages may have.
    pub host: String,
    pub is_loopback: bool,
    /// `https://host:port/path`.
    base: String,
    /// The query that the user wrote.
    query: Option<String>,
    headers: HeaderMap,
}

impl PushTarget {
    /// Reads an address. The error is for the user, and has no secret.
    pub(super) fn of(url: &str, options: &PushOptions) -> Result<Self, String> {
        let not_one = || {
            "the address to push to is none; give https://host/path, with signs other than letters and \
             digits in a password as %40"
                .to_owned()
        };
        let uri: Uri = url.trim().parse().map_err(|_| not_one())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(not_one());
        };
        if !matches!(scheme, "http" | "https") {
            return Err("the address to push to begins with neither https:// nor http://".into());
        }
        let (user_info, bare) = match authority.as_str().rsplit_once('@') {
            Some((user_info, bare)) => (Some(user_info), bare),
            None => (None, authority.as_str()),
        };
        let host_name = uri.host().unwrap_or_default();
        let port = bare.strip_prefix(host_name).unwrap_or_default();
        // A password with a slash ends the host: its first part would be a port, and the host is in the path.
        let rest = uri.path_and_query().map_or("", |rest| rest.as_str());
        let is_torn = (!port.is_empty() && uri.port_u16().is_none())
            || (user_info.is_none() && rest.contains('@'));
        if host_name.is_empty() || is_torn {
            return Err(not_one());
        }
        let host = host_of(&uri);
        let headers = headers_of(user_info, options)?;
        let is_loopback = uri.host().is_some_and(is_loopback);
        if scheme == "http" && !headers.is_empty() && !is_loopback {
            return Err(format!(
                "the address http://{host} would send the password or the headers so that everybody on \
                 the way can read them; use https://"
            ));
        }
        let kind = options.kind.unwrap_or_else(|| kind_of(uri.path()));
        let path = path_of(kind, uri.path());
        Ok(Self {
            kind,
            host,
            is_loopback,
            base: format!("{scheme}://{bare}{path}"),
            query: uri.query().filter(|query| !query.is_empty()).map(str::to_owned),
            headers,
        })
    }

    /// Makes the request for a payload.
    pub(super) fn request(&self, query: &str, body: Vec<u8>) -> http::Result<Request<Vec<u8>>> {
        let own = (self.kind == ServerKind::Pyroscope).then_some(query);
        let queries: Vec<&str> = self.query.as_deref().into_iter().chain(own).collect();
        let mut uri = self.base.clone();
        if !queries.is_empty() {
            uri.push('?');
            uri.push_str(&queries.join("&"));
        }
        let mut request = Request::post(uri).body(body)?;
        let headers = request.headers_mut();
        headers.clone_from(&self.headers);
        match self.kind {
            // With this query, the server takes the body for the profile, whatever its type is. A form would be
            // taken for one too.
            ServerKind::Pyroscope => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
            }
            ServerKind::Otlp => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        }
        Ok(request)
    }

    /// Returns what is told of a profile in the query.
    pub(super) fn query_of(&self, meta: &PushMeta) -> String {
        match self.kind {
            ServerKind::Pyroscope => meta.query(),
            ServerKind::Otlp => String::new(),
        }
    }
}

fn kind_of(path: &str) -> ServerKind {
    match path.trim_end_matches('/').ends_with("/profiles") {
        true => ServerKind::Otlp,
        false => ServerKind::Pyroscope,
    }
}

fn path_of(kind: ServerKind, path: &str) -> String {
    let bare = path.trim_end_matches('/');
    match kind {
        ServerKind::Pyroscope if !bare.ends_with(PYROSCOPE_PATH) => {
            format!("{bare}{PYROSCOPE_PATH}")
        }
        ServerKind::Otlp if bare.is_empty() => OTLP_PATH.into(),
        _ => bare.into(),
    }
}

/// Returns whether a host is this machine, so that nobody is on the way.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Returns the headers of the user. No error has a value, or a name that is none: it can be a secret too.
fn headers_of(user_info: Option<&str>, options: &PushOptions) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &options.headers {
        let name = HeaderName::from_bytes(name.trim().as_bytes())
            .map_err(|_| "a header has a name that is none; write it as Name: value".to_owned())?;
        if OWN.contains(&name) {
            return Err(format!("the header {name} cannot be set: cpu-prof sets it; leave it out"));
        }
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
            format!("the header {name} has a value with signs that no header has: a line break?")
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if let Some(user_info) = user_info {
        if headers.contains_key(AUTHORIZATION) {
            return Err(
                "the address has a password, and there is a header authorization; leave one \
                        of both out"
                    .into(),
            );
        }
        headers.insert(AUTHORIZATION, basic(user_info)?);
    }
    Ok(headers)
}

/// Returns the header for `user:password`.
fn basic(user_info: &str) -> Result<HeaderValue, String> {
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let decoded = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let user = decoded(user);
    if user.contains(&b':') {
        return Err("the user's name in the address has a colon, which no such name has".into());
    }
    let pair = [user, b":".to_vec(), decoded(password)].concat();
    let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair)));
    let mut value = value.map_err(|_| "the password in the address cannot be sent".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, headers: &[(&str, &str)]) -> Result<PushTarget, String> {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        PushTarget::of(url, &PushOptions { headers: headers.collect(), ..PushOptions::default() })
    }

    fn uri(url: &str) -> String {
        let request = target(url, &[]).ok().unwrap().request("q=1", Vec::new()).unwrap();
        request.uri().to_string()
    }

    #[test]
    fn the_path_tells_the_kind() {
        assert_eq!(uri("http://h:4040"), "http://h:4040/ingest?q=1");
        assert_eq!(uri("https://h/a/"), "https://h/a/ingest?q=1");
        assert_eq!(uri("https://h/pyroscope/ingest?t=2"), "https://h/pyroscope/ingest?t=2&q=1");
        assert_eq!(uri("https://h/v1development/profiles"), "https://h/v1development/profiles");
        assert_eq!(uri("https://[::1]:1/x/profiles?t=2"), "https://[::1]:1/x/profiles?t=2");
        let options = PushOptions { kind: Some(ServerKind::Otlp), ..PushOptions::default() };
        for (url, expected) in [
            ("https://h", "https://h/v1development/profiles"),
            ("https://h/", "https://h/v1development/profiles"),
            ("https://h/own", "https://h/own"),
        ] {
            let target = PushTarget::of(url, &options).ok().unwrap();
            let request = target.request("", Vec::new()).unwrap();
            assert_eq!(request.uri().to_string(), expected);
            assert_eq!(request.headers()["content-encoding"], "gzip");
        }
    }

    #[test]
    fn a_password_becomes_a_header() {
        let target = target("https://me:p%40ss@h:1/x", &[]).ok().unwrap();
        assert_eq!(target.host, "h:1");
        let request = target.request("", Vec::new()).unwrap();
        assert_eq!(request.headers()["authorization"], "Basic bWU6cEBzcw==");
        assert!(!request.uri().to_string().contains("me"));
        assert!(!format!("{request:?}").contains("bWU6"));
    }

    #[test]
    fn secrets_go_only_over_secure_connections_or_to_this_machine() {
        let secret: &[(&str, &str)] = &[("X-Scope-OrgID", "SECRET")];
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(target(&format!("http://u:SECRET@{host}:1"), &[]).is_ok(), "{host}");
            assert!(target(&format!("http://{host}"), secret).is_ok(), "{host}");
        }
        assert!(target("http://example.org", &[]).is_ok());
        for url in ["http://example.org/SECRET", "http://localhost.example.org", "http://0.0.0.0"] {
            let error = target(url, secret).err().unwrap();
            assert!(error.contains("use https://") && !error.contains("SECRET"), "{error}");
        }
        assert!(target("http://u:SECRET@127.0.0.1.example.org", &[]).is_err());
        assert!(target("http://u:SECRET@127.1", &[]).is_err());
    }

    #[test]
    fn errors_have_no_secret() {
        let torn = ["https://SECRET:1/2@h", "https://u:SECRET/x@h", "https://u:SECRET?x@h"];
        let wrong =
            ["", "h", "SECRET@h", "ftp://u:SECRET@h", "https://", "https://u:SECRET@", "/SECRET"];
        for url in torn.into_iter().chain(wrong) {
            let error = target(url, &[]).err().unwrap();
            assert!(!error.contains("SECRET"), "{error}");
        }
        for header in [("a b SECRET", "x"), ("x", "SECRET\nx"), ("Content-Type", "SECRET")] {
            let error = target("https://h", &[header]).err().unwrap();
            assert!(!error.contains("SECRET"), "{error}");
        }
        let both = target("https://u:SECRET@h", &[("Authorization", "SECRET")]);
        assert!(both.err().unwrap().contains("leave one"));
        assert!(target("https://a%3Ab:SECRET@h", &[]).err().unwrap().contains("a colon"));
    }
}
