//! The functions that JavaScript calls to work on recordings.

mod blame;
mod end;
mod follow;
mod given;
mod lake;
mod lake_store;
mod on_purpose;
mod push;
mod push_sender;
mod push_thread;
mod run;
mod tools;
