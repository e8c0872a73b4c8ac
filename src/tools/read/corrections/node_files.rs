//! The files of Node before version 16, which V8 gives without `node:`: `internal/timers.js`, `net.js`.

use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};

/// The folders and files below `internal/`.
const INTERNAL: &str = "abort_controller assert async_hooks blob blocklist bootstrap buffer child_process \
    cli_table cluster console constants crypto debugger deps dgram dns dtrace encoding error_serdes errors \
    event_target fixed_queue freelist freeze_intrinsics fs heap_utils histogram http http2 idna \
    inspector_async_hook js_stream_socket legacy linkedlist loader main module modules net options per_context \
    perf policy priority_queue process promises querystring readline repl safe_globals socket_list socketaddress \
    source_map stream_base_commons streams test timers tls trace_events_async_hooks tty url util \
    v8_prof_polyfill v8_prof_processor validators vm vm_module wasm_web_api watchdog webstreams worker \
    worker_threads wrap_js_stream";

/// The modules of Node, and its files beside them.
const MODULES: &str = "_debug_agent _debugger _http_agent _http_client _http_common _http_incoming \
    _http_outgoing _http_server _linklist _stream_duplex _stream_passthrough _stream_readable \
    _stream_transform _stream_wrap _stream_writable _tls_common _tls_legacy _tls_wrap assert assert/strict \
    async_hooks bootstrap_node buffer child_process cluster console constants crypto dgram \
    diagnostics_channel dns dns/promises domain events freelist fs fs/promises http http2 https inspector \
    module net node os path path/posix path/win32 perf_hooks process punycode querystring readline repl \
    smalloc stream stream/promises string_decoder sys timers timers/promises tls trace_events tty url util \
    util/types v8 vm wasi worker_threads zlib";

/// Returns the frames of one recording, in which the files of Node before version 16 have the names that later
/// versions give them.
///
/// V8 has the whole paths of a program's files. A source map can have relative ones, and a program a `util.js` of
/// its own: where it has other relative files, only those below `internal/` tell that a name is Node's.
pub(crate) fn with_node_files(frames: impl Iterator<Item = CallFrame>) -> Vec<CallFrame> {
    let mut frames: Vec<CallFrame> = frames.collect();
    let executed = frames.iter().filter(|frame| frame.origin == FrameOrigin::Executed);
    let relative: Vec<&str> = executed.filter_map(|frame| relative_file(&frame.url)).collect();
    let has_internal = relative.iter().any(|file| is_internal(file));
    if has_internal || relative.iter().all(|file| is_module(file)) {
        frames.iter_mut().for_each(name_node_file);
    }
    frames
}

/// Gives the frame of a file of Node its later name.
fn name_node_file(frame: &mut CallFrame) {
    if frame.origin == FrameOrigin::Executed
        && let Some(file) = relative_file(&frame.url)
        && (is_internal(file) || is_module(file))
    {
        frame.url = format!("node:{file}");
    }
}

/// Returns a relative file of JavaScript without its ending; none for any other URL.
fn relative_file(url: &str) -> Option<&str> {
    let file = url.strip_suffix(".js")?;
    let is_relative = !file.starts_with(['/', '\\', '.', '[', '<']) && !file.contains(':');
    is_relative.then_some(file)
}

fn is_module(file: &str) -> bool {
    MODULES.split(' ').any(|module| module == file)
}

/// Returns whether a relative file is one of Node's own below `internal/`.
fn is_internal(file: &str) -> bool {
    let below = file.strip_prefix("internal/").or_else(|| file.strip_prefix("node-inspect/lib/"));
    let first = below.and_then(|below| below.split('/').next());
    first.is_some_and(|first| {
        file.starts_with("node-inspect/") || INTERNAL.split(' ').any(|name| name == first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(urls: &[&str]) -> Vec<String> {
        let frame =
            |url: &&str| CallFrame { url: (*url).to_owned(), script_id: 5, ..CallFrame::root() };
        with_node_files(urls.iter().map(frame)).into_iter().map(|frame| frame.url).collect()
    }

    #[test]
    fn files_of_node_get_the_names_of_later_versions() {
        let urls = [
            "/srv/app.js",
            "internal/modules/cjs/loader.js",
            "fs.js",
            "_http_client.js",
            "fs/promises.js",
        ];
        let node = [
            "node:internal/modules/cjs/loader",
            "node:fs",
            "node:_http_client",
            "node:fs/promises",
        ];
        assert_eq!(named(&urls)[0], "/srv/app.js");
        assert_eq!(named(&urls)[1..], node);
        // Also where no file below internal/ was seen.
        assert_eq!(
            named(&["file:///srv/app.mjs", "events.js", "net.js"])[1..],
            ["node:events", "node:net"]
        );
        assert_eq!(named(&["evalmachine.<anonymous>", "[eval]", "timers.js"])[2], "node:timers");
    }

    #[test]
    fn relative_files_of_a_source_map_are_the_programs() {
        for urls in [
            &["src/app.js", "util.js"][..],
            &["index.js", "fs.js", "https://host/bundle.js"],
            &["internal/own.js", "events.js"],
            &[
                "./fs.js",
                "../net.js",
                "lib/fs.js",
                "/srv/fs.js",
                "webpack:///fs.js",
                "C:\\fs.js",
                "fs.ts",
            ],
        ] {
            assert_eq!(named(urls), urls);
        }
        // Beside files that only Node has, its modules are known.
        assert_eq!(
            named(&["app.js", "fs.js", "internal/timers.js"]),
            ["app.js", "node:fs", "node:internal/timers"]
        );
    }

    #[test]
    fn only_executed_code_is_that_of_node() {
        let url = "fs.js".to_owned();
        let frame = CallFrame { url, origin: FrameOrigin::SourceMap, ..CallFrame::root() };
        let frames = with_node_files([frame].into_iter());
        assert_eq!(frames[0].url, "fs.js");
    }
}
