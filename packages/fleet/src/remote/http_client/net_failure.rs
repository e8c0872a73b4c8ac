//! Why there is no answer to a request. Texts of the client can have the whole address, so none is passed on.

use std::io;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NetFailure {
    /// There is no such host, or the address of the proxy is none. A wrong name stays wrong.
    NoAddress(&'static str),
    /// The host, or the way to it, is not there.
    Unreachable(&'static str),
    Stalled,
    /// The connection ended too early.
    Cut,
    /// Why the connection is not secure.
    Untrusted(String),
    /// The answer is no HTTP.
    Garbage,
}

impl NetFailure {
    pub(crate) fn of(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Self::Unreachable("no answer in time")
            }
            ureq::Error::Timeout(_) => Self::Stalled,
            ureq::Error::HostNotFound => Self::NoAddress("no such host"),
            ureq::Error::ConnectionFailed => Self::Unreachable("no connection"),
            ureq::Error::Io(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => Self::Unreachable("connection refused"),
                io::ErrorKind::InvalidData | io::ErrorKind::Other => Self::of_tls(&error),
                io::ErrorKind::TimedOut => Self::Stalled,
                io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                    Self::Unreachable("no way to the host")
                }
                _ => Self::Cut,
            },
            ureq::Error::Rustls(error) => Self::Untrusted(error.to_string()),
            ureq::Error::Tls(why) => Self::Untrusted(why.to_owned()),
            ureq::Error::InvalidProxyUrl => {
                Self::NoAddress("HTTPS_PROXY or HTTP_PROXY is no address")
            }
            ureq::Error::ConnectProxyFailed(_) => Self::Unreachable("the proxy refuses"),
            _ => Self::Garbage,
        }
    }

    /// Tells an error of TLS, which comes within one of input and output, from a lost connection.
    fn of_tls(error: &io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(inner) => Self::Untrusted(inner.to_string()),
            None => Self::Cut,
        }
    }
}
