//! Finds the JavaScript that asked for the work of native threads, as far as samples tell.
//!
//! A thread of libuv's pool does not say who gave it its work. A function does that was sampled while it
//! handed work over: in a function of Node that uses the pool, or in a function of an addon. Where the work
//! can come from two of these, neither is named as its cause.

use std::cmp::Reverse;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::analysis::frame_index::{
    ADDON_FUNCTION, FrameIndex, FrameKind, SourceFile, SourceFunction,
};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::package::is_users;
use cpu_prof_session::model::Process;
use cpu_prof_session::model::thread_profile::ThreadProfile;

/// CPU time of the pool for a file, for the time in which a thread asks for it.
const MAX_FILE_FACTOR: u64 = 5;

/// Packages whose addons are known to work in libuv's pool.
const POOL_ADDONS: [&str; 7] =
    ["sharp", "bcrypt", "argon2", "sqlite3", "@swc/core", "@node-rs/argon2", "@node-rs/bcrypt"];

/// What can give work to native threads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum WorkSource {
    /// A function of Node: `crypto.pbkdf2`.
    Node(String),
    /// A function of Node's file system: short work, mostly.
    Files,
    /// An addon that a package calls: index of the package.
    Addon(usize),
}

/// Who asked for the work: what gave it to the threads, and the function that called that, if it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Cause {
    pub source: WorkSource,
    pub caller: Option<usize>,
}

/// The causes of one process.
#[derive(Debug, Default)]
pub(super) struct Causes {
    /// Causes with the time that threads were sampled in them, microseconds.
    sampled: CauseTimes,
    /// Own functions that called packages, as if for their addons, with the time of these calls, microseconds.
    calls: CauseTimes,
    /// Packages that were sampled while they loaded an addon.
    loaders: Vec<usize>,
}

/// What is known of a node of the call tree by the nodes above.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    /// The innermost function that is neither Node's nor native.
    code: Option<u32>,
    /// The innermost such function of its file that has a name, or else the innermost.
    caller: Option<u32>,
    /// The innermost such function of another package than that of `code`.
    outside: Option<u32>,
    /// The innermost such function above the module loader.
    loading: Option<u32>,
    /// The cause that the node's time belongs to, by its place in [`Causes::sampled`].
    cause: Option<u32>,
    /// The call of a package that the node's time belongs to, by its place in [`Causes::calls`].
    call: Option<u32>,
    /// Whether a function of Node does its work before it returns.
    is_sync: bool,
}

impl Causes {
    /// Returns the causes of a process.
    pub(super) fn of(process: &Process, index: &FrameIndex) -> Self {
        let mut causes = Self::default();
        for profile in process.threads.iter().flat_map(|thread| &thread.profiles) {
            causes.add(profile, index);
        }
        causes.sampled.retain(|_, us| *us > 0);
        causes.calls.retain(|cause, us| *us > 0 && cause.caller.is_some());
        causes
    }

    fn add(&mut self, profile: &ThreadProfile, index: &FrameIndex) {
        profile.downward(|mut context: Context, _, node| {
            if let FrameKind::Function(function) = index.kind(node.frame) {
                self.enter(&mut context, function as u32, index);
            }
            let times = profile.times(node);
            let us = times.self_us.saturating_add(times.blocked_us);
            let Self { sampled, calls, .. } = self;
            let cause = context.cause.map(|cause| &mut sampled[cause as usize]);
            let call = context.call.map(|call| &mut calls[call as usize]);
            for sum_us in cause.into_iter().chain(call) {
                *sum_us = sum_us.saturating_add(us);
            }
            context
        });
    }

    /// Returns the place of a cause in [`Causes::sampled`].
    fn number(&mut self, source: WorkSource, caller: Option<u32>) -> u32 {
        number_in(&mut self.sampled, source, caller)
    }

    /// Goes on to a function that the one of the context calls.
    fn enter(&mut self, context: &mut Context, function: u32, index: &FrameIndex) {
        let SourceFunction { name, file, .. } = &index.functions[function as usize];
        let SourceFile { path, is_module, .. } = &index.files[*file];
        // What a native function calls has the cause of that function.
        if *is_module {
            return;
        }
        let file_of = |function: u32| index.functions[function as usize].file;
        let package = |function: u32| index.files[file_of(function)].package;
        if path.is_empty() {
            match (name.as_str(), context.code, context.loading) {
                (ADDON_FUNCTION, Some(code), _) => {
                    let is_users = is_users(&index.packages[package(code)]);
                    let caller = if is_users { context.caller } else { context.outside };
                    let source = WorkSource::Addon(package(code));
                    // A package that calls its addon while it is loaded sets the addon up.
                    context.cause = caller.is_some().then(|| self.number(source, caller));
                }
                ("dlopen", _, Some(code)) if !self.loaders.contains(&package(code)) => {
                    self.loaders.push(package(code));
                }
                _ => {}
            }
            return;
        }
        let Some(module) = path.strip_prefix("node:") else {
            let is_same_file = |code: u32| file_of(code) == *file;
            if context.code.is_some_and(|code| package(code) != package(function)) {
                context.outside = context.caller;
            }
            // `hash` tells more than the callback in it.
            if !(context.code.is_some_and(is_same_file) && is_nameless(name)) {
                context.caller = Some(function);
            }
            let is_own = |code: u32| is_users(&index.packages[package(code)]);
            context.call = match context.code {
                Some(code) if is_own(code) && !is_own(function) => {
                    let source = WorkSource::Addon(package(function));
                    Some(number_in(&mut self.calls, source, context.outside))
                }
                _ if is_own(function) => None,
                _ => context.call,
            };
            // A callback is not the work of what calls it.
            (context.code, context.cause, context.is_sync) = (Some(function), None, false);
            return;
        };
        if module.starts_with("internal/modules/") {
            // The functions above have asked for a module, and not for its work.
            let loading = context.code.or(context.loading);
            *context = Context { loading, ..Context::default() };
        } else if module.starts_with("internal/bootstrap/") {
            // Node loads a module of its own: the body of `internal/crypto/webcrypto` asks for no work.
            context.is_sync = true;
        } else if context.cause.is_none() && !context.is_sync {
            context.is_sync = name.ends_with("Sync");
            let source = if context.is_sync { None } else { source(module, name) };
            context.cause = source.map(|source| self.number(source, context.caller));
        }
    }

    /// Returns whether nothing was sampled that gives work to native threads, but short work with files.
    pub(super) fn is_empty(&self) -> bool {
        let has_threads = |cause: &&Cause| cause.source != WorkSource::Files;
        self.loaders.is_empty() && self.sorted(has_threads).is_empty()
    }

    /// Returns who gave work to libuv's pool, the longest sampled first; nobody if that is not sure. `us` is
    /// the CPU time of the pool.
    pub(super) fn of_pool(&self, us: u64, index: &FrameIndex) -> Vec<&Cause> {
        let of_node = self.sorted(|cause| matches!(cause.source, WorkSource::Node(_)));
        if !self.loaders.is_empty() || self.has_addon() {
            // An addon can use the pool too.
            let of_addon = self.of_addon(None, index);
            let uses_pool = |cause: &&Cause| match cause.source {
                WorkSource::Addon(package) => POOL_ADDONS.contains(&&*index.packages[package]),
                _ => false,
            };
            let is_sure = of_node.is_empty() && of_addon.iter().all(uses_pool);
            return if is_sure { of_addon } else { Vec::new() };
        }
        if !of_node.is_empty() {
            let source = &of_node[0].source;
            // Of two sources, either can be the one that took long.
            let is_one = of_node.iter().all(|cause| cause.source == *source);
            return if is_one { of_node } else { Vec::new() };
        }
        let files = self.sorted(|cause| cause.source == WorkSource::Files);
        let asked_us: u64 = files.iter().map(|cause| self.sampled[*cause]).sum();
        // The pool takes about as long for a file as the thread takes to ask for it.
        if asked_us.saturating_mul(MAX_FILE_FACTOR) >= us { files } else { Vec::new() }
    }

    /// Returns who gave work to threads of an addon, the longest sampled first; nobody if that is not sure.
    /// `package` is the package that is known to have such threads.
    pub(super) fn of_addon(&self, package: Option<&str>, index: &FrameIndex) -> Vec<&Cause> {
        let addon = |cause: &Cause| match cause.source {
            WorkSource::Addon(package) => Some(package),
            _ => None,
        };
        let all = self.sorted(|cause| addon(cause).is_some());
        if let Some(package) = package {
            let is_of =
                |cause: &&Cause| addon(cause).is_some_and(|of| index.packages[of] == package);
            return all.into_iter().filter(is_of).collect();
        }
        if all.is_empty()
            && let [loader] = self.loaders[..]
        {
            // A call of an addon that only begins the work is too short for a sample.
            return sorted(&self.calls, |cause| addon(cause) == Some(loader));
        }
        let first = all.first().and_then(|cause| addon(cause));
        let is_one = all.iter().all(|cause| addon(cause) == first) && self.loaders.len() < 2;
        if is_one { all } else { Vec::new() }
    }

    fn has_addon(&self) -> bool {
        self.sampled.keys().any(|cause| matches!(cause.source, WorkSource::Addon(_)))
    }

    fn sorted(&self, is_wanted: impl Fn(&&Cause) -> bool) -> Vec<&Cause> {
        sorted(&self.sampled, is_wanted)
    }
}

/// Causes with their times.
type CauseTimes = IndexMap<Cause, u64, FxBuildHasher>;

/// Returns the place of a cause.
fn number_in(times: &mut CauseTimes, source: WorkSource, caller: Option<u32>) -> u32 {
    let caller = caller.map(|caller| caller as usize);
    let entry = times.entry(Cause { source, caller });
    let number = entry.index();
    entry.or_default();
    number as u32
}

/// Returns the wanted causes, the longest first; of a source with callers only these.
fn sorted(times: &CauseTimes, is_wanted: impl Fn(&&Cause) -> bool) -> Vec<&Cause> {
    let mut causes: Vec<&Cause> = times.keys().filter(is_wanted).collect();
    let has_caller = |source: &WorkSource| {
        let of = |cause: &Cause| cause.source == *source && cause.caller.is_some();
        times.keys().any(of)
    };
    causes.retain(|cause| cause.caller.is_some() || !has_caller(&cause.source));
    causes.cold_sort_by_key(|cause| (Reverse(times[*cause]), cause.caller));
    causes
}

fn is_nameless(name: &str) -> bool {
    name == "(anonymous)" || name.starts_with("callback of ")
}

/// Returns what a function of Node gives to the pool; none if it does not, or if it does its work before it
/// returns. `module` is its file without `node:`.
fn source(module: &str, name: &str) -> Option<WorkSource> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let is_one_of = |names: &[&str]| names.contains(&name);
    let is_api = match module {
        "internal/crypto/pbkdf2" => name == "pbkdf2",
        "internal/crypto/scrypt" => name == "scrypt",
        "internal/crypto/hkdf" => name == "hkdf",
        "internal/crypto/keygen" => is_one_of(&["generateKeyPair", "generateKey"]),
        "internal/crypto/random" => is_one_of(&["generatePrime", "checkPrime"]),
        "internal/crypto/webcrypto" => {
            return (!name.is_empty()).then(|| WorkSource::Node(format!("crypto.subtle.{name}")));
        }
        "zlib" => return Some(WorkSource::Node("zlib".into())),
        "fs" | "internal/fs/promises" | "internal/fs/streams" => return Some(WorkSource::Files),
        _ => false,
    };
    is_api.then(|| WorkSource::Node(format!("crypto.{name}")))
}
