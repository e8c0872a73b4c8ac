//! The formats that the recorder writes.

pub mod ascii_json;
pub mod cpuprofile;
pub mod elf;
pub mod frame_json;
pub mod json_walk;
pub mod number;
pub mod script_id;
pub mod source_map;
pub mod trace;
pub mod url;
