//! The control socket of an armed process.
//!
//! A thread of its own sleeps in `accept`, so the process does not wake up while nobody asks, and a
//! hostile peer delays other peers only: neither the program nor the writer thread waits for a peer.

mod answer;
mod request;
mod server;

pub(crate) use self::server::open;
