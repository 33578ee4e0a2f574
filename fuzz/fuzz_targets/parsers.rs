#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rolecall_tests::fuzz::parsers::run(data));
