//! A local socket that serves one user: a named pipe, and a file that tells the pipe's name. The folder of
//! the files can be read without a look at the pipes of the whole machine, and the owner of a file tells
//! whose the pipe is.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windows_sys::Win32::Foundation::GENERIC_WRITE;
use windows_sys::Win32::Storage::FileSystem::{DELETE, FILE_FLAG_DELETE_ON_CLOSE, FILE_SHARE_READ};

use super::super::common_socket::{self, ENDING};
use super::files;
use super::pipe::Pipe;

/// A socket that waits for peers.
#[derive(Debug)]
pub struct ControlSocket {
    pipe_name: String,
    /// Instance of the pipe for the next peer; none if it could not be made.
    waiting: RefCell<Option<Pipe>>,
    path: PathBuf,
    /// The file, which nobody else can remove while it is open, and which the system removes when it is
    /// closed, also at the end of a process that is killed.
    _file: File,
}

/// A connection to a peer.
#[derive(Debug)]
pub struct Peer(Pipe);

impl ControlSocket {
    /// Opens a socket in a folder, which is created unless it exists.
    pub fn open(folder: &Path, name: &str) -> io::Result<Self> {
        make_folder(folder)?;
        let pipe_name = format!(r"\\.\pipe\cpu-prof-{name}");
        let waiting = Pipe::create(&pipe_name, true)?;
        let path = folder.join(name).with_extension(ENDING);
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new()
            .access_mode(GENERIC_WRITE | DELETE)
            .share_mode(FILE_SHARE_READ)
            .custom_flags(FILE_FLAG_DELETE_ON_CLOSE)
            .create_new(true)
            .open(&path)?;
        file.write_all(pipe_name.as_bytes())?;
        Ok(Self { pipe_name, waiting: RefCell::new(Some(waiting)), path, _file: file })
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a peer. No other user can open the pipe, except the system and its administrators.
    pub fn accept(&self) -> io::Result<Peer> {
        let next = || Pipe::create(&self.pipe_name, false);
        let pipe = self.waiting.take().map_or_else(next, Ok)?;
        pipe.connect()?;
        // Before this peer is served: without a waiting instance the name does not exist.
        self.waiting.replace(next().ok());
        Ok(Peer(pipe))
    }

    /// Removes the sockets beside this one that nobody serves, which an end of the system leaves: a file that
    /// is served cannot be removed.
    pub fn remove_left_sockets(&self) {
        for path in common_socket::others(&self.path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns the folders that a socket can be in: that of the user's programs on this machine.
pub fn usual_folders() -> Vec<PathBuf> {
    let local = std::env::var_os("LOCALAPPDATA").map(PathBuf::from);
    let local = local.filter(|folder| folder.is_absolute());
    local.map(|folder| folder.join("cpu-prof")).into_iter().collect()
}

impl Peer {
    /// Reads a line without its end, of at most `most_bytes`, within `time`.
    pub fn read_line(&mut self, most_bytes: usize, time: Duration) -> io::Result<Vec<u8>> {
        common_socket::read_line(most_bytes, time, |to, left| self.0.read(to, left))
    }

    /// Writes all bytes within `time`.
    pub fn write(&mut self, bytes: &[u8], time: Duration) -> io::Result<()> {
        common_socket::write_all(bytes, time, |from, left| self.0.write(from, left))
    }
}

/// Creates a folder that only this user can enter. What has the path already must be a folder of this user:
/// the access to it is the user's matter, since the owner of each file is checked.
fn make_folder(folder: &Path) -> io::Result<()> {
    let is_private = match fs::create_dir(folder) {
        Ok(()) => files::make_private_folder(folder),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => files::is_own_folder(folder),
        Err(error) => return Err(error),
    };
    let refusal = || {
        let why = "it is no folder of this user";
        io::Error::new(ErrorKind::PermissionDenied, why)
    };
    is_private.then_some(()).ok_or_else(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const SECOND: Duration = Duration::from_secs(1);

    fn opened(folder: &Path, start: u32) -> ControlSocket {
        ControlSocket::open(folder, &format!("{}-{start}", std::process::id())).unwrap()
    }

    fn connect(socket: &ControlSocket) -> File {
        let pipe_name = fs::read_to_string(socket.path()).unwrap();
        OpenOptions::new().read(true).write(true).open(pipe_name).unwrap()
    }

    #[test]
    fn a_line_is_served_and_answered() {
        let dir = tempfile::tempdir().unwrap();
        let socket = opened(&dir.path().join("s"), 1);
        let answer = vec![b'x'; 10_000];
        for _ in 0..3 {
            let mut client = connect(&socket);
            client.write_all(b"ab").unwrap();
            let mut peer = socket.accept().unwrap();
            client.write_all(b"c\nrest").unwrap();
            assert_eq!(peer.read_line(10, SECOND).unwrap(), b"abc");
            peer.write(&answer, SECOND).unwrap();
            // Without a reader until now.
            drop(peer);
            let mut text = Vec::new();
            let _ = client.read_to_end(&mut text);
            assert_eq!(text, answer);
        }
    }

    #[test]
    fn a_peer_can_connect_while_another_is_served() {
        let dir = tempfile::tempdir().unwrap();
        let socket = opened(&dir.path().join("s"), 2);
        let first = connect(&socket);
        let peer = socket.accept().unwrap();
        let second = connect(&socket);
        drop((first, peer));
        let mut peer = socket.accept().unwrap();
        drop(second);
        assert!(peer.read_line(10, SECOND).is_err());
    }

    #[test]
    fn what_is_no_line_in_time_and_size_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let socket = opened(&dir.path().join("s"), 3);
        let read = |bytes: &[u8], ends: bool| {
            let mut client = connect(&socket);
            client.write_all(bytes).unwrap();
            let client = (!ends).then_some(client);
            let result = socket.accept().unwrap().read_line(10, Duration::from_millis(20));
            drop(client);
            result.map_err(|error| error.kind())
        };
        assert_eq!(read(b"12345678901\n", false), Err(ErrorKind::InvalidData));
        assert_eq!(read(b"half", true), Err(ErrorKind::UnexpectedEof));
        assert_eq!(read(b"", true), Err(ErrorKind::UnexpectedEof));
        assert_eq!(read(b"half", false), Err(ErrorKind::TimedOut));
        assert_eq!(read(b"\n", false), Ok(Vec::new()));
    }

    #[test]
    fn a_peer_that_reads_nothing_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let socket = opened(&dir.path().join("s"), 4);
        let _client = connect(&socket);
        let mut peer = socket.accept().unwrap();
        let large = vec![b'x'; 16 << 20];
        let result = peer.write(&large, Duration::from_millis(20));
        assert_eq!(result.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
    }

    #[test]
    fn only_sockets_that_nobody_serves_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("s");
        let (own, served) = (opened(&folder, 5), opened(&folder, 6));
        drop(opened(&folder, 7));
        assert!(ControlSocket::open(&folder, &format!("{}-6", std::process::id())).is_err());
        fs::write(folder.join("9-9.sock"), "").unwrap();
        own.remove_left_sockets();
        let names = common_socket::others(own.path());
        assert_eq!(names, [served.path()]);
    }
}
