//! Finds the owners of stacks.
//!
//! A function belongs to a plugin or a rule if a tool has called it as one. Code that goes on after an
//! `await` has no caller in its stack: such a function still belongs to the plugin below which it was
//! seen in another stack.

use rustc_hash::FxHashMap;

use super::call_sites::{CALL_SITES, CONTINUED_TAPS, SitesOf, continues_hook, is_wrapper};
use super::code_owner::{CodeOwner, ESLINT, OwnedCode, OwnerKind};
use crate::shared::frame_index::{FrameIndex, SourceFunction};
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_core::profile::package::{is_built_in, is_native};

/// Finds the owners of stacks, and numbers them.
#[derive(Debug, Default)]
pub(crate) struct OwnerFinder {
    names: FxIndexSet<CodeOwner>,
    /// Roles of the functions, by their indices.
    roles: Vec<Role>,
    /// Owners of functions, by what the owners depend on; none for built-in code.
    of_functions: FxHashMap<(usize, Calling), Option<usize>>,
    /// Plugins of the functions that are in their code.
    of_plugins: FxHashMap<usize, usize>,
    /// Whether one of the functions calls plugins or rules of a tool.
    has_tools: bool,
}

/// What is known of the stack that ends with a node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnedStack {
    /// Number of the owner.
    pub owner: Option<usize>,
    caller: SitesOf,
    is_linted: bool,
    /// Whether the stack has other code than Node's and native code.
    has_code: bool,
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
enum Role {
    /// Passes calls on: a function without a script.
    Native,
    /// Passes calls on: code without a file, that another function has compiled.
    Compiled { continues_hook: bool },
    /// Code of Node.
    Node,
    /// Passes the calls of a tool on.
    Wrapper,
    /// Other code.
    Code { sites: SitesOf, is_eslint: bool },
}

impl OwnerFinder {
    /// Returns the kinds and names of the owners, by their numbers.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.names.iter().map(|CodeOwner { kind, name, .. }| {
            let kind = match kind {
                OwnerKind::Rule => "rule",
                OwnerKind::Plugin => "plugin",
                OwnerKind::Test => "test",
                OwnerKind::TestFile => "test file",
                OwnerKind::Package => "package",
                OwnerKind::Own => "own code",
            };
            (kind, name.as_str())
        })
    }

    /// Learns which functions belong to plugins from a tree of calls: for each node, in the order of
    /// their numbers, the node above and the function.
    pub(crate) fn learn(
        &mut self,
        tree: impl Iterator<Item = (Option<u32>, Option<usize>)>,
        index: &FrameIndex,
    ) {
        self.read(index);
        if self.has_tools {
            self.walk(tree, index, |finder, stack, function| {
                let plugin = stack.owner.filter(|owner| {
                    let owner = &finder.names[*owner];
                    owner.kind == OwnerKind::Plugin && code(function, index).is_of(owner)
                });
                if let Some(plugin) = plugin {
                    finder.of_plugins.insert(function, plugin);
                }
            });
        }
    }

    /// Returns the stacks of the nodes of a tree, after all trees were learnt.
    pub(crate) fn stacks(
        &mut self,
        tree: impl Iterator<Item = (Option<u32>, Option<usize>)>,
        index: &FrameIndex,
    ) -> Vec<OwnedStack> {
        self.read(index);
        self.walk(tree, index, |_, _, _| {})
    }

    fn walk(
        &mut self,
        tree: impl Iterator<Item = (Option<u32>, Option<usize>)>,
        index: &FrameIndex,
        mut see: impl FnMut(&mut Self, OwnedStack, usize),
    ) -> Vec<OwnedStack> {
        let mut stacks: Vec<OwnedStack> = Vec::with_capacity(tree.size_hint().0);
        for (above, function) in tree {
            let above = above.and_then(|above| stacks.get(above as usize).copied());
            let above = above.unwrap_or_default();
            let stack = function.map_or(above, |function| {
                let stack = self.below(above, function, index);
                see(self, stack, function);
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
            if let Role::Code { sites, .. } = role {
                self.has_tools |= sites != SitesOf::default();
            }
            self.roles.push(role);
        }
    }

    /// Returns the stack with one more function.
    fn below(&mut self, above: OwnedStack, function: usize, index: &FrameIndex) -> OwnedStack {
        let (sites, is_eslint, is_wrapper) = match self.roles[function] {
            Role::Native => return above,
            Role::Compiled { continues_hook } => {
                return OwnedStack { is_compiled: true, is_continued: continues_hook, ..above };
            }
            Role::Node => {
                let OwnedStack { owner, is_linted, has_code, .. } = above;
                return OwnedStack { owner, is_linted, has_code, ..OwnedStack::default() };
            }
            Role::Wrapper => (above.caller, false, true),
            Role::Code { sites, is_eslint } => (sites, is_eslint, false),
        };
        let site = match above {
            OwnedStack { is_compiled: false, caller, .. } => caller.direct,
            OwnedStack { is_continued: true, caller, .. } => caller.taps.or(Some(CONTINUED_TAPS)),
            OwnedStack { caller, .. } => caller.taps,
        };
        let site = site.filter(|_| !is_wrapper);
        let known = match above.has_code {
            true => None,
            false => self.of_plugins.get(&function).copied(),
        };
        let calling = Calling { site, is_linted: above.is_linted };
        let own = known.or_else(|| self.owner_of(function, calling, index));
        let owner = match (own, above.owner) {
            (Some(own), Some(caller)) if self.names[own].helps(&self.names[caller]) => Some(caller),
            (own, caller) => own.or(caller),
        };
        OwnedStack {
            owner,
            caller: sites,
            is_linted: above.is_linted || is_eslint,
            has_code: true,
            is_compiled: false,
            is_continued: false,
        }
    }

    fn owner_of(&mut self, function: usize, calling: Calling, index: &FrameIndex) -> Option<usize> {
        if let Some(known) = self.of_functions.get(&(function, calling)) {
            return *known;
        }
        let code = code(function, index);
        let called = calling.site.and_then(|site| code.called_by(&CALL_SITES[usize::from(site)]));
        let owner = called.or_else(|| code.owner(calling.is_linted));
        let owner = owner.map(|owner| self.names.insert_full(owner).0);
        self.of_functions.insert((function, calling), owner);
        owner
    }
}

fn code(function: usize, index: &FrameIndex) -> OwnedCode<'_> {
    let SourceFunction { name, file, .. } = &index.functions[function];
    let file = &index.files[*file];
    OwnedCode { path: &file.path, package: &index.packages[file.package], function: name }
}

fn role_of(function: usize, index: &FrameIndex) -> Role {
    let OwnedCode { path, package, function: name } = code(function, index);
    match package {
        _ if is_native(package) && index.functions[function].line > 0 => {
            Role::Compiled { continues_hook: continues_hook(name) }
        }
        _ if is_native(package) => Role::Native,
        _ if is_built_in(package) => Role::Node,
        _ if is_wrapper(package) => Role::Wrapper,
        _ => Role::Code { sites: SitesOf::of(package, path, name), is_eslint: package == ESLINT },
    }
}
