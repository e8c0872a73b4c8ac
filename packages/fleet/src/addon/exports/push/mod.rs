//! Sends recordings to servers of profiles: for JavaScript, and for the recorder.

mod profiles;
mod sender;
mod thread;
