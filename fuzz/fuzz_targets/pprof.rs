#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cpu_prof_tools::fuzzing::pprof(bytes));
