//! Parquet: tables, their columns, and the files that hold them.

pub(super) mod column;
pub(super) mod schema;
pub(super) mod table_file;
