//! Recognizes the handler by which Node ends the process on SIGINT and SIGTERM, where the system does not
//! tell the flags of an action.

use std::ffi::c_void;
use std::mem;

/// Returns the handler by which Node ends the process, from the actions of SIGTERM and SIGINT; none if
/// they do not tell. `of_node` is the address of a function of Node.
///
/// Node has one handler for both signals. Where the program listens for SIGINT, the handler there is
/// libuv's, which resumes system calls. Electron has a handler of its own for each signal.
pub(crate) fn exit_handler(
    [term, int]: [&libc::sigaction; 2],
    of_node: *const c_void,
) -> Option<usize> {
    let handler = term.sa_sigaction;
    let known = [handler, libc::SIG_DFL, libc::SIG_IGN];
    let is_common = known.contains(&int.sa_sigaction) || int.sa_flags & libc::SA_RESTART != 0;
    (is_common && is_interrupting(term, of_node)).then_some(handler)
}

/// Returns whether an action calls a function of Node, and then interrupts system calls.
fn is_interrupting(action: &libc::sigaction, of_node: *const c_void) -> bool {
    let handler = action.sa_sigaction;
    let is_function = ![libc::SIG_DFL, libc::SIG_IGN].contains(&handler);
    is_function
        && action.sa_flags & (libc::SA_RESTART | libc::SA_SIGINFO) == 0
        && image_of(handler as *const c_void).is_some_and(|image| Some(image) == image_of(of_node))
}

/// Returns where the program or library with this address is loaded.
fn image_of(address: *const c_void) -> Option<usize> {
    // SAFETY: may be called on any thread. All zeros are a valid struct of pointers, which the call
    // fills, and the address is only compared.
    unsafe {
        let mut info: libc::Dl_info = mem::zeroed();
        (libc::dladdr(address, &mut info) != 0).then_some(info.dli_fbase as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn end(_: libc::c_int) {}
    extern "C" fn listen(_: libc::c_int) {
        std::hint::black_box(1);
    }

    fn action(handler: usize, flags: libc::c_int) -> libc::sigaction {
        // SAFETY: all zeros are a valid action.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        action
    }

    #[test]
    fn node_has_one_handler_for_both_signals() {
        let of_node = image_of as *const c_void;
        let [end, listen] = [end, listen].map(|handler| handler as *const () as usize);
        let other = libc::getpid as *const () as usize;
        let restart = libc::SA_RESTART;
        for (term, int, is_known) in [
            ((end, 0), (end, 0), true),
            ((end, 0), (listen, restart), true),
            ((end, 0), (libc::SIG_DFL, 0), true),
            // Electron, or a REPL that runs code.
            ((end, 0), (listen, 0), false),
            ((listen, restart), (end, 0), false),
            ((listen, restart), (listen, restart), false),
            ((end, libc::SA_SIGINFO), (end, libc::SA_SIGINFO), false),
            // A handler of another addon.
            ((other, 0), (other, 0), false),
            ((libc::SIG_DFL, 0), (libc::SIG_DFL, 0), false),
            ((libc::SIG_IGN, 0), (end, 0), false),
        ] {
            let actions = [term, int].map(|(handler, flags)| action(handler, flags));
            let found = exit_handler([&actions[0], &actions[1]], of_node);
            assert_eq!(found, is_known.then_some(end), "{term:x?} {int:x?}");
        }
    }
}
