//! Settings, errors and system calls, which every other folder may use.

pub mod build_kind;
pub mod cold_sort;
pub mod error;
pub mod id_set;
pub mod micros;
pub mod name_list;
pub mod native_code;
pub mod native_thread;
pub mod numbering;
pub mod outside_text;
pub mod path_text;
pub mod push_request;
pub mod settings;
pub mod stderr;
pub mod system;
mod windows_names;
