//! The threads of this process.

use std::fs;

use crate::base::system::posix::clock_us;

/// Returns the system's id of the calling thread.
pub fn thread_id() -> Option<u32> {
    // SAFETY: may be called on any thread. By number, because glibc has the function from 2.30 on.
    u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).ok()
}

/// Returns the ids of all threads of this process; none where /proc is not there.
pub fn thread_ids() -> Option<Vec<u32>> {
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    Some(tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// Returns the CPU time of a thread of this process, microseconds; none once the thread has ended. A read
/// of the clock takes a quarter of a microsecond, that of a file of /proc twenty times as long.
pub fn thread_cpu_us(thread: u32) -> Option<i64> {
    clock_us(thread_clock(thread)?)
}

/// Returns the clock of a thread's CPU time; none for a number that no thread can have.
pub(super) fn thread_clock(thread: u32) -> Option<libc::clockid_t> {
    /// The clock of a thread, on which the scheduler counts: CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED.
    const CLOCK: libc::clockid_t = 4 | 2;
    let thread = libc::clockid_t::try_from(thread).ok()?;
    Some((!thread << 3) | CLOCK)
}

/// Returns the name of a thread of this process, of which the kernel keeps 15 bytes. A thread has the name
/// of the thread that started it until it takes another.
pub fn thread_name(thread: u32) -> Option<String> {
    let name = fs::read(format!("/proc/self/task/{thread}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// Returns the signals that a thread of this process blocks, a bit each; none once the thread has ended.
pub(super) fn blocked_signals(thread: u32) -> Option<u64> {
    let status = fs::read(format!("/proc/self/task/{thread}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::system::thread_id;
    use std::hint::black_box;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_has_its_name_and_its_time() {
        let (sender, receiver) = channel();
        let (done, wait) = channel::<()>();
        let worker =
            thread::Builder::new().name("a-name-too-long-for-linux".into()).spawn(move || {
                let end = Instant::now() + Duration::from_millis(20);
                while Instant::now() < end {
                    black_box(0);
                }
                sender.send(thread_id().unwrap()).unwrap();
                let _ = wait.recv();
            });
        let id = receiver.recv().unwrap();
        assert!(thread_ids().unwrap().contains(&id));
        assert_eq!(thread_name(id).unwrap(), "a-name-too-long");
        let us = thread_cpu_us(id).unwrap();
        assert!(us > 0 && us < 10_000_000, "{us}");
        drop(done);
        worker.unwrap().join().unwrap();
        // The system removes the thread soon after the join.
        let deadline = Instant::now() + Duration::from_secs(10);
        while thread_cpu_us(id).is_some() {
            assert!(Instant::now() < deadline);
            thread::yield_now();
        }
        assert_eq!(thread_cpu_us(u32::MAX), None);
        assert_eq!(thread_name(u32::MAX), None);
    }
}
