//! A local socket that serves one user, in a folder that only this user can enter.
//!
//! The standard library has all that is needed but the peer's user id. The crates for local sockets of
//! all systems (`interprocess` 2.4) have no time limits for Windows' pipes, without which a silent peer
//! would hold the socket for ever.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::platform::peer_user;
use super::user;

/// Ending of the names of sockets. A socket without it is not ready.
const ENDING: &str = "sock";

/// A socket that waits for peers.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    /// User who may connect.
    owner: Option<u32>,
}

/// A connection to a peer.
#[derive(Debug)]
pub struct Peer(UnixStream);

impl ControlSocket {
    /// Opens a socket in a folder, which is created unless it exists.
    pub fn open(folder: &Path, name: &str) -> io::Result<Self> {
        make_folder(folder)?;
        let path = folder.join(name).with_extension(ENDING);
        // A socket refuses connections until it listens, and would be taken for a left one.
        let unready = folder.join(name);
        let _ = fs::remove_file(&unready);
        let listener = UnixListener::bind(&unready)?;
        fs::set_permissions(&unready, Permissions::from_mode(0o600))
            .and_then(|()| fs::rename(&unready, &path))
            .inspect_err(|_| drop(fs::remove_file(&unready)))?;
        Ok(Self { listener, path, owner: user() })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a peer. Fails with `PermissionDenied` for another user than the owner and root.
    pub fn accept(&self) -> io::Result<Peer> {
        let (stream, _) = self.listener.accept()?;
        let peer = peer_user(&stream);
        match peer.is_some() && [self.owner, Some(0)].contains(&peer) {
            true => Ok(Peer(stream)),
            false => Err(ErrorKind::PermissionDenied.into()),
        }
    }

    /// Removes the sockets beside this one that nobody serves: their processes have ended.
    pub fn remove_left_sockets(&self) {
        let Some(entries) = self.path.parent().and_then(|folder| fs::read_dir(folder).ok()) else {
            return;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_socket = path.extension() == Some(OsStr::new(ENDING)) && path != self.path;
            if is_socket && is_left(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Returns whether nobody serves a socket. The system refuses a connection of another kind at once, and
/// for another reason where the socket is served; one of the same kind could wait for its turn.
fn is_left(path: &Path) -> bool {
    UnixDatagram::unbound()
        .and_then(|socket| socket.connect(path))
        .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

impl Peer {
    /// Reads a line without its end, of at most `most_bytes`, within `time`.
    pub fn read_line(&mut self, most_bytes: usize, time: Duration) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + time;
        let mut line = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            self.0.set_read_timeout(Some(left_until(deadline)?))?;
            let length = self.0.read(&mut buffer)?;
            let read = &buffer[..length];
            let end = read.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&read[..end.unwrap_or(length)]);
            if line.len() > most_bytes {
                return Err(ErrorKind::InvalidData.into());
            }
            if end.is_some() {
                return Ok(line);
            }
            if length == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Writes all bytes within `time`.
    pub fn write(&mut self, mut bytes: &[u8], time: Duration) -> io::Result<()> {
        let deadline = Instant::now() + time;
        while !bytes.is_empty() {
            self.0.set_write_timeout(Some(left_until(deadline)?))?;
            let length = self.0.write(bytes)?;
            bytes = &bytes[length..];
        }
        Ok(())
    }
}

/// Returns the time that is left, which is not zero.
fn left_until(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Creates a folder that only this user can enter. What has the path already must be such a folder.
fn make_folder(folder: &Path) -> io::Result<()> {
    const OTHERS: u32 = 0o077;
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Of the path itself: a link can lead anywhere.
    let found = fs::symlink_metadata(folder)?;
    let why = if !found.is_dir() {
        "it is no folder"
    } else if Some(found.uid()) != user() {
        "it belongs to another user"
    } else if found.mode() & OTHERS != 0 {
        "other users can enter it; its mode must be 0700"
    } else {
        return Ok(());
    };
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}
