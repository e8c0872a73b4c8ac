//! Events as they are read, from own traces and from those of other tools.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::format::number::Number;

/// The members of an event that have to do with profiles and names.
#[derive(Debug, Deserialize)]
pub(crate) struct EventJson<'a> {
    /// Name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Process id.
    pub pid: Number,
    /// Thread id.
    #[serde(default)]
    pub tid: Number,
    /// Time, microseconds.
    #[serde(default)]
    pub ts: Number,
    /// Id of the profile, as it is written.
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    /// Arguments, as they are written.
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
}
