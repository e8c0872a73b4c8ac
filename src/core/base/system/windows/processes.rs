//! The processes of this machine, by a snapshot of the tool help library. Windows documents no way to
//! read the command line or the environment of another process.

use std::mem;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::{FALSE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::Threading::PROCESS_QUERY_LIMITED_INFORMATION;

use super::super::listed_process::ListedProcess;
use super::process::{open, start_ms};

/// Returns the processes that run; none if the system does not tell.
pub fn processes() -> Option<Vec<ListedProcess>> {
    // SAFETY: may be called on any thread. The handle that the call opens is closed on drop.
    let snapshot = unsafe {
        let handle = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
        (handle != INVALID_HANDLE_VALUE).then(|| OwnedHandle::from_raw_handle(handle))
    }?;
    let mut entry = PROCESSENTRY32W {
        dwSize: u32::try_from(mem::size_of::<PROCESSENTRY32W>()).ok()?,
        ..PROCESSENTRY32W::default()
    };
    let mut found = Vec::new();
    // SAFETY: the handle is open, and the call fills a struct that tells its size.
    let mut is_filled = unsafe { Process32FirstW(snapshot.as_raw_handle(), &mut entry) };
    while is_filled != FALSE {
        // A process that has ended stays without threads as long as somebody has a handle.
        if entry.cntThreads > 0 {
            found.push(process(&entry));
        }
        // SAFETY: as above.
        is_filled = unsafe { Process32NextW(snapshot.as_raw_handle(), &mut entry) };
    }
    Some(found)
}

fn process(entry: &PROCESSENTRY32W) -> ListedProcess {
    let pid = entry.th32ProcessID;
    let name = entry.szExeFile.split(|unit| *unit == 0).next().unwrap_or_default();
    // Windows does not let everybody open the processes of the system.
    let handle = open(pid, PROCESS_QUERY_LIMITED_INFORMATION);
    ListedProcess {
        pid,
        parent: entry.th32ParentProcessID,
        start_ms: handle.and_then(|handle| start_ms(handle.as_raw_handle())),
        executable: Some(String::from_utf16_lossy(name)),
        ..ListedProcess::default()
    }
}
