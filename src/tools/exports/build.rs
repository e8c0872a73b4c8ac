//! Lets the linker leave Node-API's symbols to the process that loads the addon.

fn main() {
    napi_build::setup();
    // Rust's library names libraries of macOS that the addon takes nothing from.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-dead_strip_dylibs");
    }
}
