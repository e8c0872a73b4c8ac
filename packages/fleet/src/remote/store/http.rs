//! HTTP for the object store's library: one client, which blocks a thread for each request.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::{Method, Request, Response, Uri};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpService,
};
use ureq::Agent;

use super::failure::{Failure, Failures, LakeError};
use super::limits::{Limits, MACHINE_TIME, MOST_BYTES, MOST_FILE_BYTES};
use super::pages::Pages;
use super::xml::error_code;
use crate::http_client::agent::{agent, host_of};
use crate::http_client::net_failure::NetFailure;

/// The address at which a machine in a cloud tells its credentials.
const MACHINE: &str = "169.254.169.254";

/// The variable that names a file of certificates.
pub(super) const CA_VARIABLE: &str = "AWS_CA_BUNDLE";

/// Makes clients.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    agent: Agent,
    limits: Limits,
    failures: Arc<Failures>,
    pages: Arc<Pages>,
    /// Whether a variable says where credentials come from.
    has_source: bool,
}

impl Connector {
    /// `certificates` is PEM: the authorities that are trusted instead of Mozilla's list.
    pub(super) fn new(
        limits: Limits,
        certificates: Option<&[u8]>,
        failures: Arc<Failures>,
        has_source: bool,
    ) -> Result<Self, LakeError> {
        let agent = agent(certificates, true).ok_or_else(|| {
            LakeError(format!("{CA_VARIABLE} names a file without a certificate (PEM)"))
        })?;
        Ok(Self { agent, limits, failures, pages: Arc::default(), has_source })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http =
            options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        Ok(HttpClient::new(Client { connector: self.clone(), allows_http }))
    }
}

/// A client, whose requests run side by side on threads of the runtime.
#[derive(Debug)]
struct Client {
    connector: Connector,
    allows_http: bool,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        // The payload is in memory already.
        let body = body.collect().await?.to_bytes();
        let request = Request::from_parts(parts, body.to_vec());
        let (connector, allows_http) = (self.connector.clone(), self.allows_http);
        let exchange = move || {
            let answer = connector.exchange(request, allows_http);
            answer.map_err(|(kind, failure)| {
                connector.failures.note(failure.clone());
                HttpError::new(kind, io::Error::other(failure.to_string()))
            })
        };
        let answer = tokio::task::spawn_blocking(exchange).await;
        let (parts, body) =
            answer.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))??.into_parts();
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
}

/// What failed, and whether it is worth another attempt.
type FailedExchange = (HttpErrorKind, Failure);

impl Connector {
    /// Sends a request, and returns the whole answer. Notes an answer that tells of an error.
    fn exchange(
        &self,
        request: Request<Vec<u8>>,
        allows_http: bool,
    ) -> Result<Response<Vec<u8>>, FailedExchange> {
        let uri = request.uri().clone();
        if uri.scheme_str() != Some("https") && !allows_http {
            return Err((HttpErrorKind::Unknown, Failure::Plain));
        }
        let is_machine = uri.host() == Some(MACHINE) && !self.has_source;
        let failed = |error| match failure_of(error, &uri) {
            // There are no credentials of the machine to wait for.
            _ if is_machine => (HttpErrorKind::Unknown, Failure::NoCredentials),
            failed => failed,
        };
        let connect = if is_machine { MACHINE_TIME } else { self.limits.connect };
        let is_file = *request.method() == Method::GET && uri.query().is_none();
        let answer = self.send(request, connect, is_file).map_err(failed)?;
        let (parts, mut body) = answer.into_parts();
        let most = if is_file { MOST_FILE_BYTES } else { MOST_BYTES };
        let body = body.with_config().limit(most).read_to_vec().map_err(failed)?;
        if !parts.status.is_success() {
            let failure = Failure::Status(parts.status.as_u16(), error_code(&body));
            self.failures.note(if is_machine { Failure::NoCredentials } else { failure });
        }
        if parts.status.is_success() && is_list(&uri) && !has_list(&body) {
            // A page for people would be taken for an empty list.
            return Err((HttpErrorKind::Decode, Failure::Garbage(host_of(&uri))));
        }
        let list = uri.path_and_query().filter(|_| parts.status.is_success() && is_list(&uri));
        if list.is_some_and(|list| self.pages.is_endless(list.as_str(), &body)) {
            return Err((HttpErrorKind::Decode, Failure::Endless(host_of(&uri))));
        }
        Ok(Response::from_parts(parts, body))
    }

    fn send(
        &self,
        request: Request<Vec<u8>>,
        connect: Duration,
        is_file: bool,
    ) -> Result<Response<ureq::Body>, ureq::Error> {
        let limits = self.limits;
        // A file can be large: it has more time, if it comes in without a break.
        let (whole, pause) = if is_file {
            (limits.whole_of_file(), Some(limits.whole))
        } else {
            (limits.whole_for(request.body().len()), None)
        };
        let has_body = matches!(*request.method(), Method::PUT | Method::POST);
        let (parts, body) = request.into_parts();
        if has_body {
            let request = self.agent.configure_request(Request::from_parts(parts, body));
            let request = request.timeout_connect(Some(connect)).timeout_global(Some(whole));
            return self.agent.run(request.build());
        }
        let request = self.agent.configure_request(Request::from_parts(parts, ()));
        let request = request
            .timeout_connect(Some(connect))
            .timeout_global(Some(whole))
            .timeout_recv_response(pause)
            .timeout_per_read(pause);
        self.agent.run(request.build())
    }
}

/// Returns whether a request is for a list.
fn is_list(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|part| part == "list-type=2"))
}

fn has_list(body: &[u8]) -> bool {
    let name = b"<ListBucketResult";
    body.windows(name.len()).any(|words| words == name)
}

/// Returns the cause of an error of the client, and whether another attempt can help.
fn failure_of(error: ureq::Error, uri: &Uri) -> FailedExchange {
    let host = host_of(uri);
    match NetFailure::of(error) {
        NetFailure::NoAddress(why) => {
            (HttpErrorKind::Unknown, Failure::Unreachable(host, why.into()))
        }
        NetFailure::Unreachable(why) => {
            (HttpErrorKind::Connect, Failure::Unreachable(host, why.into()))
        }
        NetFailure::Stalled => (HttpErrorKind::Timeout, Failure::Stalled(host)),
        NetFailure::Cut => (HttpErrorKind::Interrupted, Failure::Cut(host)),
        NetFailure::Untrusted(why) => (HttpErrorKind::Unknown, Failure::Untrusted(why)),
        NetFailure::Garbage => (HttpErrorKind::Decode, Failure::Garbage(host)),
    }
}
