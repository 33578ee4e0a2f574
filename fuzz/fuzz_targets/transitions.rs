#![no_main]

#[path = "../../tests/src/fuzz/bytes.rs"]
mod bytes;
#[path = "../../tests/src/fuzz/transitions/mod.rs"]
mod transitions;

libfuzzer_sys::fuzz_target!(|data: &[u8]| transitions::run(data));
