//! The exit code of a process whose trace is complete before the code is known: Node tells the code
//! of a program with nothing left to do to the C library only, and `exit` listeners can change the code.
//! So the code replaces a member of the last event, in the same number of bytes.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use cpu_prof_core::base::system::{self, files};

/// The member that stands for an unknown code.
const UNKNOWN: &[u8] = br#""ranEmpty":true"#;
/// Bytes at the end of a trace that hold its last event.
const END: u64 = 1024;

/// The trace that waits for the code.
static WAITING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Adds the exit code to a complete trace when the process exits.
pub(crate) fn add_to(trace: &Path) {
    if WAITING.lock().replace(trace.to_owned()).is_none() {
        system::at_exit(on_exit);
    }
}

/// Runs among the exit handlers of the C library.
extern "C" fn on_exit(status: c_int, _: *mut c_void) {
    // Unwinding into C would end the process in another way.
    let _ = catch_unwind(|| {
        if system::is_forked() {
            return;
        }
        if let Some(trace) = WAITING.lock().take() {
            // Without the code, the trace tells that nothing was left to do.
            let _ = replace(&trace, status & 0xff);
        }
    });
}

fn replace(trace: &Path, code: c_int) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(trace)?;
    let start = file.metadata()?.len().saturating_sub(END);
    let mut end = vec![0; END as usize];
    let length = files::read_at(&file, &mut end, start)?;
    let Some(at) = memchr::memmem::rfind(&end[..length], UNKNOWN) else { return Ok(()) };
    let text = format!("{:1$}", format!("\"exitCode\":{code}"), UNKNOWN.len());
    files::write_all_at(&file, text.as_bytes(), start + at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_takes_the_place_of_the_member() {
        let dir = tempfile::tempdir().unwrap();
        let trace = dir.path().join("t.json");
        let text = |member: &str| format!("[\n{{\"args\":{{\"cpuUs\":7,{member}}}}}\n]}}");
        for (code, expected) in [(0, "\"exitCode\":0   "), (255, "\"exitCode\":255 ")] {
            std::fs::write(&trace, text("\"ranEmpty\":true")).unwrap();
            replace(&trace, code).unwrap();
            assert_eq!(std::fs::read_to_string(&trace).unwrap(), text(expected));
        }
        replace(&trace, 1).unwrap();
        assert_eq!(std::fs::read_to_string(&trace).unwrap(), text("\"exitCode\":255 "));
    }
}
