//! Recognizes the action by which Node ends the process on SIGINT and SIGTERM, where the system does not
//! tell the action's flags.

use std::ffi::c_void;
use std::mem;

/// Returns whether an action is Node's own for the end of the process. Node's other actions are libuv's,
/// which resume system calls. `of_node` is the address of a function of Node.
pub(crate) fn is_exit_action(action: &libc::sigaction, of_node: *const c_void) -> bool {
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

    extern "C" fn handler(_: libc::c_int) {}

    fn action(handler: usize, flags: libc::c_int) -> libc::sigaction {
        // SAFETY: all zeros are a valid action.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        action
    }

    #[test]
    fn only_a_handler_of_node_that_interrupts_calls_ends_the_process() {
        let of_node = image_of as *const c_void;
        let own = handler as *const () as usize;
        let other = libc::getpid as *const () as usize;
        assert!(is_exit_action(&action(own, 0), of_node));
        for (handler, flags) in [
            (own, libc::SA_RESTART),
            (own, libc::SA_SIGINFO),
            (other, 0),
            (libc::SIG_DFL, 0),
            (libc::SIG_IGN, 0),
        ] {
            assert!(!is_exit_action(&action(handler, flags), of_node), "{handler:x} {flags:x}");
        }
    }
}
