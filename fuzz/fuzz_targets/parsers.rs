#![no_main]

#[path = "../../tests/src/fuzz/parsers/mod.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| parsers::run(data));
