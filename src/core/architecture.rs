//! Tests the rules of ARCHITECTURE.md: who may use whom, and where special code may stand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The folders of each crate in steps. A folder uses only folders of the steps before its own; Cargo keeps the
/// crates apart.
const STEPS: [(&str, &[&[&str]]); 6] = [
    ("core", &[&["base"], &["profile"], &["format", "files"]]),
    ("session", &[&["model"], &["formats"]]),
    ("recorder", &[&["sampler"], &["record"], &["exports"]]),
    (
        "tools",
        &[
            &["names", "wall"],
            &["read"],
            &["analysis", "merge", "check", "border"],
            &["page", "follow"],
            &["report", "convert"],
            &["compare"],
        ],
    ),
    ("remote", &[&["layout", "http_client"], &["live", "store", "push"], &["lake"]]),
    ("addon", &[&["tables", "slices"], &["exports"]]),
];

/// The folders of crates, below the root of the repository: each folder in one of these is a crate or has one.
const ROOTS: [&str; 2] = ["src", "packages/fleet/src"];

/// Where `napi` may be named: the exports, V8's side of the sampler, and what belongs to a thread's
/// environment.
const NAPI_ROOMS: [&str; 11] = [
    "recorder/exports/",
    "tools/exports/",
    "tools/border/",
    "addon/exports/",
    "recorder/sampler/v8/",
    "recorder/sampler/walk/",
    "recorder/record/thread/armed.rs",
    "recorder/record/thread/conditions.rs",
    "recorder/record/thread/start.rs",
    "recorder/record/thread/exit_hooks.rs",
    "recorder/record/process/host.rs",
];

/// Where `unsafe` may stand. `napi`'s macros also write it into `exports/`.
const UNSAFE_ROOMS: [&str; 6] = [
    "recorder/sampler/v8/",
    "recorder/sampler/walk/",
    "recorder/sampler/native/ticks/",
    "recorder/record/process/signals/",
    "core/base/system/",
    "addon/exports/push/thread.rs",
];

/// Where code may be of one system: name the system in a `cfg`, or use a library of the system. A type
/// may have the same name there as that of another system.
const SYSTEM_ROOMS: [&str; 2] = ["recorder/record/process/signals/", "core/base/system/"];

/// The libraries of one system or of a family of systems.
const SYSTEM_LIBRARIES: [&str; 3] = ["libc", "mach2", "windows_sys"];

/// The conditions of a `cfg` that are about the system.
const SYSTEM_CONDITIONS: [&str; 3] = ["target_", "unix", "windows"];

/// What only tests use.
const TEST_HELPERS: [&str; 3] = ["core/architecture.rs", "core/testing/", "tools/agreement.rs"];

/// Lines of a file before its tests.
const MAX_LINES: usize = 600;

/// Where the tests of a file begin.
const TESTS: &str = "\n#[cfg(test)]\nmod tests {";

/// A source file, or a part of it.
#[derive(Debug, Default)]
struct SourceText {
    /// Path below one of the roots, with slashes.
    path: String,
    text: String,
}

/// The facts that the rules are about.
#[derive(Debug, Default)]
struct Facts {
    /// Paths of the file's `use` declarations and expressions. They begin with the crate's folder.
    uses: BTreeSet<Vec<String>>,
    /// Names of the public functions and constants that the file defines.
    public: Vec<String>,
    /// Names of the types that the file defines.
    types: Vec<String>,
    /// Names of the types that its `impl` blocks are for.
    implemented: Vec<String>,
    has_unsafe: bool,
    names_napi: bool,
    /// What makes the file one of a system.
    is_of_system: bool,
}

/// Returns each breach of a rule as a sentence that begins with a file.
fn breaches(files: &[SourceText]) -> Vec<String> {
    let modules: BTreeMap<Vec<String>, &str> =
        files.iter().map(|file| (module_of(&file.path), file.path.as_str())).collect();
    let mut breaches = Vec::new();
    let mut edges: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    let mut types: BTreeMap<String, &str> = BTreeMap::new();
    for file in files {
        let path = file.path.as_str();
        let in_rooms = |rooms: &[&str]| rooms.iter().any(|room| path.starts_with(room));
        let facts = match facts(file) {
            Ok(facts) => facts,
            Err(error) => {
                breaches.push(format!("{path} is not valid Rust: {error}"));
                continue;
            }
        };
        if !file.text.starts_with("//! ") {
            breaches
                .push(format!("{path} does not begin with a line (//!) that states its purpose"));
        }
        let lines = file.text.lines().count();
        if lines > MAX_LINES {
            breaches.push(format!("{path} has {lines} lines before its tests, over {MAX_LINES}"));
        }
        if facts.has_unsafe && !in_rooms(&UNSAFE_ROOMS) {
            breaches.push(format!("{path} has unsafe code, which stands only in {UNSAFE_ROOMS:?}"));
        }
        if facts.names_napi && !in_rooms(&NAPI_ROOMS) {
            breaches.push(format!("{path} names napi, which stands only in {NAPI_ROOMS:?}"));
        }
        if facts.is_of_system && !in_rooms(&SYSTEM_ROOMS) {
            breaches
                .push(format!("{path} is of one system, which stands only in {SYSTEM_ROOMS:?}"));
        }
        for name in facts.public {
            let of = crate_of(path);
            let is_silent = |file: &SourceText| crate_of(&file.path) == of || !names(file, &name);
            if is_library(of) && files.iter().all(is_silent) {
                breaches.push(format!("{path} makes public {name}, which no other crate names"));
            }
        }
        for name in facts.types {
            if let Some(other) = types.insert(name.clone(), path)
                && !in_rooms(&SYSTEM_ROOMS)
            {
                breaches.push(format!("{path} defines {name}, and so does {other}"));
            }
        }
        for target in targets(&facts.uses, &modules) {
            let (_, from, to) = parted(path, target);
            if from == to {
                continue;
            }
            if let (Some(from), Some(to)) = (step_of(path), step_of(target))
                && crate_of(path) == crate_of(target)
                && room_of(path) != room_of(target)
                && from <= to
            {
                breaches.push(format!("{path} uses {target}, whose folder is not below its own"));
            }
            let (folder, from, to) = parted(path, target);
            edges.entry(folder).or_default().entry(from).or_default().insert(to);
        }
    }
    for (folder, mut edges) in edges {
        while let Some(rooms) = cycle(&edges) {
            let rest = rooms[1..].join(", then ");
            breaches.push(format!("{folder}{} uses itself by way of {rest}", rooms[0]));
            // Opens this cycle, to find the others.
            edges.entry(rooms[0]).or_default().remove(rooms[1]);
        }
    }
    breaches
}

/// Returns whether a file has a name as a whole word.
fn names(file: &SourceText, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    file.text.match_indices(name).any(|(at, _)| {
        !file.text[..at].ends_with(is_word) && !file.text[at + name.len()..].starts_with(is_word)
    })
}

/// `core/profile/frame.rs` → `["core", "profile", "frame"]`
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

/// `core/profile/frame.rs` → `core/profile`
fn room_of(path: &str) -> Option<&str> {
    let (at, _) = path.match_indices('/').nth(1)?;
    Some(&path[..at])
}

/// `core/profile/frame.rs` → `core`; the addon of the tools is a crate within their folder.
fn crate_of(path: &str) -> &str {
    const NESTED: &str = "tools/exports";
    let folder = path.split('/').next().unwrap_or(path);
    if path.starts_with(NESTED) { NESTED } else { folder }
}

/// Returns whether other crates of the repository use a crate.
fn is_library(of: &str) -> bool {
    ["core", "session", "tools", "remote"].contains(&of)
}

/// Returns the step of a path's folder within its crate.
fn step_of(path: &str) -> Option<usize> {
    let (folder, name) = room_of(path)?.split_once('/')?;
    let (_, steps) = STEPS.iter().find(|(of, _)| *of == folder)?;
    steps.iter().position(|step| step.contains(&name))
}

/// Returns the folder that two files share, with a slash at its end, and the room in it where each
/// of them is: a file or a folder. A file `x.rs` and the folder `x` are one room.
fn parted<'a>(path: &'a str, target: &'a str) -> (&'a str, &'a str, &'a str) {
    let mut folders = path.match_indices('/').map(|(at, _)| at + 1).rev();
    let start = folders.find(|end| target.starts_with(&path[..*end])).unwrap_or(0);
    let room = |path: &'a str| {
        let below = &path[start..];
        below.split_once('/').map_or(below.trim_end_matches(".rs"), |(folder, _)| folder)
    };
    (&path[..start], room(path), room(target))
}

/// Returns the file that defines a path: of the longest module that the path begins with.
fn file_of<'a>(path: &[String], modules: &BTreeMap<Vec<String>, &'a str>) -> Option<&'a str> {
    (1..=path.len()).rev().find_map(|length| modules.get(&path[..length]).copied())
}

/// Returns the files that define the paths that a file names.
fn targets<'a>(
    uses: &BTreeSet<Vec<String>>,
    modules: &BTreeMap<Vec<String>, &'a str>,
) -> BTreeSet<&'a str> {
    uses.iter().filter_map(|used| file_of(used, modules)).collect()
}

/// Returns the rooms of one cycle of uses, if there is one.
fn cycle<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    fn follow<'a>(
        file: &'a str,
        edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<&'a str>> {
        if let Some(start) = way.iter().position(|other| *other == file) {
            let mut cycle = way[start..].to_vec();
            cycle.push(file);
            return Some(cycle);
        }
        if !done.insert(file) {
            return None;
        }
        way.push(file);
        let found =
            edges.get(file).into_iter().flatten().find_map(|next| follow(next, edges, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    edges.keys().find_map(|file| follow(file, edges, &mut Vec::new(), &mut done))
}

fn facts(file: &SourceText) -> syn::Result<Facts> {
    let mut collector = Collector { module: module_of(&file.path), facts: Facts::default() };
    collector.visit_file(&syn::parse_file(&file.text)?);
    Ok(collector.facts)
}

struct Collector {
    module: Vec<String>,
    facts: Facts,
}

impl Collector {
    /// Adds a path as it is written. `crate`, `self` and `super` are resolved, other first segments
    /// name crates or what the file has imported.
    fn add(&mut self, written: &[String]) {
        let mut path = match written.first().map(String::as_str) {
            Some("crate") => self.module[..1].to_vec(),
            Some("cpu_prof_core") => vec!["core".into()],
            Some("cpu_prof_session") => vec!["session".into()],
            Some("cpu_prof_tools") => vec!["tools".into()],
            Some("cpu_prof_remote") => vec!["remote".into()],
            Some("self") => self.module.clone(),
            Some("super") => self.module[..self.module.len().saturating_sub(1)].to_vec(),
            Some("napi" | "napi_derive") => {
                self.facts.names_napi = true;
                return;
            }
            Some(library) if SYSTEM_LIBRARIES.contains(&library) => {
                self.facts.is_of_system = true;
                return;
            }
            Some("std") if written.get(1).is_some_and(|part| part == "os") => {
                self.facts.is_of_system = true;
                return;
            }
            _ => {
                let mut child = self.module.clone();
                child.extend_from_slice(written);
                self.facts.uses.insert(child);
                return;
            }
        };
        for segment in &written[1..] {
            if segment == "super" {
                path.pop();
            } else {
                path.push(segment.clone());
            }
        }
        self.facts.uses.insert(path);
    }

    fn add_tree(&mut self, tree: &syn::UseTree, way: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                way.push(path.ident.to_string());
                self.add_tree(&path.tree, way);
                way.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_tree(item, way));
            }
            syn::UseTree::Name(name) => self.add_leaf(&name.ident, way),
            syn::UseTree::Rename(rename) => self.add_leaf(&rename.ident, way),
            syn::UseTree::Glob(_) => self.add(way),
        }
    }

    fn add_leaf(&mut self, name: &syn::Ident, way: &mut Vec<String>) {
        way.push(name.to_string());
        self.add(way);
        way.pop();
    }

    fn add_public(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.facts.public.push(name.to_string());
        }
    }

    /// Adds a condition of a `cfg`.
    fn add_condition(&mut self, tokens: &impl ToString) {
        let text = tokens.to_string();
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.facts.is_of_system |=
            words.any(|word| SYSTEM_CONDITIONS.iter().any(|condition| word.starts_with(condition)));
    }

    fn add_type(&mut self, name: &syn::Ident) {
        self.facts.types.push(name.to_string());
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let written: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if written.len() > 1 || written[0].starts_with("napi") {
            self.add(&written);
        }
        visit::visit_path(self, path);
    }

    fn visit_meta(&mut self, meta: &'ast syn::Meta) {
        if let syn::Meta::List(list) = meta
            && (list.path.is_ident("cfg") || list.path.is_ident("cfg_attr"))
        {
            self.add_condition(&list.tokens);
        }
        visit::visit_meta(self, meta);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if called.path.is_ident("cfg") {
            self.add_condition(&called.tokens);
        }
        visit::visit_macro(self, called);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add_public(&item.vis, &item.sig.ident);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add_public(&item.vis, &item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.add_public(&item.vis, &item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add_type(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.facts.has_unsafe = true;
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.facts.has_unsafe |= item.unsafety.is_some();
        if let syn::Type::Path(path) = &*item.self_ty
            && let Some(last) = path.path.segments.last()
        {
            self.facts.implemented.push(last.ident.to_string());
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.facts.has_unsafe |= signature.unsafety.is_some();
        visit::visit_signature(self, signature);
    }
}

/// Reads every source file.
fn whole_sources() -> Vec<SourceText> {
    fn read(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    let mut sources = Vec::new();
    for root in roots() {
        let mut files = Vec::new();
        read(&root, &mut files);
        sources.extend(files.into_iter().map(|file| SourceText {
            path: file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/"),
            text: fs::read_to_string(&file).unwrap(),
        }));
    }
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources
}

/// Returns the folders of `ROOTS`.
fn roots() -> [PathBuf; 2] {
    ROOTS.map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(root))
}

/// Returns whether a file holds only what tests use.
fn is_of_tests(path: &str) -> bool {
    path.ends_with("/tests.rs")
        || path.contains("/tests/")
        || TEST_HELPERS.iter().any(|helper| path.starts_with(helper))
}

/// Parts source files into what they are without their tests, and the tests. The files that hold only tests are
/// among these.
fn without_tests(whole: Vec<SourceText>) -> (Vec<SourceText>, Vec<SourceText>) {
    let (mut tests, mut sources): (Vec<_>, Vec<_>) =
        whole.into_iter().partition(|file| is_of_tests(&file.path));
    for SourceText { path, text } in &mut sources {
        if let Some(at) = text.find(TESTS) {
            tests.push(SourceText { path: path.clone(), text: text.split_off(at + 1) });
        }
    }
    (sources, tests)
}

fn sources() -> Vec<SourceText> {
    without_tests(whole_sources()).0
}

#[test]
fn the_rules_hold() {
    let sources = sources();
    assert!(sources.len() > 50, "only {} files were found", sources.len());
    let breaches = breaches(&sources);
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

/// Returns the files that each of some parts of files uses.
fn uses_of<'a>(
    parts: &'a [SourceText],
    modules: &BTreeMap<Vec<String>, &'a str>,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let facts: Vec<(&str, Facts)> =
        parts.iter().map(|file| (file.path.as_str(), facts(file).unwrap())).collect();
    let types: BTreeMap<&str, &str> = facts
        .iter()
        .flat_map(|(path, facts)| facts.types.iter().map(|name| (name.as_str(), *path)))
        .collect();
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, facts) in &facts {
        uses.entry(path).or_default().extend(targets(&facts.uses, modules));
        // Who has a value of the type calls its methods, wherever they stand.
        for name in &facts.implemented {
            if let Some(definition) = types.get(name.as_str()) {
                uses.entry(definition).or_default().insert(path);
            }
        }
    }
    uses
}

/// Prints the files that each file uses, and those that its tests use, as JSON on a line each:
/// `npm test -- --changed` follows them from what was changed to the exports and to the tests.
#[test]
fn prints_the_uses_of_files() {
    let (sources, tests) = without_tests(whole_sources());
    let modules: BTreeMap<Vec<String>, &str> = sources
        .iter()
        .chain(&tests)
        .map(|file| (module_of(&file.path), file.path.as_str()))
        .collect();
    let (uses, of_tests) = (uses_of(&sources, &modules), uses_of(&tests, &modules));
    assert!(uses["tools/exports/check.rs"].contains("tools/check/check.rs"));
    let inline = &of_tests["tools/compare/changes/change_points.rs"];
    assert!(inline.contains("tools/compare/changes/change_points.rs"), "{inline:?}");
    assert!(of_tests["tools/agreement.rs"].contains("tools/check/check.rs"));
    println!("\nuses: {}", from_root(&uses));
    println!("\nuses of tests: {}", from_root(&of_tests));
}

/// Returns all rooms of the steps: `core/base`.
fn all_rooms() -> Vec<String> {
    let of = |(folder, steps): &(&str, &'static [&'static [&'static str]])| {
        let folder = (*folder).to_owned();
        let names = steps.iter().copied().flatten();
        names.map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    STEPS.iter().flat_map(of).collect()
}

#[test]
fn permitted_paths_exist() {
    let rooms = all_rooms();
    let permitted =
        NAPI_ROOMS.iter().chain(&UNSAFE_ROOMS).chain(&SYSTEM_ROOMS).chain(&TEST_HELPERS).copied();
    for path in rooms.iter().map(String::as_str).chain(permitted) {
        let exists = roots().iter().any(|root| root.join(path).exists());
        assert!(exists, "{path} is permitted, but not there");
    }
}

/// Returns uses of files as JSON, with paths from the root of the repository.
fn from_root(uses: &BTreeMap<&str, BTreeSet<&str>>) -> String {
    let of = |path: &&str| {
        let [main, fleet] = ROOTS;
        let is_fleet = ["remote", "addon"].contains(&crate_of(path));
        format!("{}/{path}", if is_fleet { fleet } else { main })
    };
    let uses: BTreeMap<String, Vec<String>> =
        uses.iter().map(|(file, used)| (of(file), used.iter().map(of).collect())).collect();
    serde_json::to_string(&uses).unwrap()
}

#[test]
fn every_folder_has_a_step() {
    for file in sources() {
        let is_crate = crate_of(&file.path).contains('/');
        let known = room_of(&file.path).is_none() || is_crate || step_of(&file.path).is_some();
        assert!(known, "{} stands in a folder without a step", file.path);
    }
}

/// Returns the block of ARCHITECTURE.md with the rule: a line for each crate.
fn rule_block() -> String {
    let line = |(folder, steps): &(&str, &[&[&str]])| {
        let steps: Vec<String> = steps.iter().map(|step| step.join(", ")).collect();
        format!("{folder:<10} {}\n", steps.join(" < "))
    };
    STEPS.iter().map(line).collect()
}

/// Returns each room of the steps that the section 'Rooms' of a text does not name.
fn unnamed_rooms(text: &str) -> Vec<String> {
    let (_, section) = text.split_once("\n## Rooms\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let is_named = |room: &str| {
        let (folder, name) = room.split_once('/').unwrap();
        section.lines().any(|line| {
            line.contains(&format!("`{room}`"))
                || line.starts_with(&format!("- `{folder}/")) && line.contains(&format!("`{name}`"))
        })
    };
    all_rooms().into_iter().filter(|room| !is_named(room)).collect()
}

#[test]
fn the_page_of_the_architecture_has_the_rule_and_all_rooms() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(page).unwrap();
    let block = rule_block();
    assert!(text.contains(&format!("```\n{block}```")), "ARCHITECTURE.md lacks\n{block}");
    assert!(
        block
            .starts_with("core       base < profile < format, files\nsession    model < formats\n")
    );
    assert_eq!(unnamed_rooms(&text), [""; 0]);
    assert_eq!(unnamed_rooms("\n## Rooms\n\n## Words\n"), all_rooms());
}

#[test]
fn each_rule_can_be_broken() {
    let file = |path: &str, text: &str| SourceText { path: path.into(), text: text.into() };
    let long = format!("//! Long.\n{}", "\n".repeat(MAX_LINES));
    for (files, breach) in [
        (
            vec![
                file("tools/read/load.rs", "//! A.\nuse crate::merge::merge;"),
                file("tools/merge/mod.rs", "//! B."),
            ],
            "tools/read/load.rs uses tools/merge/mod.rs",
        ),
        (
            vec![
                file("core/format/url.rs", "//! A.\nfn f() { crate::files::input::open() }"),
                file("core/files/input.rs", "//! B."),
            ],
            "core/format/url.rs uses core/files/input.rs",
        ),
        (
            vec![
                file("tools/read/load.rs", "//! A.\nuse super::group::{self, add as _};"),
                file("tools/read/group.rs", "//! B.\nuse crate::read::load::Loaded;"),
            ],
            "tools/read/group uses itself by way of load",
        ),
        (
            vec![
                file("tools/read/mod.rs", "//! A.\npub use load::Loaded;"),
                file("tools/read/load.rs", "//! B.\nuse super::Other;"),
            ],
            "uses itself by way of",
        ),
        (
            vec![
                file("tools/merge/plan/times.rs", "//! A.\nuse crate::merge::output::Part;"),
                file("tools/merge/output/mod.rs", "//! B.\nuse super::plan::sizes::Sizes;"),
                file("tools/merge/plan/sizes.rs", "//! C."),
            ],
            "tools/merge/output uses itself by way of plan",
        ),
        (vec![file("core/files/input.rs", "//! A.\npub fn open() {}")], "open, which no"),
        (vec![file("core/files/input.rs", "//! A.\npub const OPEN: u32 = 0;")], "OPEN, which no"),
        (vec![file("core/profile/frame.rs", "//! A.\nuse napi::Env;")], "names napi"),
        (vec![file("core/profile/frame.rs", "//! A.\nfn f() { unsafe { g() } }")], "has unsafe"),
        (vec![file("core/profile/frame.rs", "//! A.\nunsafe fn f() {}")], "has unsafe code"),
        (vec![file("core/files/find.rs", "//! A.\nuse std::os::unix::fs::symlink;")], "one system"),
        (vec![file("core/files/find.rs", "//! A.\nfn f() { libc::getpid() }")], "of one system"),
        (
            vec![file("core/files/find.rs", "//! A.\n#[cfg(target_os = \"linux\")]\nfn f() {}")],
            "is of one",
        ),
        (vec![file("core/files/find.rs", "//! A.\nfn f() { cfg!(windows) }")], "is of one system"),
        (vec![file("core/profile/frame.rs", "fn f() {}")], "does not begin with a line"),
        (vec![file("core/profile/frame.rs", &long)], "lines before its tests"),
        (
            vec![
                file("tools/read/load.rs", "//! A.\nstruct Node;"),
                file("core/files/input.rs", "//! B.\nfn f() { enum Node {} }"),
            ],
            "defines Node, and so does",
        ),
    ] {
        let breaches = breaches(&files);
        assert!(
            matches!(breaches.as_slice(), [only] if only.contains(breach)),
            "{breach}: {breaches:?}"
        );
    }
}
