//! Files as Windows knows them: who owns a file, which file a name leads to, and positions.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle};
use std::path::{self, Component, Path, PathBuf, Prefix};
use std::ptr;
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, FALSE, GENERIC_READ, GENERIC_WRITE, HANDLE,
    INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, CREATE_NEW, CreateFileW, FILE_ATTRIBUTE_NORMAL,
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO, FILE_TYPE_DISK,
    FileStandardInfo, GetFileInformationByHandle, GetFileInformationByHandleEx, GetFileType,
    READ_CONTROL,
};

use super::owner::{self, PrivateDescriptor};

/// Volume and index, which tell a file from another one that has its path now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(u32, u64);

/// Returns the id of an open file, and its size in bytes.
pub fn identify(file: &File) -> io::Result<(FileId, u64)> {
    let facts = facts(file)?;
    let long = |high: u32, low: u32| (u64::from(high) << 32) | u64::from(low);
    let id = FileId(facts.dwVolumeSerialNumber, long(facts.nFileIndexHigh, facts.nFileIndexLow));
    Ok((id, long(facts.nFileSizeHigh, facts.nFileSizeLow)))
}

/// Returns the id of what has a path, and its size in bytes. Follows links.
pub(crate) fn identify_target(path: &Path) -> io::Result<(FileId, u64)> {
    identify(&look_at(path, true)?)
}

/// Returns the id of what has a path, and its size in bytes. A link is identified itself.
pub(crate) fn identify_entry(path: &Path) -> io::Result<(FileId, u64)> {
    identify(&look_at(path, false)?)
}

/// Returns whether no path leads to an open file, or will when the file is closed.
pub fn is_removed(file: &File) -> bool {
    let mut facts = FILE_STANDARD_INFO::default();
    // SAFETY: the handle is open, and the call fills at most the struct, whose size it is given.
    let is_filled = unsafe {
        GetFileInformationByHandleEx(
            handle(file),
            FileStandardInfo,
            (&raw mut facts).cast(),
            mem::size_of::<FILE_STANDARD_INFO>() as u32,
        ) != FALSE
    };
    // FAT has one link always.
    is_filled && (facts.NumberOfLinks == 0 || facts.DeletePending)
}

/// Reads from a position.
pub fn read_at(file: &File, to: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(to, at)
}

/// Writes all bytes from a position on.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => {
                bytes = &bytes[length..];
                at += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Creates a file for reading and writing that only this user may read. Fails if anything has the path
/// already, a link included.
pub(crate) fn create_private(given: &Path) -> io::Result<File> {
    let path = wide(given)?;
    let attributes = PrivateDescriptor::of_files().map(PrivateDescriptor::attributes);
    // SAFETY: the path ends in a NUL, and the attributes live during the call. The handle that the call
    // opens is closed on drop.
    unsafe {
        let handle = CreateFileW(
            path.as_ptr(),
            GENERIC_READ | GENERIC_WRITE,
            // Others may read, move and remove a recording while the file grows.
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            attributes.as_ref().map_or(ptr::null(), ptr::from_ref),
            CREATE_NEW,
            FILE_ATTRIBUTE_NORMAL,
            ptr::null_mut(),
        );
        if handle == INVALID_HANDLE_VALUE {
            let error = io::Error::last_os_error();
            return Err(if is_denied(&error) && is_leaving(given) {
                io::ErrorKind::AlreadyExists.into()
            } else {
                error
            });
        }
        Ok(File::from_raw_handle(handle))
    }
}

/// Renames a file, and replaces the file there. Virus scanners and indexers open new files for moments, in
/// which Windows refuses that.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    const PAUSES_MS: [u64; 7] = [1, 2, 5, 10, 30, 100, 200];
    for pause in PAUSES_MS {
        match fs::rename(from, to) {
            Err(error) if is_denied(&error) && !to.is_dir() => {
                thread::sleep(Duration::from_millis(pause));
            }
            result => return result,
        }
    }
    fs::rename(from, to)
}

/// Returns whether the system refuses a path because of rights, or because a program has the file open.
fn is_denied(error: &io::Error) -> bool {
    let code = error.raw_os_error().and_then(|code| u32::try_from(code).ok());
    matches!(code, Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION))
}

/// Returns whether a name belongs to a file that is removed when the last program closes the file. The
/// libuv of Node 18 and 20 removes files so. Such a file cannot be opened, not even to look at.
fn is_leaving(path: &Path) -> bool {
    look_at(path, false).is_err_and(|error| is_denied(&error))
}

/// Opens a file for reading. A device or a pipe is refused, because opening one has an effect.
pub(crate) fn open_at_once(path: &Path, follows_links: bool) -> io::Result<File> {
    if is_kernel_file(path) {
        return Err(not_a_file());
    }
    let links = if follows_links { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
    let file = OpenOptions::new().read(true).custom_flags(links).open(path)?;
    // A name such as `NUL` leads to a device in every folder.
    if is_on_disk(&file) { Ok(file) } else { Err(not_a_file()) }
}

/// Returns whether an open file belongs to this user, or to the system or its administrators, who can do
/// everything anyway.
pub(crate) fn is_trusted(file: &File) -> bool {
    owner::is_trusted(file)
}

/// Returns whether a path is a folder, and no link, of this user, or of the system or its
/// administrators. Others may be allowed to make files in the folder, unless it was made private.
pub(crate) fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|folder| folder.is_dir())
        && look_at(path, false).is_ok_and(|folder| owner::is_trusted(&folder))
}

/// Makes an empty folder private to this user, with all that is made in the folder later: in a folder for
/// temporary files outside of the user's own, everybody may write by default. Returns whether the folder
/// is private.
pub fn make_private_folder(path: &Path) -> bool {
    is_own_folder(path) && wide(path).is_ok_and(|path| owner::close_folder(&path))
}

/// Returns whether a path names a device or a pipe by where the path begins.
pub(crate) fn is_kernel_file(path: &Path) -> bool {
    match path.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            // `\\.\pipe\x`
            Prefix::DeviceNS(_) => true,
            // `\\?\Volume{…}\x` is a disk. All else is a device: `\\?\pipe\x`, `\\?\GLOBALROOT\Device\…`.
            Prefix::Verbatim(name) => {
                !name.to_string_lossy().to_ascii_lowercase().starts_with("volume{")
            }
            // The pipes of a machine.
            Prefix::UNC(_, share) | Prefix::VerbatimUNC(_, share) => {
                share.eq_ignore_ascii_case("pipe")
            }
            Prefix::Disk(_) | Prefix::VerbatimDisk(_) => false,
        },
        _ => false,
    }
}

/// Returns false: a link needs a right that users do not have, and Windows has no folder in which every
/// user makes files that only they can remove.
pub(crate) fn is_laid_by_another(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Returns whether a path names standard output, whatever that is.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("/dev/stdout")
}

/// Returns standard output as a file of its own.
pub(crate) fn open_stdout() -> io::Result<File> {
    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

/// Opens what has a path, to look at it and not to read.
fn look_at(path: &Path, follows_links: bool) -> io::Result<File> {
    let links = if follows_links { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
    OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES | READ_CONTROL)
        // Folders are opened only so.
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | links)
        .open(path)
}

fn facts(file: &File) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    let mut facts = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the call fills the struct.
    let is_filled = unsafe { GetFileInformationByHandle(handle(file), &mut facts) != FALSE };
    if is_filled { Ok(facts) } else { Err(io::Error::last_os_error()) }
}

fn is_on_disk(file: &File) -> bool {
    // SAFETY: the handle is open.
    unsafe { GetFileType(handle(file)) == FILE_TYPE_DISK }
}

fn handle(file: &File) -> HANDLE {
    file.as_raw_handle()
}

fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a file of a disk")
}

/// Returns a path for the functions of the system, with a NUL at its end.
fn wide(path: &Path) -> io::Result<Vec<u16>> {
    Ok(verbatim(path)?.as_os_str().encode_wide().chain([0]).collect())
}

/// Returns a path that may be longer than 260 characters.
fn verbatim(path: &Path) -> io::Result<PathBuf> {
    let path = path::absolute(path)?;
    let Some(Component::Prefix(prefix)) = path.components().next() else { return Ok(path) };
    let mut verbatim = OsString::from(match prefix.kind() {
        Prefix::Disk(_) => r"\\?\",
        Prefix::UNC(..) => r"\\?\UNC\",
        _ => return Ok(path),
    });
    let skipped = if matches!(prefix.kind(), Prefix::UNC(..)) { 2 } else { 0 };
    let rest: Vec<u16> = path.as_os_str().encode_wide().skip(skipped).collect();
    verbatim.push(<OsString as std::os::windows::ffi::OsStringExt>::from_wide(&rest));
    Ok(verbatim.into())
}
