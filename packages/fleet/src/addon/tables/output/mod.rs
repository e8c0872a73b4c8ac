//! Parquet: tables, their columns, and the files that hold them.

pub(super) mod column;
pub(super) mod lake_file;
pub(super) mod schema;
