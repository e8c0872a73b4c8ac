//! The messages of pprof. Texts are indices of the string table.

/// What the values of samples are.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofValueType {
    /// Name.
    #[prost(int64, tag = "1")]
    pub name: i64,
    /// Unit.
    #[prost(int64, tag = "2")]
    pub unit: i64,
}

/// The values of a stack.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PprofSample {
    /// Ids of the stack's locations, the top first.
    #[prost(uint64, repeated, tag = "1")]
    pub locations: Vec<u64>,
    /// Values, one for each sample type.
    #[prost(int64, repeated, tag = "2")]
    pub values: Vec<i64>,
    /// Labels.
    #[prost(message, repeated, tag = "3")]
    pub labels: Vec<PprofLabel>,
}

/// A label of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub(super) struct PprofLabel {
    /// Key.
    #[prost(int64, tag = "1")]
    pub key: i64,
    /// Value that is a text; 0 for none.
    #[prost(int64, tag = "2")]
    pub text: i64,
    /// Value that is a number.
    #[prost(int64, tag = "3")]
    pub number: i64,
}

/// What was mapped into memory: a module of native code, or for us all other code.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofMapping {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// First address in memory; 0 if addresses count in the file.
    #[prost(uint64, tag = "2")]
    pub start: u64,
    /// What the first address is in the file.
    #[prost(uint64, tag = "4")]
    pub offset: u64,
    /// Name of the file.
    #[prost(int64, tag = "5")]
    pub file: i64,
    /// Build of the file.
    #[prost(int64, tag = "6")]
    pub build: i64,
    #[prost(bool, tag = "7")]
    pub has_functions: bool,
    #[prost(bool, tag = "8")]
    pub has_files: bool,
    #[prost(bool, tag = "9")]
    pub has_lines: bool,
    #[prost(bool, tag = "10")]
    pub has_inlined: bool,
}

/// A place of code.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PprofLocation {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Id of the mapping.
    #[prost(uint64, tag = "2")]
    pub mapping: u64,
    #[prost(uint64, tag = "3")]
    pub address: u64,
    /// Functions, those that were inlined before their callers.
    #[prost(message, repeated, tag = "4")]
    pub lines: Vec<PprofLine>,
}

/// A line of a function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofLine {
    /// Id of the function.
    #[prost(uint64, tag = "1")]
    pub function: u64,
    /// Line, from 1; 0 for none.
    #[prost(int64, tag = "2")]
    pub line: i64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub(super) struct PprofFunction {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Name.
    #[prost(int64, tag = "2")]
    pub name: i64,
    /// Name within the system.
    #[prost(int64, tag = "3")]
    pub system_name: i64,
    /// Path of the file.
    #[prost(int64, tag = "4")]
    pub file: i64,
    /// First line, from 1; 0 for none.
    #[prost(int64, tag = "5")]
    pub line: i64,
}

/// The fields of a whole profile, by their numbers.
pub(super) mod field {
    pub(in super::super) const SAMPLE_TYPE: u32 = 1;
    pub(in super::super) const SAMPLE: u32 = 2;
    pub(in super::super) const MAPPING: u32 = 3;
    pub(in super::super) const LOCATION: u32 = 4;
    pub(in super::super) const FUNCTION: u32 = 5;
    pub(in super::super) const STRING: u32 = 6;
    pub(in super::super) const DROPPED_FRAMES: u32 = 7;
    pub(in super::super) const KEPT_FRAMES: u32 = 8;
    pub(in super::super) const TIME_NANOS: u32 = 9;
    pub(in super::super) const DURATION_NANOS: u32 = 10;
    pub(in super::super) const PERIOD_TYPE: u32 = 11;
    pub(in super::super) const PERIOD: u32 = 12;
    pub(in super::super) const COMMENT: u32 = 13;
    pub(in super::super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
    pub(in super::super) const DOCUMENTATION: u32 = 15;
}
