//! The control socket, which this system does not have here: the standard library has no pipes with names,
//! and those of the crates (`interprocess` 2.4) have no time limits.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

/// A socket that waits for peers: none.
#[derive(Debug)]
pub enum ControlSocket {}

/// A connection to a peer: none.
#[derive(Debug)]
pub enum Peer {}

impl ControlSocket {
    /// Fails: there is no socket.
    pub fn open(_: &Path, _: &str) -> io::Result<Self> {
        Err(io::Error::new(ErrorKind::Unsupported, "processes are not controlled on Windows yet"))
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        match *self {}
    }

    /// Waits for a peer.
    pub fn accept(&self) -> io::Result<Peer> {
        match *self {}
    }

    /// Removes the sockets beside this one that nobody serves.
    pub fn remove_left_sockets(&self) {
        match *self {}
    }
}

/// Returns the user of the process at the other end of a connection: unknown.
pub fn peer_user(_: i32) -> Option<u32> {
    None
}

impl Peer {
    /// Reads a line without its end.
    pub fn read_line(&mut self, _: usize, _: Duration) -> io::Result<Vec<u8>> {
        match *self {}
    }

    /// Writes all bytes.
    pub fn write(&mut self, _: &[u8], _: Duration) -> io::Result<()> {
        match *self {}
    }
}
