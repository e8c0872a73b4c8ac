//! What has become of the payloads.

use serde::Serialize;

/// Counts of payloads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushCounts {
    pub sent: u64,
    pub sent_bytes: u64,
    /// Payloads that wait, and the one that is being sent.
    pub waiting: u64,
    /// Payloads without room, and those that were given up.
    pub dropped: u64,
    /// Payloads that the server does not want.
    pub refused: u64,
    /// Why the last payload that failed did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}
