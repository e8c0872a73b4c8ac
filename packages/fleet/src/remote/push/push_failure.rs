//! Why a payload was not taken, in words for the user. They have no text of a server, and no secret.

use crate::http_client::net_failure::NetFailure;

/// Why the server did not take a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PushFailure {
    Net(NetFailure),
    Status(u16),
    /// The answer is of 2xx, and of another kind of server.
    OtherServer,
    /// The count of profiles that a collector rejected.
    Rejected(i64),
    /// The labels make an address that is too long for HTTP.
    LongLabels,
    /// The payload is larger than all that may wait.
    Large,
    /// More payloads wait than have room.
    NoRoom,
}

impl PushFailure {
    /// Returns the sentence about a host.
    pub(super) fn of_host(&self, host: &str) -> String {
        match self {
            Self::Net(failure) => net_text(failure, host),
            Self::Status(status) => format!("{host} answered {status}; {}", advice(*status)),
            Self::OtherServer => format!(
                "{host} answered with a page or with JSON, which no receiver of profiles sends; check the \
                 address"
            ),
            Self::Rejected(count) => format!(
                "{host} rejected {count} {}; its log tells why",
                if *count == 1 { "profile" } else { "profiles" }
            ),
            Self::LongLabels => {
                format!("a profile has too many labels to be sent to {host}; give it fewer")
            }
            Self::Large => format!(
                "a profile was too large to be kept for {host}; send shorter slices \
                 (CPU_PROF_PUSH_EVERY, --every)"
            ),
            Self::NoRoom => format!(
                "{host} takes profiles more slowly than they come, so the oldest were dropped; \
                 check the network and the load of the server"
            ),
        }
    }
}

fn net_text(failure: &NetFailure, host: &str) -> String {
    match failure {
        NetFailure::NoAddress(why) | NetFailure::Unreachable(why) => format!(
            "{host} cannot be reached ({why}); check the address, the network, and that the server runs"
        ),
        NetFailure::Stalled => {
            format!("{host} did not answer in time; check the load of the server")
        }
        NetFailure::Cut => {
            format!("{host} ended the connection before its answer; check the log of the server")
        }
        NetFailure::Untrusted(why) => format!(
            "the connection to {host} is not secure ({why}); give the certificates of your own authority, \
             or use the name that the certificate has"
        ),
        NetFailure::Garbage => {
            format!("{host} answered what is no HTTP; check the port, and http: or https:")
        }
    }
}

/// Returns what to do about a status.
fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "redirects are not followed: give the address that it redirects to",
        400 | 422 => "it cannot read the profile: check that the address is of this kind of server",
        401 | 403 => "check the name, the password or the token, and what they permit",
        404 | 405 => "no receiver of profiles has this path: check the address",
        408 | 504 => "it or a proxy waited too long: check the load of the server",
        413 => {
            "the profile is too large: send shorter slices (CPU_PROF_PUSH_EVERY, --every), or raise \
             the server's limit"
        }
        415 => "it does not take this format: check that the address is of this kind of server",
        429 => "it has too many requests: send less, or raise the server's limits",
        500.. => "the server has a problem: see its log",
        _ => "check the address",
    }
}
