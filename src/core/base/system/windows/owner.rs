//! Who owns a file, and how a file becomes its owner's alone.

use std::fs::File;
use std::mem;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, FALSE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo,
    SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, EqualSid, GetTokenInformation, IsWellKnownSid,
    OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, PSID,
    SECURITY_ATTRIBUTES, SetFileSecurityW, TOKEN_QUERY, TOKEN_USER, TokenUser,
    WinBuiltinAdministratorsSid, WinLocalSystemSid,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Returns whether an open file or folder belongs to this user, or to the system or its administrators,
/// who can do everything anyway.
pub(super) fn is_trusted(file: &File) -> bool {
    let (mut owner, mut descriptor): (PSID, PSECURITY_DESCRIPTOR) =
        (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the handle is open. The call fills both pointers. The owner is a part of the descriptor,
    // which is freed after the last use.
    unsafe {
        let status = GetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &mut owner,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &mut descriptor,
        );
        if status != ERROR_SUCCESS {
            return false;
        }
        // Some file systems, of other machines above all, tell no owner.
        let is_trusted = !owner.is_null()
            && ([WinLocalSystemSid, WinBuiltinAdministratorsSid]
                .into_iter()
                .any(|kind| IsWellKnownSid(owner, kind) != FALSE)
                || user().is_some_and(|user| EqualSid(owner, user.sid()) != FALSE));
        LocalFree(descriptor);
        is_trusted
    }
}

/// A descriptor that only this user, the system and its administrators have access by.
pub(super) struct PrivateDescriptor(PSECURITY_DESCRIPTOR);

// SAFETY: the descriptor is never changed or freed.
unsafe impl Send for PrivateDescriptor {}
// SAFETY: the same.
unsafe impl Sync for PrivateDescriptor {}

impl PrivateDescriptor {
    /// Returns the descriptor of files; none if the system cannot make one, so that files get the access
    /// of their folder.
    pub(super) fn of_files() -> Option<&'static Self> {
        static DESCRIPTOR: OnceLock<Option<PrivateDescriptor>> = OnceLock::new();
        DESCRIPTOR.get_or_init(|| Self::create("")).as_ref()
    }

    /// Returns a descriptor of a folder, which all files and folders in the folder inherit.
    fn of_folder() -> Option<Self> {
        Self::create("OICI")
    }

    fn create(inheritance: &str) -> Option<Self> {
        let user = user()?.text()?;
        // P: nothing is inherited from the folder above. FA: all access.
        let entry = |id: &str| format!("(A;{inheritance};FA;;;{id})");
        let text = format!("D:P{}{}{}", entry("SY"), entry("BA"), entry(&user));
        let text: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let mut descriptor = ptr::null_mut();
        // SAFETY: the text ends in a NUL. The call fills the pointer, whose memory is never freed.
        let is_made = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &mut descriptor,
                ptr::null_mut(),
            ) != FALSE
        };
        is_made.then_some(Self(descriptor))
    }

    /// Returns the attributes of what is made with this descriptor, which lives as long as the process.
    pub(super) fn attributes(&self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: mem::size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: self.0,
            bInheritHandle: FALSE,
        }
    }
}

/// Lets only this user, the system and its administrators have access to a folder, and to all that is made
/// in the folder from now on. Returns whether that was possible. `path` ends in a NUL.
pub(super) fn close_folder(path: &[u16]) -> bool {
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    PrivateDescriptor::of_folder().is_some_and(|descriptor| {
        // SAFETY: the path ends in a NUL, and the descriptor is valid. The call changes neither.
        unsafe { SetFileSecurityW(path.as_ptr(), what, descriptor.0) != FALSE }
    })
}

/// The user of this process: a `TOKEN_USER` and the id that the struct points to. Words, because the
/// struct must be aligned.
struct User(Vec<u64>);

impl User {
    fn sid(&self) -> PSID {
        // SAFETY: the words begin with a `TOKEN_USER`, which the system has filled.
        unsafe { (*self.0.as_ptr().cast::<TOKEN_USER>()).User.Sid }
    }

    /// Returns the id as text: `S-1-5-21-…`.
    fn text(&self) -> Option<String> {
        let mut text = ptr::null_mut();
        // SAFETY: the id is valid. The call fills the pointer with a text that ends in a NUL, which is
        // freed after the last use.
        unsafe {
            if ConvertSidToStringSidW(self.sid(), &mut text) == FALSE {
                return None;
            }
            let length = (0..).take_while(|at| *text.add(*at) != 0).count();
            let id = String::from_utf16(std::slice::from_raw_parts(text, length)).ok();
            LocalFree(text.cast());
            id
        }
    }
}

/// Returns the user of this process.
fn user() -> Option<&'static User> {
    static USER: OnceLock<Option<User>> = OnceLock::new();
    USER.get_or_init(read_user).as_ref()
}

fn read_user() -> Option<User> {
    // SAFETY: may be called on any thread. The handle that the call opens is closed on drop. The second
    // call fills at most the bytes that it is given.
    unsafe {
        let mut token = ptr::null_mut();
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) == FALSE {
            return None;
        }
        let token = OwnedHandle::from_raw_handle(token);
        let mut bytes = 0;
        GetTokenInformation(token.as_raw_handle(), TokenUser, ptr::null_mut(), 0, &mut bytes);
        let words = (bytes as usize).div_ceil(mem::size_of::<u64>());
        let mut user = vec![0_u64; words.max(mem::size_of::<TOKEN_USER>().div_ceil(8))];
        let size = u32::try_from(user.len() * mem::size_of::<u64>()).ok()?;
        let to = user.as_mut_ptr().cast();
        let is_filled =
            GetTokenInformation(token.as_raw_handle(), TokenUser, to, size, &mut bytes) != FALSE;
        is_filled.then_some(User(user))
    }
}
