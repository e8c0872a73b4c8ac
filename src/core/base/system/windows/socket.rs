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
            .write(true)
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

/// Returns the user of the process at the other end of a connection: unknown.
pub fn peer_user(_: i32) -> Option<u32> {
    None
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
