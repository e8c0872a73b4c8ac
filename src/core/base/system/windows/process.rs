//! Processes: their times, their memory and their parents.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_SUCCESS, FALSE, FILETIME, GetLastError, HANDLE, STATUS_SUCCESS,
    WAIT_TIMEOUT,
};
use windows_sys::Win32::System::ProcessStatus::{GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessTimes, OpenProcess, PROCESS_ACCESS_RIGHTS,
    PROCESS_BASIC_INFORMATION, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE,
    WaitForSingleObject,
};
use windows_sys::w;

/// 1970 on the clock of Windows, which starts in 1601: microseconds.
const UNIX_EPOCH_US: i64 = 11_644_473_600_000_000;

/// Returns a time of Windows in microseconds.
pub(super) fn microseconds(time: FILETIME) -> i64 {
    let ticks = (i64::from(time.dwHighDateTime) << 32) | i64::from(time.dwLowDateTime);
    ticks / 10
}

/// The times of a process: microseconds, the start on the clock of Windows.
struct ProcessTimes {
    started_us: i64,
    cpu_us: i64,
}

fn times_of(process: HANDLE) -> Option<ProcessTimes> {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the call fills four structs.
    let is_filled = unsafe { GetProcessTimes(process, created, ended, kernel, user) != FALSE };
    let [started_us, _, kernel_us, user_us] = times.map(microseconds);
    is_filled.then_some(ProcessTimes { started_us, cpu_us: kernel_us + user_us })
}

fn own_times() -> Option<ProcessTimes> {
    // SAFETY: may be called on any thread. The handle needs no closing.
    times_of(unsafe { GetCurrentProcess() })
}

pub(super) fn open(pid: u32, access: PROCESS_ACCESS_RIGHTS) -> Option<OwnedHandle> {
    // SAFETY: may be called on any thread. The handle that the call opens is closed on drop.
    unsafe {
        let process = OpenProcess(access, FALSE, pid);
        (!process.is_null()).then(|| OwnedHandle::from_raw_handle(process))
    }
}

/// Returns the CPU time of all threads of this process, microseconds.
pub fn process_cpu_us() -> Option<i64> {
    Some(own_times()?.cpu_us)
}

/// Returns none: Windows does not add up the time of children.
pub(crate) fn children_cpu_us() -> Option<i64> {
    None
}

/// Returns when this process started: milliseconds after the system's start.
pub fn process_start_ms() -> Option<u64> {
    // SAFETY: may be called on any thread. The handle needs no closing.
    start_ms(unsafe { GetCurrentProcess() })
}

/// Returns when a process started: milliseconds after the system's start.
pub(super) fn start_ms(process: HANDLE) -> Option<u64> {
    let started_us = times_of(process)?.started_us - UNIX_EPOCH_US;
    let now_us = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_micros();
    let age_ms = (i64::try_from(now_us).ok()? - started_us) / 1000;
    // SAFETY: may be called on any thread. The call takes no arguments and cannot fail.
    let up_ms = unsafe { GetTickCount64() };
    up_ms.checked_sub(u64::try_from(age_ms).ok()?)
}

/// Returns the resident memory of this process, bytes.
pub fn resident_bytes() -> Option<u64> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = u32::try_from(mem::size_of::<PROCESS_MEMORY_COUNTERS>()).ok()?;
    // SAFETY: may be called on any thread. The call fills a struct of the given size.
    let is_filled = unsafe { GetProcessMemoryInfo(GetCurrentProcess(), &mut counters, size) };
    (is_filled != FALSE).then_some(counters.WorkingSetSize as u64)
}

/// Returns the id of the parent process.
pub fn parent_id() -> Option<u32> {
    parent_of(std::process::id())
}

/// Returns the id of a process's parent; none if the parent has ended and its id is another process's.
pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    let process = open(pid, PROCESS_QUERY_LIMITED_INFORMATION)?;
    let mut facts = PROCESS_BASIC_INFORMATION::default();
    let size = u32::try_from(mem::size_of::<PROCESS_BASIC_INFORMATION>()).ok()?;
    let mut filled = 0;
    // SAFETY: the handle is open, and the call fills a struct of the given size.
    let status = unsafe {
        NtQueryInformationProcess(
            process.as_raw_handle(),
            ProcessBasicInformation,
            (&raw mut facts).cast(),
            size,
            &mut filled,
        )
    };
    if status != STATUS_SUCCESS {
        return None;
    }
    let parent_id = u32::try_from(facts.InheritedFromUniqueProcessId).ok()?;
    let parent = open(parent_id, PROCESS_QUERY_LIMITED_INFORMATION)?;
    let started_us = |process: &OwnedHandle| Some(times_of(process.as_raw_handle())?.started_us);
    (started_us(&parent)? <= started_us(&process)?).then_some(parent_id)
}

/// Returns whether a process has this id, of any user.
pub fn is_process_alive(pid: u32) -> bool {
    let Some(process) = open(pid, PROCESS_SYNCHRONIZE) else {
        // SAFETY: may be called on any thread.
        return unsafe { GetLastError() } == ERROR_ACCESS_DENIED;
    };
    // SAFETY: the handle is open. The call does not wait.
    unsafe { WaitForSingleObject(process.as_raw_handle(), 0) == WAIT_TIMEOUT }
}

/// Returns a text that no other process has, and that all copies of this addon in the process agree
/// on: a hash of the process's id and start.
pub fn process_key() -> Option<String> {
    let mut hasher = DefaultHasher::new();
    (std::process::id(), own_times()?.started_us, boot_id()).hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns none: Windows has one namespace of pids.
pub fn pid_namespace() -> Option<u64> {
    None
}

/// Returns the id of the system's current boot: their count, where Windows keeps one.
pub fn boot_id() -> Option<String> {
    const KEY: *const u16 = w!(
        "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\PrefetchParameters"
    );
    let (mut count, mut size) = (0_u32, 4_u32);
    // SAFETY: may be called on any thread. The names end in a NUL, and the call fills four bytes.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            KEY,
            w!("BootId"),
            RRF_RT_REG_DWORD,
            std::ptr::null_mut(),
            (&raw mut count).cast(),
            &mut size,
        )
    };
    (status == ERROR_SUCCESS).then(|| count.to_string())
}
