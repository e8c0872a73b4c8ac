//! Questions of JavaScript about settings, and files that it reads, answered without recording
//! anything.
#![allow(unsafe_code)] // napi's macros write it.

use std::collections::HashMap;
use std::path::PathBuf;

use napi_derive::napi;

use cpu_prof_core::base::build_kind::BUILD;
use cpu_prof_core::base::outside_text;
use cpu_prof_core::base::path_text::is_local_file;
use cpu_prof_core::base::settings::config;
use cpu_prof_core::base::settings::environment::read_config;
use cpu_prof_core::base::settings::length;
use cpu_prof_core::base::settings::name_pattern::NamePattern;
use cpu_prof_core::base::settings::run_folder;
use cpu_prof_core::base::system::{self, IS_WINDOWS, files, regular_file};
use cpu_prof_core::profile::cpu_use::UnrecordedPrograms;
use cpu_prof_tools::read::headers::headers as headers_of;
use cpu_prof_tools::read::runs::{self, FolderRuns};
use cpu_prof_tools::read::unrecorded::note_programs;

/// Returns the version of the package that this addon belongs to.
#[napi(js_name = "cpuProfVersion", catch_unwind)]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns how this addon was built.
#[napi(js_name = "cpuProfBuild", catch_unwind)]
pub(crate) fn build() -> &'static str {
    BUILD
}

/// Returns the settings of a recording as JSON, a list.
#[napi(js_name = "cpuProfSettings", catch_unwind)]
pub(crate) fn settings() -> String {
    config::settings_json()
}

/// Returns one sentence on what is wrong with settings for other processes, or nothing. `options`
/// override the environment; their values are text.
#[napi(js_name = "cpuProfCheckSettings", catch_unwind)]
pub(crate) fn check_settings(options: HashMap<String, String>) -> Option<String> {
    read_config(|name| options.get(name).cloned(), &[]).err().map(|error| error.to_string())
}

/// Returns the milliseconds of a length of time such as `500ms` or `1.5h`; nothing for another text.
#[napi(js_name = "cpuProfLengthMs", catch_unwind)]
pub(crate) fn length_ms(text: String) -> Option<f64> {
    const NANOS: f64 = 1e6;
    length::parse(&text).map(|length| length.as_nanos() as f64 / NANOS)
}

/// Returns the words of a command that runs Node without secrets. `script_at` is the place of the script, or of the
/// code.
#[napi(js_name = "cpuProfCommand", catch_unwind)]
pub(crate) fn command(words: Vec<String>, script_at: u32) -> Vec<String> {
    outside_text::command(&words, script_at as usize)
}

/// Lets the programs that this process starts inherit these open files, under the same numbers.
#[napi(js_name = "cpuProfPassOn", catch_unwind)]
pub(crate) fn pass_on(files: Vec<i32>) {
    files.into_iter().for_each(system::pass_on);
}

/// Returns the processes of this machine, a list of `ListedProcess` as JSON; `null` where the system has
/// files that tell, or does not tell.
#[napi(js_name = "cpuProfProcesses", catch_unwind)]
pub(crate) fn processes() -> String {
    serde_json::to_string(&system::processes()).unwrap_or_default()
}

/// Returns what the headers of recordings tell, a list of `FileHeader` as JSON.
#[napi(js_name = "cpuProfHeaders", catch_unwind)]
pub(crate) fn headers(files: Vec<String>) -> String {
    let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
    serde_json::to_string(&headers_of(&files)).unwrap_or_default()
}

/// Adds to the recording of a process what ran under the process without a recording: the count of Node processes,
/// and CPU times in milliseconds. Returns whether the recording tells it now.
#[napi(js_name = "cpuProfNoteUnrecorded", catch_unwind)]
pub(crate) fn note_unrecorded(file: String, nodes: u32, nodes_ms: f64, others_ms: f64) -> bool {
    let us = |ms: f64| (ms * 1000.0) as u64;
    let programs = UnrecordedPrograms { nodes, nodes_us: us(nodes_ms), others_us: us(others_ms) };
    note_programs(file.as_ref(), programs).unwrap_or(false)
}

/// Returns the user of the process at the other end of a local connection, which is an open file; nothing if
/// the system does not tell.
#[napi(js_name = "cpuProfPeerUser", catch_unwind)]
pub(crate) fn peer_user(connection: i32) -> Option<u32> {
    system::socket::peer_user(connection)
}

/// Returns the runs of a folder, a `FolderRuns` as JSON.
#[napi(js_name = "cpuProfRunsIn", catch_unwind)]
pub(crate) fn runs_in(folder: String) -> String {
    serde_json::to_string(&FolderRuns::of(folder.as_ref())).unwrap_or_default()
}

/// Returns the traces that stand for their runs where everything in a folder is read, below the folder.
#[napi(js_name = "cpuProfTracesOfRuns", catch_unwind)]
pub(crate) fn traces_of_runs(folder: String) -> Vec<String> {
    runs::traces_of_runs(folder.as_ref())
}

/// Returns whether a folder has a recording, also in folders below.
#[napi(js_name = "cpuProfHasRecordings", catch_unwind)]
pub(crate) fn has_recordings(folder: String) -> bool {
    runs::has_recordings(folder.as_ref())
}

/// Returns the folder of the `cpu-prof run` that `node_options`, the text of `NODE_OPTIONS`, belongs
/// to.
#[napi(js_name = "cpuProfRunFolder", catch_unwind)]
pub(crate) fn run_folder(node_options: String) -> Option<String> {
    run_folder::folder(&node_options).map(|folder| folder.to_string_lossy().into_owned())
}

/// Makes an empty folder private to this user. Returns whether the folder is.
#[napi(js_name = "cpuProfMakePrivate", catch_unwind)]
pub(crate) fn make_private(folder: String) -> bool {
    files::make_private_folder(folder.as_ref())
}

/// Returns the text of a file in a folder; nothing if another user can have made the file or the folder.
#[napi(js_name = "cpuProfReadOwnFile", catch_unwind)]
pub(crate) fn read_own_file(folder: String, file: String) -> Option<String> {
    String::from_utf8(run_folder::read(folder.as_ref(), &file)?).ok()
}

/// Returns whether a path that a recording names may be looked at: a file of a local disk of this system.
#[napi(js_name = "cpuProfIsLocalFile", catch_unwind)]
pub(crate) fn is_local(path: String) -> bool {
    is_local_file(&path, IS_WINDOWS)
}

/// Returns the text of a regular file, read without waiting; nothing if the file is empty, has more than
/// `most` bytes, cannot be read, or is a device or a pipe.
#[napi(js_name = "cpuProfReadRegularFile", catch_unwind)]
pub(crate) fn read_regular_file(path: String, most: u32) -> Option<String> {
    let bytes = regular_file::read(path.as_ref(), most.into()).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether a recording with the name `pattern` may be written to `path`, which has an
/// extension. Both count from the same folder. An invalid pattern names no file.
#[napi(js_name = "cpuProfIsRecordingName", catch_unwind)]
pub(crate) fn is_recording_name(pattern: String, path: String) -> bool {
    NamePattern::parse(&pattern).is_ok_and(|pattern| pattern.matches(&path))
}
