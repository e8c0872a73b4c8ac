//! Tests the rules of ARCHITECTURE.md: who may use whom, and where special code may stand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The folders in steps. A folder uses only folders of the steps before its own.
const STEPS: [&[&str]; 6] = [
    &["base"],
    &["profile"],
    &["sampler", "format", "files"],
    &["record", "read"],
    &["tools"],
    &["exports"],
];

/// Where `napi` may be named: the exports, V8's side of the sampler, and what belongs to a thread's
/// environment.
const NAPI_ROOMS: [&str; 6] = [
    "exports/",
    "sampler/v8/",
    "record/thread.rs",
    "record/lifecycle.rs",
    "record/worker_script.rs",
    "record/process.rs",
];

/// Where `unsafe` may stand. `napi`'s macros also write it into `exports/`.
const UNSAFE_ROOMS: [&str; 3] = ["sampler/v8/", "record/signals.rs", "base/system.rs"];

/// Lines of a file before its tests.
const MAX_LINES: usize = 400;

/// A source file without its tests.
#[derive(Debug, Default)]
struct SourceText {
    /// Path below `src/`, with slashes.
    path: String,
    text: String,
}

/// The facts that the rules are about.
#[derive(Debug, Default)]
struct Facts {
    /// Paths of the file's `use` declarations and expressions, from the crate's root.
    uses: BTreeSet<Vec<String>>,
    /// Names of the types that the file defines.
    types: Vec<String>,
    has_unsafe: bool,
    names_napi: bool,
}

/// Returns each breach of a rule as a sentence that begins with a file.
fn breaches(files: &[SourceText]) -> Vec<String> {
    let modules: BTreeMap<Vec<String>, &str> =
        files.iter().map(|file| (module_of(&file.path), file.path.as_str())).collect();
    let mut breaches = Vec::new();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
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
            breaches.push(format!("{path} does not begin with a line (//!) that tells its job"));
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
        for name in facts.types {
            if let Some(other) = types.insert(name.clone(), path) {
                breaches.push(format!("{path} defines {name}, and so does {other}"));
            }
        }
        for used in &facts.uses {
            let Some(target) = file_of(used, &modules) else { continue };
            if target == path {
                continue;
            }
            if let (Some(from), Some(to)) = (step_of(path), step_of(target))
                && folder_of(path) != folder_of(target)
                && from <= to
            {
                breaches.push(format!("{path} uses {target}, whose folder is not below its own"));
            }
            edges.entry(path).or_default().insert(target);
        }
    }
    while let Some(files) = circle(&edges) {
        breaches.push(format!("{} uses itself by way of {}", files[0], files[1..].join(", then ")));
        // Opens this circle, to find the others.
        edges.entry(files[0]).or_default().remove(files[1]);
    }
    breaches
}

/// `profile/call_tree.rs` → `["profile", "call_tree"]`
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

fn folder_of(path: &str) -> Option<&str> {
    path.split_once('/').map(|(folder, _)| folder)
}

fn step_of(path: &str) -> Option<usize> {
    let folder = folder_of(path)?;
    STEPS.iter().position(|step| step.contains(&folder))
}

/// Returns the file that defines a path: of the longest module that the path begins with.
fn file_of<'a>(path: &[String], modules: &BTreeMap<Vec<String>, &'a str>) -> Option<&'a str> {
    (1..=path.len()).rev().find_map(|length| modules.get(&path[..length]).copied())
}

/// Returns the files of one circle of uses, if there is one.
fn circle<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    fn follow<'a>(
        file: &'a str,
        edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<&'a str>> {
        if let Some(start) = way.iter().position(|other| *other == file) {
            let mut circle = way[start..].to_vec();
            circle.push(file);
            return Some(circle);
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
            Some("crate") => Vec::new(),
            Some("self") => self.module.clone(),
            Some("super") => self.module[..self.module.len().saturating_sub(1)].to_vec(),
            Some("napi" | "napi_derive") => {
                self.facts.names_napi = true;
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

    fn add_type(&mut self, name: &syn::Ident) {
        self.facts.types.push(name.to_string());
    }
}

impl<'ast> Visit<'ast> for Collector {
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
        visit::visit_item_impl(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.facts.has_unsafe |= signature.unsafety.is_some();
        visit::visit_signature(self, signature);
    }
}

/// Reads every source file, each up to its tests. Files that hold only tests are left out.
fn sources() -> Vec<SourceText> {
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    read(&root, &mut files);
    files.sort();
    let is_test = |path: &str| {
        path.ends_with("/tests.rs")
            || path.contains("/tests/")
            || path.starts_with("profile/test_windows/")
            || path == "architecture.rs"
    };
    let source = |file: PathBuf| {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(&file).unwrap();
        let end = text.find("\n#[cfg(test)]\nmod tests").map_or(text.len(), |at| at + 1);
        SourceText { path, text: text[..end].to_owned() }
    };
    files.into_iter().map(source).filter(|file| !is_test(&file.path)).collect()
}

#[test]
fn the_rules_hold() {
    let sources = sources();
    assert!(sources.len() > 50, "only {} files were found", sources.len());
    let breaches = breaches(&sources);
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

#[test]
fn every_folder_has_a_step() {
    for file in sources() {
        let known = folder_of(&file.path).is_none() || step_of(&file.path).is_some();
        assert!(known, "{} stands in a folder without a step", file.path);
    }
}

#[test]
fn each_rule_can_be_broken() {
    let file = |path: &str, text: &str| SourceText { path: path.into(), text: text.into() };
    let long = format!("//! Long.\n{}", "\n".repeat(MAX_LINES));
    for (files, breach) in [
        (
            vec![
                file("base/config.rs", "//! A.\nuse crate::tools::merge::run;"),
                file("tools/merge.rs", "//! B.\npub fn run() {}"),
            ],
            "base/config.rs uses tools/merge.rs",
        ),
        (
            vec![
                file("format/trace/mod.rs", "//! A.\nfn f() { crate::files::input::open() }"),
                file("files/input.rs", "//! B."),
            ],
            "format/trace/mod.rs uses files/input.rs",
        ),
        (
            vec![
                file("read/load.rs", "//! A.\nuse super::group::{self, add as _};"),
                file("read/group.rs", "//! B.\nuse crate::read::load::Loaded;"),
            ],
            "uses itself by way of",
        ),
        (
            vec![
                file("read/mod.rs", "//! A.\npub use load::Loaded;"),
                file("read/load.rs", "//! B.\nuse super::Other;"),
            ],
            "uses itself by way of",
        ),
        (vec![file("profile/frame.rs", "//! A.\nuse napi::Env;")], "names napi"),
        (vec![file("profile/frame.rs", "//! A.\nfn f() { unsafe { g() } }")], "has unsafe code"),
        (vec![file("profile/frame.rs", "//! A.\nunsafe fn f() {}")], "has unsafe code"),
        (vec![file("profile/frame.rs", "fn f() {}")], "does not begin with a line"),
        (vec![file("profile/frame.rs", &long)], "lines before its tests"),
        (
            vec![
                file("read/load.rs", "//! A.\nstruct Node;"),
                file("read/group.rs", "//! B.\nfn f() { enum Node {} }"),
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
