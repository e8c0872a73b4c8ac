//! A finished `v8::CpuProfile`: copies it into a [`Window`] and deletes it when that is safe.

use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::details::ProfileDetails;
use super::gate::DeletionGate;
use super::symbols;
use cpu_prof_core::profile::frame::{CallFrame, FrameOrigin};
use cpu_prof_core::profile::window::{Sample, Window, WindowNode};

/// A profile that V8 no longer adds samples to.
pub(crate) struct V8Profile {
    api: &'static symbols::Api,
    raw: NonNull<symbols::CpuProfile>,
    gate: Arc<DeletionGate>,
}

// SAFETY: a finished profile does not change, apart from the part that `details` handles. Reading
// it touches nothing else: see the rules of the parent module.
unsafe impl Send for V8Profile {}

impl V8Profile {
    /// Wraps a finished profile. `gate` belongs to the profiler that the profile came from.
    pub(super) fn new(
        api: &'static symbols::Api,
        raw: NonNull<symbols::CpuProfile>,
        gate: Arc<DeletionGate>,
    ) -> Self {
        Self { api, raw, gate }
    }

    /// Copies the profile. Any thread may call this.
    pub(crate) fn read(&self) -> Window {
        let api = self.api;
        let profile = self.raw.as_ptr().cast_const();
        let frames = FxHashMap::default();
        let details = ProfileDetails::new(api);
        let mut reader = ProfileReader { api, window: Window::default(), frames, details };
        // SAFETY: the profile is finished, and it is not deleted: deleting it would consume `self`.
        unsafe {
            let index_of = reader.nodes((api.profile_root)(profile));
            let count = (api.profile_samples)(profile);
            reader.window.samples.reserve(count.max(0) as usize);
            for i in 0..count {
                let node = (api.profile_sample)(profile, i);
                let time_us = (api.profile_sample_time)(profile, i);
                let index = (!node.is_null())
                    .then(|| index_of.get((api.node_id)(node) as usize).copied())
                    .flatten();
                if let Some(node) = index {
                    reader.window.samples.push(Sample { time_us, node, ..Sample::default() });
                }
            }
            reader.window.deopts = reader.details.deopts();
            reader.window.start_us = (api.profile_start_time)(profile);
            reader.window.end_us = (api.profile_end_time)(profile);
        }
        let mut window = reader.window;
        // V8 adds a sample of its own at each start, which can overtake a sample of its timer.
        window.samples.sort_by_key(|sample| sample.time_us);
        window.set_positions(reader.details.into_ticks());
        window
    }

    /// Deletes the profile of a running profiler, or returns the profile if that is not safe. Any
    /// thread may call this. `newest_us` is the time of the newest sample in any profile of the
    /// profiler that was read.
    pub(super) fn delete_if_safe(self, newest_us: i64) -> Result<(), Self> {
        let is_deleted = self.gate.if_quiet(newest_us, || {
            // SAFETY: the gate is open and locked, and the profile is not used again.
            unsafe { (self.api.profile_delete)(self.raw.as_ptr()) }
        });
        if is_deleted { Ok(()) } else { Err(self) }
    }

    /// Deletes the profile.
    ///
    /// # Safety
    /// The profile's gate is locked, and no other thread can drop a code entry.
    pub(super) unsafe fn delete(self) {
        // SAFETY: the caller promises the rules of the gate, and `self` is not used again.
        unsafe { (self.api.profile_delete)(self.raw.as_ptr()) }
    }
}

struct ProfileReader {
    api: &'static symbols::Api,
    window: Window,
    /// Index of each frame in the window. Within a profile V8 keeps each name once, so equal names
    /// have equal addresses.
    frames: FxHashMap<(usize, usize, c_int, c_int, c_int), u32>,
    details: ProfileDetails,
}

impl ProfileReader {
    /// Reads the tree, parents first, without recursion: a stack can be 255 frames deep.
    /// Returns the index of each node by its id in V8's tree.
    ///
    /// # Safety
    /// `root` is the root of a finished profile that is not deleted meanwhile.
    unsafe fn nodes(&mut self, root: *const symbols::CpuProfileNode) -> Vec<u32> {
        let api = self.api;
        let mut index_of = Vec::new();
        let mut pending = vec![(root, 0)];
        while let Some((node, parent)) = pending.pop() {
            if node.is_null() {
                continue;
            }
            let index = self.window.nodes.len() as u32;
            // SAFETY: the caller promises a valid root. The children of a node are nodes of the
            // same tree.
            unsafe {
                let frame = self.frame(node);
                self.window.nodes.push(WindowNode { parent, frame });
                let id = (api.node_id)(node) as usize;
                if id >= index_of.len() {
                    index_of.resize(id + 1, 0);
                }
                index_of[id] = index;
                self.details.add(node, index);
                for i in (0..(api.node_children)(node)).rev() {
                    pending.push(((api.node_child)(node, i), index));
                }
            }
        }
        index_of
    }

    /// Returns the index of a node's frame in the window.
    ///
    /// # Safety
    /// `node` is a node of a finished profile that is not deleted meanwhile.
    unsafe fn frame(&mut self, node: *const symbols::CpuProfileNode) -> u32 {
        let api = self.api;
        // SAFETY: the caller promises a valid node.
        let (name, url, script_id, line, column) = unsafe {
            (
                (api.node_function_name)(node),
                (api.node_resource_name)(node),
                (api.node_script_id)(node),
                (api.node_line)(node),
                (api.node_column)(node),
            )
        };
        let frames = &mut self.window.frames;
        *self.frames.entry((name as usize, url as usize, script_id, line, column)).or_insert_with(
            || {
                frames.push(CallFrame {
                    // SAFETY: V8's strings end in a NUL and live as long as the profile.
                    function_name: unsafe { symbols::text(name) },
                    // SAFETY: V8's strings end in a NUL and live as long as the profile.
                    url: unsafe { symbols::text(url) },
                    script_id: script_id.max(0) as u32,
                    // V8 counts from 1, and writes 0 where the position is unknown.
                    line: line - 1,
                    column: column - 1,
                    origin: FrameOrigin::Executed,
                    package: None,
                    compiler: None,
                });
                frames.len() as u32 - 1
            },
        )
    }
}
