//! A local socket that serves one user, in a folder that only this user can enter.
//!
//! The standard library has all that is needed but the peer's user id. The crates for local sockets of
//! all systems (`interprocess` 2.4) have no time limits for Windows' pipes, without which a silent peer
//! would hold the socket for ever.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::common_socket::{self, ENDING};
use super::user;

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
        // A socket refuses connections until it listens, and would be taken for a left one. Without the
        // ending it is not ready.
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
        let peer = peer_user(stream.as_raw_fd());
        match peer.is_some() && [self.owner, Some(0)].contains(&peer) {
            true => Ok(Peer(stream)),
            false => Err(ErrorKind::PermissionDenied.into()),
        }
    }

    /// Removes the sockets beside this one that nobody serves: their processes have ended.
    pub fn remove_left_sockets(&self) {
        for path in common_socket::others(&self.path) {
            if is_left(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Returns the folders that a socket can be in, the best first.
pub fn usual_folders() -> Vec<PathBuf> {
    let own = format!("cpu-prof-{}", user().unwrap_or_default());
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|folder| folder.is_absolute());
    // The last is for a root that cannot be written.
    let shared = [std::env::temp_dir(), "/dev/shm".into()].map(|folder| folder.join(&own));
    runtime.map(|folder| folder.join("cpu-prof")).into_iter().chain(shared).collect()
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
        common_socket::read_line(most_bytes, time, |to, left| {
            self.0.set_read_timeout(Some(left))?;
            self.0.read(to)
        })
    }

    /// Writes all bytes within `time`.
    pub fn write(&mut self, bytes: &[u8], time: Duration) -> io::Result<()> {
        common_socket::write_all(bytes, time, |from, left| {
            self.0.set_write_timeout(Some(left))?;
            self.0.write(from)
        })
    }
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

/// Returns the user of the process at the other end of a connection.
#[cfg(target_os = "linux")]
pub fn peer_user(connection: RawFd) -> Option<u32> {
    // SAFETY: may be called on any thread. The call fills the struct, whose size it is told, or fails.
    unsafe {
        let mut peer: libc::ucred = std::mem::zeroed();
        let mut size = size_of::<libc::ucred>() as libc::socklen_t;
        let status = libc::getsockopt(
            connection,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut size,
        );
        (status == 0).then_some(peer.uid)
    }
}

/// Returns the user of the process at the other end of a connection.
#[cfg(target_os = "macos")]
pub fn peer_user(connection: RawFd) -> Option<u32> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: may be called on any thread. The call fills both numbers, or fails.
    let status = unsafe { libc::getpeereid(connection, &mut user, &mut group) };
    (status == 0).then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::thread;

    const SECOND: Duration = Duration::from_secs(1);

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_line_is_served_and_answered() {
        let dir = folder();
        let socket = ControlSocket::open(&dir.path().join("s"), "1-2").unwrap();
        assert!(socket.path().ends_with("s/1-2.sock"));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(socket.path().parent().unwrap()), 0o700);
        assert_eq!(mode(socket.path()), 0o600);
        let mut client = UnixStream::connect(socket.path()).unwrap();
        client.write_all(b"ab").unwrap();
        client.write_all(b"c\nrest").unwrap();
        let mut peer = socket.accept().unwrap();
        assert_eq!(peer.read_line(10, SECOND).unwrap(), b"abc");
        peer.write(b"answer", SECOND).unwrap();
        drop(peer);
        let mut text = [0; 6];
        client.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"answer");
    }

    #[test]
    fn what_is_no_line_in_time_and_size_is_refused() {
        let dir = folder();
        let socket = ControlSocket::open(&dir.path().join("s"), "1-2").unwrap();
        let read = |bytes: &[u8], ends: bool| {
            let mut client = UnixStream::connect(socket.path()).unwrap();
            client.write_all(bytes).unwrap();
            let client = (!ends).then_some(client);
            let result = socket.accept().unwrap().read_line(10, Duration::from_millis(20));
            drop(client);
            result.map_err(|error| error.kind())
        };
        assert_eq!(read(b"12345678901\n", false), Err(ErrorKind::InvalidData));
        assert_eq!(read(&[b'x'; 9000], false), Err(ErrorKind::InvalidData));
        assert_eq!(read(b"half", true), Err(ErrorKind::UnexpectedEof));
        assert!(read(b"half", false).is_err());
        assert_eq!(read(b"\n", false), Ok(Vec::new()));
    }

    #[test]
    fn a_peer_that_reads_nothing_is_given_up() {
        let dir = folder();
        let socket = ControlSocket::open(&dir.path().join("s"), "1-2").unwrap();
        let _client = UnixStream::connect(socket.path()).unwrap();
        let mut peer = socket.accept().unwrap();
        let large = vec![b'x'; 16 << 20];
        assert!(peer.write(&large, Duration::from_millis(20)).is_err());
    }

    #[test]
    fn a_folder_that_others_reach_is_refused() {
        let dir = folder();
        let at = |name: &str| dir.path().join(name);
        let refused = |path: &Path| ControlSocket::open(path, "1-2").unwrap_err().to_string();
        fs::create_dir(at("open")).unwrap();
        fs::set_permissions(at("open"), Permissions::from_mode(0o777)).unwrap();
        assert!(refused(&at("open")).contains("0700"));
        std::os::unix::fs::symlink(dir.path(), at("link")).unwrap();
        assert!(refused(&at("link")).contains("no folder"));
        fs::write(at("file"), "").unwrap();
        assert!(refused(&at("file")).contains("no folder"));
        assert!(!refused(&at("missing").join("s")).is_empty());
        assert!(!refused(&at(&"long".repeat(60))).is_empty());
    }

    #[test]
    fn only_sockets_that_nobody_serves_are_removed() {
        let dir = folder();
        let folder = dir.path().join("s");
        let open = |name: &str| ControlSocket::open(&folder, name).unwrap();
        let (own, served) = (open("1-2"), open("2-2"));
        drop(open("3-2"));
        fs::write(folder.join("note.txt"), "").unwrap();
        fs::write(folder.join("file.sock"), "").unwrap();
        own.remove_left_sockets();
        let mut names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["1-2.sock", "2-2.sock", "note.txt"]);
        drop(served);
    }

    #[test]
    fn a_socket_takes_the_place_of_the_one_before() {
        let dir = folder();
        drop(ControlSocket::open(&dir.path().join("s"), "1-2").unwrap());
        let socket = ControlSocket::open(&dir.path().join("s"), "1-2").unwrap();
        let client = thread::spawn({
            let path = socket.path().to_owned();
            move || UnixStream::connect(path).map(drop)
        });
        socket.accept().unwrap();
        client.join().unwrap().unwrap();
    }
}
