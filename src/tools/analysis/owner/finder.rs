//! Finds the owners of stacks.
//!
//! A function belongs to a plugin or a rule if a tool has called it as one. Code that goes on after an
//! `await` has no caller in its stack. Such a function belongs to a plugin if it was seen below the
//! plugin in another stack, or if its file has code of a plugin and does not start the tool itself.

use rustc_hash::{FxHashMap, FxHashSet};

use super::call_sites::{
    CALL_SITES, CONTINUED_TAPS, CallSite, SitesOf, calls_plugins, continues_hook, is_wrapper,
};
use super::code_owner::{CodeOwner, ESLINT, OwnedCode, OwnerKind};
use crate::analysis::frame_index::{FrameIndex, SourceFunction};
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::package::{is_built_in, is_native};

/// Finds the owners of stacks, and numbers them.
#[derive(Debug, Default)]
pub struct OwnerFinder {
    names: FxIndexSet<CodeOwner>,
    /// Roles of the functions, by their indices.
    roles: Vec<CallerRole>,
    /// Owners of functions, by what the owners depend on; none for built-in code.
    of_functions: FxHashMap<(usize, Calling), Option<u32>>,
    /// The owner that was looked up last, by the indices of the functions. Nearly all functions have one.
    last: Vec<Option<(Calling, Option<u32>)>>,
    /// The tools that called plugins and rules, by the numbers of the owners.
    tools: Vec<Option<&'static CallSite>>,
    /// Plugins of the functions that are in their code.
    of_plugins: FxHashMap<usize, u32>,
    /// Plugins of the files that have their code.
    files_of_plugins: FxHashMap<usize, u32>,
    /// Files that call a tool, and not as a part of a plugin, with the package of the tool.
    files_above_tools: FxHashSet<(usize, usize)>,
    /// Whether one of the functions calls plugins or rules of a tool.
    has_tools: bool,
    /// Whether one of the functions calls plugins by compiled code.
    has_taps: bool,
    /// Whether all trees were learnt.
    has_learnt: bool,
}

/// What is known of the stack that ends with a node.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnedStack {
    /// Number of the owner.
    pub owner: Option<u32>,
    /// The nearest function that is neither Node's nor native.
    code: Option<u32>,
    caller: SitesOf,
    is_linted: bool,
    /// Whether compiled code is below the caller.
    is_compiled: bool,
    /// Whether this compiled code continues a hook of tapable.
    is_continued: bool,
}

/// What the owner of a function depends on, besides the function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Calling {
    site: Option<u8>,
    is_linted: bool,
}

/// What a function does for the owners of the code that it calls.
#[derive(Debug, Clone, Copy)]
enum CallerRole {
    /// Passes calls on: a function without a script.
    Native,
    /// Passes calls on: code without a file, that another function has compiled.
    Compiled { continues_hook: bool },
    /// Code of Node.
    Node,
    /// Passes the calls of a tool on.
    Wrapper,
    /// Other code. `is_tool`: whether the package calls plugins, and does not go on in their callbacks.
    Code { sites: SitesOf, is_eslint: bool, is_tool: bool },
}

impl OwnerFinder {
    /// Returns the kinds and names of the owners, by their numbers.
    pub fn list(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.names.iter().map(|CodeOwner { kind, name, .. }| (kind.name(), name.as_str()))
    }

    /// Learns which functions belong to plugins from a tree of calls: for each node, in the order of
    /// their numbers, the node above and the function.
    pub fn learn(
        &mut self,
        tree: impl Iterator<Item = (Option<u32>, Option<usize>)>,
        index: &FrameIndex,
    ) {
        self.read(index);
        if self.has_tools {
            self.walk(tree, index, |finder, above, stack, function| {
                finder.notice(above, stack, function, index);
            });
        }
    }

    /// Returns the stacks of the nodes of a tree, after all trees were learnt.
    pub fn stacks(
        &mut self,
        tree: impl Iterator<Item = (Option<u32>, Option<usize>)>,
        index: &FrameIndex,
    ) -> Vec<OwnedStack> {
        self.read(index);
        self.has_learnt = true;
        self.walk(tree, index, |_, _, _, _| {})
    }

    fn walk(
        &mut self,
        tree: impl Iterator<Item = (Option<u32>, Option<usize>)>,
        index: &FrameIndex,
        mut see: impl FnMut(&mut Self, OwnedStack, OwnedStack, usize),
    ) -> Vec<OwnedStack> {
        let mut stacks: Vec<OwnedStack> = Vec::with_capacity(tree.size_hint().0);
        for (above, function) in tree {
            let above = above.and_then(|above| stacks.get(above as usize).copied());
            let above = above.unwrap_or_default();
            let stack = function.map_or(above, |function| {
                let stack = self.below(above, function, index);
                see(self, above, stack, function);
                stack
            });
            stacks.push(stack);
        }
        stacks
    }

    /// Finds the roles of the functions that are new in the index.
    fn read(&mut self, index: &FrameIndex) {
        for function in self.roles.len()..index.functions.len() {
            let role = role_of(function, index);
            if let CallerRole::Code { sites, .. } = role {
                self.has_tools |= sites != SitesOf::default();
                self.has_taps |= sites.taps.is_some();
            }
            self.roles.push(role);
            self.last.push(None);
        }
    }

    /// Returns the stack with one more function.
    fn below(&mut self, above: OwnedStack, function: usize, index: &FrameIndex) -> OwnedStack {
        let (sites, is_eslint, is_wrapper) = match self.roles[function] {
            CallerRole::Native => return above,
            CallerRole::Compiled { continues_hook } => {
                let calling = Calling { site: None, is_linted: above.is_linted };
                let owner = above.owner.or_else(|| self.owner_of(function, calling, index));
                return OwnedStack {
                    owner,
                    is_compiled: true,
                    is_continued: continues_hook,
                    ..above
                };
            }
            CallerRole::Node => {
                let OwnedStack { owner, is_linted, code, .. } = above;
                return OwnedStack { owner, is_linted, code, ..OwnedStack::default() };
            }
            CallerRole::Wrapper => (above.caller, false, true),
            CallerRole::Code { sites, is_eslint, .. } => (sites, is_eslint, false),
        };
        let site = match above {
            OwnedStack { is_compiled: false, caller, .. } => caller.direct,
            // In a run without webpack, a framework continues its own copy of tapable.
            OwnedStack { is_continued: true, caller, .. } if self.has_taps => {
                caller.taps.or(Some(CONTINUED_TAPS))
            }
            OwnedStack { caller, .. } => caller.taps,
        };
        let site = site.filter(|_| !is_wrapper);
        let continued = match above.code {
            None if self.has_learnt => self.continued(function, index),
            _ => None,
        };
        let calling = Calling { site, is_linted: above.is_linted };
        let own = continued.or_else(|| self.owner_of(function, calling, index));
        let owner = match (own, above.owner) {
            (Some(own), Some(caller)) if self.helps(own, caller) => Some(caller),
            (own, caller) => own.or(caller),
        };
        OwnedStack {
            owner,
            caller: sites,
            is_linted: above.is_linted || is_eslint,
            code: Some(function as u32),
            is_compiled: false,
            is_continued: false,
        }
    }

    /// Returns whether the work of an owner counts for another owner, which called.
    fn helps(&self, own: u32, caller: u32) -> bool {
        let helper = &self.names[own as usize];
        let resumed = self.tool(caller).map_or(&[][..], |tool| tool.resumed);
        let is_resumed = helper.kind == OwnerKind::Package && resumed.contains(&&*helper.name);
        !is_resumed && helper.helps(&self.names[caller as usize])
    }

    /// Returns the tool that called a plugin or a rule.
    fn tool(&self, owner: u32) -> Option<&'static CallSite> {
        self.tools.get(owner as usize).copied().flatten()
    }

    /// Learns from one more function of a stack.
    fn notice(
        &mut self,
        above: OwnedStack,
        stack: OwnedStack,
        function: usize,
        index: &FrameIndex,
    ) {
        let CallerRole::Code { is_tool, .. } = self.roles[function] else { return };
        let is_plugin = |owner: &u32| self.names[*owner as usize].kind.is_plugin();
        let file = |function: usize| index.functions[function].file;
        let package = |function: usize| index.files[file(function)].package;
        if let Some(plugin) = stack.owner.filter(is_plugin)
            && code(function, index).is_of(&self.names[plugin as usize])
        {
            self.of_plugins.insert(function, plugin);
            self.files_of_plugins.insert(file(function), plugin);
        }
        if let Some(caller) = above.code.filter(|_| is_tool)
            && package(caller as usize) != package(function)
            && !above.owner.is_some_and(|owner| is_plugin(&owner))
        {
            self.files_above_tools.insert((file(caller as usize), package(function)));
        }
    }

    /// Returns the plugin whose code a function at the start of a stack continues.
    fn continued(&self, function: usize, index: &FrameIndex) -> Option<u32> {
        if let Some(plugin) = self.of_plugins.get(&function) {
            return Some(*plugin);
        }
        let SourceFunction { file, line, column, .. } = &index.functions[function];
        let plugin = *self.files_of_plugins.get(file)?;
        let tool = index.packages.get_index_of(self.tool(plugin)?.package)?;
        let is_module = (*line, *column) <= (1, 1);
        (!is_module && !self.files_above_tools.contains(&(*file, tool))).then_some(plugin)
    }

    fn owner_of(&mut self, function: usize, calling: Calling, index: &FrameIndex) -> Option<u32> {
        if let Some((_, owner)) = self.last[function].filter(|(last, _)| *last == calling) {
            return owner;
        }
        let known = self.of_functions.get(&(function, calling)).copied();
        let owner = known.unwrap_or_else(|| {
            let owner = self.find(function, calling, index);
            self.of_functions.insert((function, calling), owner);
            owner
        });
        self.last[function] = Some((calling, owner));
        owner
    }

    fn find(&mut self, function: usize, calling: Calling, index: &FrameIndex) -> Option<u32> {
        let code = code(function, index);
        let tool = calling.site.map(|site| &CALL_SITES[usize::from(site)]);
        let called = tool.and_then(|tool| code.called_by(tool));
        let tool = tool.filter(|_| called.is_some());
        let owner = called.or_else(|| code.owner(calling.is_linted))?;
        let (number, _) = self.names.insert_full(owner);
        if number >= self.tools.len() {
            self.tools.push(None);
        }
        if tool.is_some() {
            self.tools[number] = tool;
        }
        Some(number as u32)
    }
}

fn code(function: usize, index: &FrameIndex) -> OwnedCode<'_> {
    let SourceFunction { name, file, .. } = &index.functions[function];
    let file = &index.files[*file];
    OwnedCode { path: &file.path, package: &index.packages[file.package], function: name }
}

fn role_of(function: usize, index: &FrameIndex) -> CallerRole {
    let OwnedCode { path, package, function: name } = code(function, index);
    match package {
        _ if index.functions[function].text > 0 => {
            CallerRole::Compiled { continues_hook: continues_hook(name) }
        }
        _ if is_native(package) => CallerRole::Native,
        _ if is_built_in(package) => CallerRole::Node,
        _ if is_wrapper(package) => CallerRole::Wrapper,
        _ => CallerRole::Code {
            sites: SitesOf::of(package, path, name),
            is_eslint: package == ESLINT,
            is_tool: calls_plugins(package),
        },
    }
}
