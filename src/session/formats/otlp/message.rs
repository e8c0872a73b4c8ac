//! The messages of OTLP profiles. Names that end in `index` are indices of the dictionary's tables, where 0
//! stands for nothing.

/// A request to a collector.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpRequest {
    #[prost(message, repeated, tag = "1")]
    pub resource_profiles: Vec<OtlpResourceProfiles>,
    #[prost(message, optional, tag = "2")]
    pub dictionary: Option<OtlpDictionary>,
}

/// The profiles of a resource.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpResourceProfiles {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<OtlpResource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_profiles: Vec<OtlpScopeProfiles>,
}

/// What was profiled.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpResource {
    /// Attributes, each key once.
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<OtlpKeyValue>,
}

/// An attribute of a resource.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpKeyValue {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<OtlpValue>,
}

/// The value of an attribute: one of the fields is there.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub(super) struct OtlpValue {
    #[prost(string, optional, tag = "1")]
    pub text: Option<String>,
    #[prost(int64, optional, tag = "3")]
    pub number: Option<i64>,
}

/// The profiles of a tool.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpScopeProfiles {
    #[prost(message, optional, tag = "1")]
    pub scope: Option<OtlpScope>,
    #[prost(message, repeated, tag = "2")]
    pub profiles: Vec<OtlpProfile>,
}

/// The tool.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpScope {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub version: String,
}

/// The samples of one type.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpProfile {
    #[prost(message, optional, tag = "1")]
    pub sample_type: Option<OtlpValueType>,
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<OtlpSample>,
    /// Start, nanoseconds after 1970.
    #[prost(fixed64, tag = "3")]
    pub time_nanos: u64,
    /// Length, nanoseconds.
    #[prost(uint64, tag = "4")]
    pub duration_nanos: u64,
    #[prost(message, optional, tag = "5")]
    pub period_type: Option<OtlpValueType>,
    /// Time between two samples, in the unit of `period_type`.
    #[prost(int64, tag = "6")]
    pub period: i64,
    /// Id of 16 bytes, not all of which are 0.
    #[prost(bytes = "vec", tag = "7")]
    pub id: Vec<u8>,
}

/// What values are.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct OtlpValueType {
    /// Index of the name.
    #[prost(int32, tag = "1")]
    pub name_index: i32,
    /// Index of the unit.
    #[prost(int32, tag = "2")]
    pub unit_index: i32,
}

/// The value of a stack with attributes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpSample {
    #[prost(int32, tag = "1")]
    pub stack_index: i32,
    #[prost(int32, repeated, tag = "2")]
    pub attribute_indices: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    pub values: Vec<i64>,
}

/// The tables; each has its zero value at the index 0.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpDictionary {
    #[prost(message, repeated, tag = "1")]
    pub mappings: Vec<OtlpMapping>,
    #[prost(message, repeated, tag = "2")]
    pub locations: Vec<OtlpLocation>,
    #[prost(message, repeated, tag = "3")]
    pub functions: Vec<OtlpFunction>,
    #[prost(message, repeated, tag = "4")]
    pub links: Vec<OtlpLink>,
    #[prost(string, repeated, tag = "5")]
    pub strings: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    pub attributes: Vec<OtlpAttribute>,
    #[prost(message, repeated, tag = "7")]
    pub stacks: Vec<OtlpStack>,
}

/// What was mapped into memory: for us all code.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpMapping {
    /// Index of the file's name.
    #[prost(int32, tag = "4")]
    pub file_index: i32,
}

/// A place of code.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpLocation {
    #[prost(int32, tag = "1")]
    pub mapping_index: i32,
    #[prost(message, repeated, tag = "3")]
    pub lines: Vec<OtlpLine>,
    #[prost(int32, repeated, tag = "4")]
    pub attribute_indices: Vec<i32>,
}

/// A line of a function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct OtlpLine {
    #[prost(int32, tag = "1")]
    pub function_index: i32,
    /// Line, from 1; 0 for none.
    #[prost(int64, tag = "2")]
    pub line: i64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct OtlpFunction {
    /// Index of the name.
    #[prost(int32, tag = "1")]
    pub name_index: i32,
    /// Index of the name within the system.
    #[prost(int32, tag = "2")]
    pub system_name_index: i32,
    /// Index of the file's path.
    #[prost(int32, tag = "3")]
    pub file_index: i32,
    /// First line, from 1; 0 for none.
    #[prost(int64, tag = "4")]
    pub line: i64,
}

/// A span of a trace, which only the index 0 of the table has.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct OtlpLink {}

/// An attribute of samples or locations.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub(super) struct OtlpAttribute {
    /// Index of the key.
    #[prost(int32, tag = "1")]
    pub key_index: i32,
    #[prost(message, optional, tag = "2")]
    pub value: Option<OtlpValue>,
}

/// A stack.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtlpStack {
    /// Indices of locations, the top first.
    #[prost(int32, repeated, tag = "1")]
    pub location_indices: Vec<i32>,
}
