//! Lines of a journal.

use core::fmt::Debug;

use rolecall::journal::{Header, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) fn line(text: &[u8]) {
    if let Ok(header) = serde_json::from_slice::<Header>(text) {
        survives(&header);
    }
    if let Ok(record) = serde_json::from_slice::<Record>(text) {
        survives(&record);
    }
}

/// Checks that a parsed value reads the same after it is written.
fn survives<T: Debug + PartialEq + Serialize + DeserializeOwned>(value: &T) {
    let text = serde_json::to_string(value).expect("what was read can be written");
    let again: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(again, *value, "{text}");
}
