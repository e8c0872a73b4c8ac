//! A named pipe of this machine that serves this user, and whose calls end in time.

use std::io::{self, ErrorKind};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, ERROR_PIPE_CONNECTED, FALSE, HANDLE, INVALID_HANDLE_VALUE, TRUE,
    WAIT_OBJECT_0,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, PIPE_ACCESS_DUPLEX, ReadFile, WriteFile,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Pipes::{
    ConnectNamedPipe, CreateNamedPipeW, PIPE_READMODE_BYTE, PIPE_REJECT_REMOTE_CLIENTS,
    PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES, PIPE_WAIT,
};
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, WaitForSingleObject};
use windows_sys::core::BOOL;

use super::owner::PrivateDescriptor;

/// Size of each of the two buffers, bytes.
const BUFFER_BYTES: u32 = 64 << 10;

/// One instance of a pipe, for one peer. Closing it leaves to the peer what was written.
#[derive(Debug)]
pub(super) struct Pipe {
    handle: OwnedHandle,
    /// Event that the system sets at the end of each call.
    ended: OwnedHandle,
}

impl Pipe {
    /// Creates an instance. The first fails if anybody has a pipe of this name.
    pub(super) fn create(name: &str, is_first: bool) -> io::Result<Self> {
        // By default everybody can read.
        let descriptor = PrivateDescriptor::of_files()
            .ok_or_else(|| io::Error::other("the system does not tell who its user is"))?;
        let attributes = descriptor.attributes();
        let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
        let first = if is_first { FILE_FLAG_FIRST_PIPE_INSTANCE } else { 0 };
        // SAFETY: the name ends in a NUL, and the attributes live during the call. The handle that the call
        // opens is closed on drop.
        let handle = unsafe {
            let handle = CreateNamedPipeW(
                name.as_ptr(),
                PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | first,
                PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                PIPE_UNLIMITED_INSTANCES,
                BUFFER_BYTES,
                BUFFER_BYTES,
                0,
                &attributes,
            );
            if handle == INVALID_HANDLE_VALUE {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(handle)
        };
        // SAFETY: may be called on any thread. The handle that the call opens is closed on drop.
        let ended = unsafe {
            let event = CreateEventW(ptr::null(), TRUE, FALSE, ptr::null());
            if event.is_null() {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(event)
        };
        Ok(Self { handle, ended })
    }

    /// Waits for a peer, which may have gone again.
    pub(super) fn connect(&self) -> io::Result<()> {
        // SAFETY: `call` gives a valid handle and state.
        match self.call(None, |handle, state| unsafe { ConnectNamedPipe(handle, state) }) {
            Err(error) if is(&error, ERROR_PIPE_CONNECTED) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.map(drop),
        }
    }

    /// Reads once, within `time`. Returns 0 if the peer has closed the pipe.
    pub(super) fn read(&self, to: &mut [u8], time: Duration) -> io::Result<usize> {
        let (at, length) = (to.as_mut_ptr(), length(to));
        // SAFETY: `call` gives a valid handle and state, and returns when the system is done with the bytes,
        // which are borrowed until then.
        let read = self.call(Some(time), |handle, state| unsafe {
            ReadFile(handle, at, length, ptr::null_mut(), state)
        });
        match read {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
            result => result,
        }
    }

    /// Writes once, within `time`. Returns the number of bytes.
    pub(super) fn write(&self, from: &[u8], time: Duration) -> io::Result<usize> {
        // SAFETY: as in `read`.
        self.call(Some(time), |handle, state| unsafe {
            WriteFile(handle, from.as_ptr(), length(from), ptr::null_mut(), state)
        })
    }

    /// Makes a call and waits for its end, at most for `time`. Returns the number of bytes. `start` gets the
    /// pipe and where the system keeps the state of the call.
    fn call(
        &self,
        time: Option<Duration>,
        start: impl FnOnce(HANDLE, *mut OVERLAPPED) -> BOOL,
    ) -> io::Result<usize> {
        let (handle, ended) = (self.handle.as_raw_handle(), self.ended.as_raw_handle());
        let mut state = OVERLAPPED { hEvent: ended, ..OVERLAPPED::default() };
        let state = &raw mut state;
        if start(handle, state) == FALSE {
            let error = io::Error::last_os_error();
            if !is(&error, ERROR_IO_PENDING) {
                return Err(error);
            }
        }
        let mut bytes = 0;
        // SAFETY: both handles are open. The state lives until the last call returns, which waits until the
        // system is done with the state, also after a cancellation.
        let has_succeeded = unsafe {
            if WaitForSingleObject(ended, milliseconds(time)) != WAIT_OBJECT_0 {
                CancelIoEx(handle, state);
            }
            GetOverlappedResult(handle, state, &mut bytes, TRUE) != FALSE
        };
        if has_succeeded { Ok(bytes as usize) } else { Err(io::Error::last_os_error()) }
    }
}

fn is(error: &io::Error, code: u32) -> bool {
    error.raw_os_error().and_then(|code| u32::try_from(code).ok()) == Some(code)
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// Returns a time for the functions of the system, rounded up.
fn milliseconds(time: Option<Duration>) -> u32 {
    let Some(time) = time else { return INFINITE };
    u32::try_from(time.as_millis() + 1).map_or(INFINITE - 1, |ms| ms.min(INFINITE - 1))
}
