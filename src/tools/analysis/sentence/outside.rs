//! Work in native code that no function of the program has called: TLS, HTTP parsing, what libuv does.

use rustc_hash::FxHashMap;

use super::culprit::each_profile;
use super::native_code::NativeCode;
use super::thresholds::{MOST_OF_OUTSIDE, NOTABLE_OF_OUTSIDE};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::process::session_view::SessionView;

/// What Node's native code works for, by starts of the names of its functions, and by the files of Node whose
/// JavaScript calls the program then.
const AREAS: [(&str, &[&str], &[&str]); 7] = [
    ("TLS", &["node::crypto::TLSWrap"], &["node:_tls_", "node:tls"]),
    ("HTTP/2", &["node::http2::"], &["node:internal/http2/", "node:http2"]),
    ("HTTP", &["node::(anonymous namespace)::Parser", "llhttp_"], &["node:_http_", "node:http"]),
    (
        "compression",
        &["node::(anonymous namespace)::Zlib", "node::(anonymous namespace)::Brotli"],
        &["node:zlib"],
    ),
    ("files", &["node::fs::", "node::FSEvent", "uv__fs_"], &["node:fs", "node:internal/fs/"]),
    (
        "messages between threads",
        &["node::worker::"],
        &["node:internal/worker", "node:worker_threads"],
    ),
    (
        "sockets",
        &["node::LibuvStreamWrap", "node::TCPWrap", "node::ConnectionWrap", "node::UDPWrap"],
        &["node:net", "node:dgram"],
    ),
];

/// The native work of JavaScript threads that is below no function of the program.
#[derive(Debug, Clone, Default)]
pub(super) struct Outside {
    /// All of it, microseconds.
    pub us: u64,
    /// The part without any function on the stack, which V8 calls `(program)`: microseconds.
    pub program_us: u64,
    /// The part with a known stack, microseconds.
    pub known_us: u64,
    /// What has most of the work.
    pub code: Option<NativeCode>,
    /// What most of the work is for.
    pub area: Option<&'static str>,
    /// The function of the program that Node calls most in that area.
    pub callback: Option<usize>,
}

/// What the stack above a node shows.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    has_code: bool,
    /// Index into [`AREAS`].
    area: Option<usize>,
}

/// Returns the work of all processes but launchers.
pub(super) fn outside(view: &SessionView<'_>) -> Outside {
    let index = &view.index;
    let is_code = index.code_functions();
    let area_of: Vec<_> =
        (0..index.functions.len()).map(|function| area(function, index)).collect();
    let mut found = Outside::default();
    let mut functions: FxHashMap<usize, u64> = FxHashMap::default();
    let mut areas: FxHashMap<usize, u64> = FxHashMap::default();
    let mut callbacks: FxHashMap<(usize, usize), u64> = FxHashMap::default();
    let threads =
        |(process, thread): (usize, usize)| &view.session.processes[process].threads[thread];
    each_profile(view, |at, profile| {
        if threads(at).is_native() {
            return;
        }
        profile.downward(|above: Above, _, node| {
            let us = profile.times(node).self_us;
            let function = match index.kind(node.frame) {
                FrameKind::Function(function) => function,
                FrameKind::Program => {
                    add(&mut found.us, us);
                    add(&mut found.program_us, us);
                    return above;
                }
                FrameKind::Idle | FrameKind::Gc | FrameKind::Unrecorded => return above,
            };
            if is_code[function] {
                if let Some(area) = above.area.filter(|_| !above.has_code) {
                    add(callbacks.entry((area, function)).or_default(), us.saturating_add(1));
                }
                return Above { has_code: true, ..above };
            }
            // The inner one: TLS reads from sockets.
            let area = area_of[function].or(above.area);
            if index.is_native(function) && !above.has_code && us > 0 {
                add(&mut found.us, us);
                if index.is_in_module(function) {
                    add(&mut found.known_us, us);
                    add(functions.entry(function).or_default(), us);
                    if let Some(area) = area {
                        add(areas.entry(area).or_default(), us);
                    }
                }
            }
            Above { area, ..above }
        });
    });
    let parts = (MOST_OF_OUTSIDE, NOTABLE_OF_OUTSIDE);
    found.code = NativeCode::of(&functions, found.us as f64, parts, index);
    let area = areas.into_iter().max_by_key(|(area, us)| (*us, *area));
    let area = area.filter(|(_, us)| *us as f64 >= MOST_OF_OUTSIDE * found.us as f64);
    found.area = area.map(|(area, _)| AREAS[area].0);
    let of_area =
        callbacks.into_iter().filter(|((of, _), _)| area.is_some_and(|(area, _)| area == *of));
    found.callback = of_area
        .max_by_key(|((_, function), us)| (*us, *function))
        .map(|((_, function), _)| function);
    found
}

/// Adds to a time of a file, which can have any times: microseconds.
fn add(sum_us: &mut u64, us: u64) {
    *sum_us = sum_us.saturating_add(us);
}

/// Returns the area that a function of Node is of.
fn area(function: usize, index: &FrameIndex) -> Option<usize> {
    let place = index.place(function);
    let starts = |text: &str, starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    AREAS.iter().position(|(_, natives, files)| match index.is_native(function) {
        true => starts(place.name, natives),
        false => starts(place.file, files),
    })
}
