//! Functions of native modules.

use std::env::current_exe;

use super::*;
use crate::names::originals::Places;
use crate::read::selection::Selection;
use cpu_prof_core::profile::read_scope::ReadScope;

/// Returns a profile with a function of this program, its address, and the build of the program.
fn profile() -> (Value, String) {
    let path = current_exe().unwrap();
    let address = address_of_this(&path);
    let file = fs::read(&path).unwrap();
    let elf = object::File::parse(&*file).unwrap();
    let build = cpu_prof_core::format::elf::build_of(&elf).to_string();
    let native = json!({
        "functionName": format!("program+0x{address:x}"), "scriptId": "7", "url": path,
        "lineNumber": -1, "columnNumber": -1, "origin": "module", "buildId": build, "package": "(native)",
    });
    let root = json!({ "functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1 });
    let nodes =
        json!([{ "id": 1, "callFrame": root, "children": [2] }, { "id": 2, "callFrame": native }]);
    let profile = json!({
        "nodes": nodes, "startTime": 1000, "endTime": 3000, "samples": [2, 2], "timeDeltas": [1000, 1000],
    });
    (profile, build)
}

/// Returns the address of a function of this module in the file of the program.
#[inline(never)]
fn address_of_this(path: &std::path::Path) -> u64 {
    use object::{Object, ObjectSymbol};
    let file = fs::read(path).unwrap();
    let elf = object::File::parse(&*file).unwrap();
    // With a hash, and in newer names without.
    let is_this =
        |name: &str| name.contains("15address_of_this17h") || name.ends_with("15address_of_this");
    let found = elf.symbols().find(|symbol| symbol.name().is_ok_and(is_this));
    found.unwrap().address()
}

const NAME: &str = "cpu_prof_tools::merge::tests::native::address_of_this";

fn native_frame(trace: &Value) -> Value {
    let chunks = named(trace, "ProfileChunk");
    let nodes = chunks.iter().flat_map(|chunk| {
        chunk["args"]["data"]["cpuProfile"]["nodes"].as_array().into_iter().flatten()
    });
    let mut frames = nodes.map(|node| &node["callFrame"]);
    frames.rfind(|frame| frame["origin"] == "module").unwrap().clone()
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "programs are ELF files on Linux")]
fn native_functions_are_named() {
    let (profile, build) = profile();
    let options = MergeOptions { source_maps: true, ..MergeOptions::default() };
    let first = run(&[profile.to_string().as_bytes()], &options);
    let frame = native_frame(&first.trace());
    assert_eq!(frame["functionName"], NAME);
    assert_eq!((&frame["buildId"], &frame["package"]), (&json!(build), &json!("(native)")));
    assert_eq!(frame["lineNumber"], -1);
    // A merged trace is merged again without its modules.
    let elsewhere =
        first.trace().to_string().replace(current_exe().unwrap().to_str().unwrap(), "/absent");
    let again = run(&[elsewhere.as_bytes()], &options);
    assert_eq!(native_frame(&again.trace())["functionName"], NAME);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "programs are ELF files on Linux")]
fn native_functions_have_names_without_source_maps_when_they_are_shown() {
    let (profile, _) = profile();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.cpuprofile");
    fs::write(&file, profile.to_string()).unwrap();
    let names = |selection: Selection| {
        let loaded = selection.load(std::slice::from_ref(&file), ReadScope::SAMPLES).unwrap();
        let mut frames = loaded.session.frames.list().iter();
        let name = frames.rfind(|frame| frame.module().is_some()).unwrap().function_name.clone();
        (name, loaded.notes)
    };
    for source_maps in [false, true] {
        assert_eq!(names(Selection { source_maps, ..Selection::default() }).0, NAME);
    }
    let places = Places { within: Some(dir.path().into()), symbols: Vec::new() };
    let (name, notes) = names(Selection { places, ..Selection::default() });
    assert!(name.starts_with("program+0x"), "{name}");
    assert!(notes[0].contains("outside of the folder"), "{notes:?}");
}
