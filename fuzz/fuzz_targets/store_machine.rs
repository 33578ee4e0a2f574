#![no_main]

#[path = "../../tests/src/fuzz/bytes.rs"]
mod bytes;
#[path = "../../tests/src/fuzz/store_machine/mod.rs"]
mod store_machine;

libfuzzer_sys::fuzz_target!(|data: &[u8]| store_machine::run(data));
