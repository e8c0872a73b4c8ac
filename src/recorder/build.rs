//! Lets the linker leave Node-API's symbols to the process that loads the addon.

fn main() {
    napi_build::setup();
}
