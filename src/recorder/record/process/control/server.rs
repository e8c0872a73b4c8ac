//! Opens the socket, and serves one peer after the other.

use std::ffi::{c_int, c_void};
use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::answer::{answer, refuse};
use cpu_prof_core::base::error::Error;
use cpu_prof_core::base::settings::start::SocketFolder;
use cpu_prof_core::base::stderr::warn_once;
use cpu_prof_core::base::system;
use cpu_prof_core::base::system::socket::{ControlSocket, Peer, usual_folders};

/// Time that a peer has for its request, and as long again for the reply.
const PEER_TIME: Duration = Duration::from_secs(1);
/// Size of the longest request, bytes.
const MOST_BYTES: usize = 64 << 10;
/// Size of the thread's stack, of which a request uses little.
const STACK_BYTES: usize = 256 << 10;

/// The socket's file, which the end of the process removes.
static FILE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Opens the socket, once in a process. A failure is one line on stderr.
pub(crate) fn open(folder: &SocketFolder) {
    static OPENED: Once = Once::new();
    OPENED.call_once(|| {
        if *folder == SocketFolder::Forbidden {
            return;
        }
        if let Err(why) = socket(folder).and_then(serve) {
            warn_once(&Error::NoSocket(why));
        }
    });
}

/// Opens the socket in the first folder that can be used. The error is what is wrong with the first.
fn socket(folder: &SocketFolder) -> Result<ControlSocket, String> {
    if system::has_borrowed_rights() {
        return Err("it runs with rights that its user does not have".into());
    }
    let start = system::process_start_ms().unwrap_or_default();
    let name = format!("{}-{start}", std::process::id());
    let folders = match folder {
        SocketFolder::Given(folder) => vec![folder.clone()],
        SocketFolder::Usual | SocketFolder::Forbidden => usual_folders(),
    };
    let mut problem = None;
    for folder in folders {
        match ControlSocket::open(&folder, &name) {
            Ok(socket) => return Ok(socket),
            Err(error) => drop(problem.get_or_insert((folder, error))),
        }
    }
    Err(match problem {
        Some((folder, error)) => format!("{} cannot be used: {error}", folder.display()),
        None => "there is no folder for its socket".into(),
    })
}

/// Serves the socket on a thread of its own.
fn serve(socket: ControlSocket) -> Result<(), String> {
    *FILE.lock() = Some(socket.path().to_owned());
    system::at_exit(on_exit);
    let spawned = system::with_signals_blocked(|| {
        let thread = thread::Builder::new().name("cpu-prof-control".into());
        thread.stack_size(STACK_BYTES).spawn(move || {
            socket.remove_left_sockets();
            accept_all(&socket);
        })
    });
    spawned.map(drop).map_err(|error| {
        remove_file();
        format!("its thread could not be started: {error}")
    })
}

fn accept_all(socket: &ControlSocket) {
    /// A process without a free file descriptor may get one.
    const PAUSE: Duration = Duration::from_secs(1);
    loop {
        match socket.accept() {
            // A bug in here must cost an answer, not the thread.
            Ok(peer) => drop(catch_unwind(AssertUnwindSafe(|| serve_peer(peer)))),
            Err(error) if is_of_peer(&error) => {}
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn is_of_peer(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, Interrupted, PermissionDenied};
    [PermissionDenied, ConnectionAborted, Interrupted].contains(&error.kind())
}

fn serve_peer(mut peer: Peer) {
    let mut reply = match peer.read_line(MOST_BYTES, PEER_TIME) {
        Ok(line) => answer(&line),
        Err(error) => refuse(no_request(&error)),
    };
    reply.push(b'\n');
    // A peer that does not take its reply gets none.
    let _ = peer.write(&reply, PEER_TIME);
}

/// Returns why a peer's request could not be read.
fn no_request(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::InvalidData => format!("the request is longer than {MOST_BYTES} bytes"),
        ErrorKind::UnexpectedEof => "the request does not end with a line break".into(),
        _ => format!("no request came within {PEER_TIME:?}"),
    }
}

/// Runs among the exit handlers of the C library.
extern "C" fn on_exit(_: c_int, _: *mut c_void) {
    // Unwinding into C would end the process in another way.
    let _ = catch_unwind(|| {
        if !system::is_forked() {
            remove_file();
        }
    });
}

fn remove_file() {
    let file = FILE.lock().take();
    let _ = file.as_deref().map(Path::new).map(fs::remove_file);
}
