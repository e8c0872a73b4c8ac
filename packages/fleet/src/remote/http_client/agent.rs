//! Makes the client, and names hosts.

use std::sync::Arc;

use http::Uri;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// Makes a client that follows no redirect. `certificates` is PEM: the authorities that are trusted instead of
/// Mozilla's list. None without a certificate in the text.
pub(crate) fn agent(certificates: Option<&[u8]>, uses_proxy: bool) -> Option<Agent> {
    let roots = match certificates {
        Some(pem) => roots_of(pem)?,
        None => RootCerts::WebPki,
    };
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("cpu-prof/", env!("CARGO_PKG_VERSION")))
        .tls_config(TlsConfig::builder().root_certs(roots).build());
    if !uses_proxy {
        config = config.proxy(None);
    }
    Some(config.build().into())
}

/// Reads the certificates of a text.
fn roots_of(pem: &[u8]) -> Option<RootCerts> {
    let certificates: Vec<Certificate<'static>> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    (!certificates.is_empty()).then(|| RootCerts::Specific(Arc::new(certificates)))
}

/// Returns the host, without the name and the password that an address can begin with.
pub(crate) fn host_of(uri: &Uri) -> String {
    let port = uri.port_u16().map_or(String::new(), |port| format!(":{port}"));
    format!("{}{port}", uri.host().unwrap_or("the server"))
}
