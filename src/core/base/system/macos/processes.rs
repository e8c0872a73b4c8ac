//! The processes of this machine, by libproc and sysctl.

use std::ffi::{OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{mem, ptr};

use super::super::listed_process::ListedProcess;
use super::super::process_arguments::ProcessArguments;
use super::kernel::{process_info, start_ms, sysctl};

/// `PROC_FLAG_CONTROLT` of sys/proc_info.h: the process has a terminal.
const HAS_TERMINAL: u32 = 0x80;

/// Returns the processes of which this user may know, in no order; none if the system does not tell.
pub fn processes() -> Option<Vec<ListedProcess>> {
    let mut arguments = ArgumentReader::new();
    Some(pids()?.into_iter().filter_map(|pid| process(pid, &mut arguments)).collect())
}

/// Returns the ids of all processes.
fn pids() -> Option<Vec<c_int>> {
    // SAFETY: without a buffer, the call returns the number of processes.
    let count = told(unsafe { libc::proc_listallpids(ptr::null_mut(), 0) })?;
    // Processes that start meanwhile.
    let mut pids = vec![0; count + 64];
    let size = c_int::try_from(mem::size_of_val(pids.as_slice())).ok()?;
    // SAFETY: the call fills at most `size` bytes of the buffer, and returns the number of ids.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(told(count)?);
    Some(pids)
}

/// Returns a count of libproc, which is 0 or less where the kernel refuses, as in a sandbox.
fn told(count: c_int) -> Option<usize> {
    usize::try_from(count).ok().filter(|count| *count > 0)
}

/// Returns what is known about a process; none if it has ended.
fn process(pid: c_int, arguments: &mut ArgumentReader) -> Option<ListedProcess> {
    let info = process_info(u32::try_from(pid).ok()?)?;
    let executable = executable(pid);
    let is_node = executable.as_deref().and_then(Path::file_name).is_some_and(is_node_name);
    // The arguments of others are not needed.
    let arguments = if is_node { arguments.read(pid) } else { None };
    let has_terminal = info.pbi_flags & HAS_TERMINAL != 0;
    // SAFETY: may be called for any process; -1 is an error.
    let session = unsafe { libc::getsid(pid) };
    Some(ListedProcess {
        pid: info.pbi_pid,
        parent: info.pbi_ppid,
        group: Some(info.pbi_pgid),
        session: u32::try_from(session).ok(),
        has_terminal: Some(has_terminal),
        is_foreground: Some(has_terminal && info.e_tpgid == info.pbi_pgid),
        start_ms: Some(start_ms(&info)),
        executable: executable.map(|path| path.to_string_lossy().into_owned()),
        node_options: arguments.as_ref().and_then(|found| found.variable("NODE_OPTIONS")),
        words: arguments.map(|found| found.words),
    })
}

/// Returns the path of a process's program; none if the process has ended.
fn executable(pid: c_int) -> Option<std::path::PathBuf> {
    let mut path = [0_u8; libc::PROC_PIDPATHINFO_MAXSIZE as usize];
    let size = u32::try_from(path.len()).ok()?;
    // SAFETY: the call fills at most `size` bytes of the buffer, and returns their number.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), size) };
    Some(OsStr::from_bytes(path.get(..told(length)?)?).into())
}

fn is_node_name(name: &OsStr) -> bool {
    name == "node" || name == "nodejs"
}

/// Reads command lines and environments, with one buffer for all processes: the kernel copies up to a
/// megabyte.
struct ArgumentReader {
    buffer: Vec<u8>,
}

impl ArgumentReader {
    fn new() -> Self {
        Self { buffer: Vec::new() }
    }

    /// Reads the arguments of a process; none if it has ended, or is another user's.
    fn read(&mut self, pid: c_int) -> Option<ProcessArguments> {
        if self.buffer.is_empty() {
            let most: [u8; 4] = sysctl(c"kern.argmax")?;
            self.buffer = vec![0; usize::try_from(c_int::from_ne_bytes(most)).ok()?];
        }
        let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
        let mut size = self.buffer.len();
        // SAFETY: the name has three numbers. The call fills at most `size` bytes of the buffer, and
        // sets `size` to their number.
        let status = unsafe {
            let buffer = self.buffer.as_mut_ptr().cast();
            libc::sysctl(name.as_mut_ptr(), 3, buffer, &mut size, ptr::null_mut(), 0)
        };
        if status != 0 {
            return None;
        }
        ProcessArguments::parse(self.buffer.get(..size)?)
    }
}
