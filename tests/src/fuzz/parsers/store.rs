//! Names and data of znodes, and store URLs.

use core::str::from_utf8;
use core::time::Duration;

use rolecall::store::StoreUrl;
use rolecall::store::zookeeper::record::{EntryData, OwnEntry, TermData};
use rolecall::store::zookeeper::znode::{candidate_name, entry_name, parse_candidate, parse_entry};
use rolecall_core::Directory;

pub(super) fn names(text: &[u8]) {
    let Ok(name) = from_utf8(text) else { return };
    if let Some(candidate) = parse_candidate(name) {
        match candidate_name(candidate) {
            Some(written) => assert_eq!(written, name),
            None => assert!(name.ends_with(&format!("latch-{:010}", candidate.sequence)), "{name}: {candidate:?}"),
        }
    }
    if let Some((id, session)) = parse_entry(name) {
        assert_eq!(entry_name(id, session), name);
    }
}

pub(super) fn term(data: &[u8]) {
    if let Some(term) = TermData::parse(data) {
        assert_eq!(TermData::parse(&term.to_bytes()), Some(term));
    }
}

pub(super) fn entry(data: &[u8]) {
    let Some(entry) = EntryData::parse(data) else { return };
    let address = entry.address.as_ref().map(|address| address.rsplit_once(':').expect("an address has a port"));
    let bare = |(host, port): (&'_ str, &str)| {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        (host, port.parse().expect("a port is a number"))
    };
    let address = address.map(bare);
    let own = OwnEntry {
        id: "a",
        address: address.as_ref().map(|(host, port)| (host.as_str(), *port)),
        path: None,
        epoch: entry.epoch,
        session_timeout: entry.session_timeout.unwrap_or(Duration::ZERO),
        metadata: &entry.metadata,
        registered_ms: 0,
    };
    let read = EntryData::parse(&own.to_bytes(Directory::Workers)).expect("what a node writes can be read");
    assert_eq!(read, EntryData { session_timeout: Some(own.session_timeout), ..entry.clone() });
}

pub(super) fn url(text: &[u8]) {
    let Some(url) = from_utf8(text).ok().and_then(|text| text.parse::<StoreUrl>().ok()) else { return };
    let again = url.to_string().parse::<StoreUrl>().expect("what is shown can be read");
    assert_eq!(again.to_string(), url.to_string());
    // A password is not shown, so it reads as another one.
    if !matches!(url, StoreUrl::Redis(_)) {
        assert_eq!(again, url);
    }
}
