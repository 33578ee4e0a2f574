#![no_main]

#[path = "../../tests/src/fuzz/node_events.rs"]
mod node_events;

libfuzzer_sys::fuzz_target!(|data: &[u8]| node_events::run(data));
