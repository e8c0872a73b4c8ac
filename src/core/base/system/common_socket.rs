//! What the control sockets of all systems have in common.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ending of the names of sockets.
pub(super) const ENDING: &str = "sock";

/// Returns the paths of the other sockets in the folder of a socket.
pub(super) fn others(socket: &Path) -> Vec<PathBuf> {
    let Some(entries) = socket.parent().and_then(|folder| fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension() == Some(OsStr::new(ENDING)) && path != socket).collect()
}

/// Reads a line without its end, of at most `most_bytes`, within `time`. `read` reads once, within the time
/// that is left.
pub(super) fn read_line(
    most_bytes: usize,
    time: Duration,
    mut read: impl FnMut(&mut [u8], Duration) -> io::Result<usize>,
) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + time;
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let length = read(&mut buffer, left_until(deadline)?)?;
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

/// Writes all bytes within `time`. `write` writes once, within the time that is left.
pub(super) fn write_all(
    mut bytes: &[u8],
    time: Duration,
    mut write: impl FnMut(&[u8], Duration) -> io::Result<usize>,
) -> io::Result<()> {
    let deadline = Instant::now() + time;
    while !bytes.is_empty() {
        let length = write(bytes, left_until(deadline)?)?;
        bytes = &bytes[length..];
    }
    Ok(())
}

/// Returns the time that is left, which is not zero.
fn left_until(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}
