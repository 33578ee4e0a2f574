//! Data of znodes: pure functions on bytes that anyone may have written. Unknown fields are ignored, because versions mix
//! during an upgrade.

use core::time::Duration;
use std::collections::BTreeMap;

use rolecall_core::{Directory, Epoch, Incarnation, Metadata};
use serde::{Deserialize, Serialize};

use super::znode::parse_hex;

/// Data of the znode `term`. The term's epoch is not in it: it is the znode's `mzxid`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermData {
    /// Incarnation of the store.
    pub incarnation: Incarnation,
    /// Id of the node that claimed the term.
    pub id: String,
    /// Address of that node, `host:port`.
    pub address: String,
}

#[derive(Serialize, Deserialize)]
struct TermJson {
    incarnation: String,
    id: String,
    address: String,
}

impl TermData {
    /// Parses the data of `term`; `None` if it is malformed.
    #[must_use]
    pub fn parse(data: &[u8]) -> Option<Self> {
        let TermJson { incarnation, id, address } = serde_json::from_slice(data).ok()?;
        Some(Self { incarnation: Incarnation(parse_hex(&incarnation)?), id, address })
    }

    /// The data as JSON.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { incarnation: Incarnation(incarnation), id, address } = self.clone();
        bytes_of(&TermJson { incarnation: format!("{incarnation:016x}"), id, address })
    }
}

/// Data of a registry's entry: a `ServiceInstance` of Apache Curator with additional top-level fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryData {
    /// Address of the node, `host:port`, with an IPv6 address in brackets; `None` if it answers nowhere.
    pub address: Option<String>,
    /// Epoch of its term; only on a coordinator.
    pub epoch: Option<Epoch>,
    /// Timeout of its session, if the entry has it.
    pub session_timeout: Option<Duration>,
    /// Names and values of its application.
    pub metadata: Metadata,
}

#[derive(Deserialize)]
struct EntryJson {
    // Curator always writes both fields, with null for those that a service does not have.
    #[serde(deserialize_with = "Option::deserialize")]
    address: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    port: Option<u16>,
    #[serde(rename = "rolecallEpoch")]
    epoch: Option<u64>,
    #[serde(rename = "rolecallSessionTimeoutMs")]
    session_timeout_ms: Option<u64>,
    #[serde(rename = "rolecallMetadata", default)]
    metadata: BTreeMap<String, String>,
}

impl EntryData {
    /// Parses the data of an entry; `None` if it is malformed.
    #[must_use]
    pub fn parse(data: &[u8]) -> Option<Self> {
        let EntryJson { address, port, epoch, session_timeout_ms, metadata } = serde_json::from_slice(data).ok()?;
        let address = match (address, port) {
            (Some(host), Some(port)) => Some(address_of(&host, port)?),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return None,
        };
        Some(Self {
            address,
            epoch: epoch.map(Epoch),
            session_timeout: session_timeout_ms.map(Duration::from_millis),
            metadata: metadata.into_iter().collect(),
        })
    }
}

fn address_of(host: &str, port: u16) -> Option<String> {
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let strange = |letter: char| letter.is_whitespace() || letter.is_control() || "/?#@\\[]\"<>".contains(letter);
    if host.is_empty() || port == 0 || host.contains(strange) {
        return None;
    }
    Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
}

/// Entry that a node writes for itself.
#[derive(Clone, Copy, Debug)]
pub struct OwnEntry<'a> {
    /// Id of the node.
    pub id: &'a str,
    /// Host of the node, without brackets, and its port; `None` if it answers nowhere.
    pub address: Option<(&'a str, u16)>,
    /// Path at which it answers there.
    pub path: Option<&'a str>,
    /// Epoch of its term; only on a coordinator.
    pub epoch: Option<Epoch>,
    /// Timeout of its session.
    pub session_timeout: Duration,
    /// Names and values of its application.
    pub metadata: &'a Metadata,
    /// Wall-clock time of the registration, in milliseconds since 1970. Only people read it.
    pub registered_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InstanceJson<'a> {
    name: &'a str,
    id: &'a str,
    address: Option<&'a str>,
    port: Option<u16>,
    ssl_port: Option<u16>,
    // Readers that expect another type of payload would fail on anything but null, so our fields are beside it.
    payload: Option<u8>,
    #[serde(rename = "registrationTimeUTC")]
    registration_time_utc: u64,
    service_type: &'a str,
    uri_spec: Option<UriSpecJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rolecall_epoch: Option<u64>,
    rolecall_session_timeout_ms: u64,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    rolecall_metadata: &'a Metadata,
}

#[derive(Serialize)]
struct UriSpecJson<'a> {
    parts: Vec<PartJson<'a>>,
}

#[derive(Serialize)]
struct PartJson<'a> {
    value: &'a str,
    variable: bool,
}

impl OwnEntry<'_> {
    /// The data as JSON, for an entry in `directory`.
    #[must_use]
    pub fn to_bytes(&self, directory: Directory) -> Vec<u8> {
        bytes_of(&InstanceJson {
            name: directory_name(directory),
            id: self.id,
            address: self.address.map(|(host, _)| host),
            port: self.address.map(|(_, port)| port),
            ssl_port: None,
            payload: None,
            registration_time_utc: self.registered_ms,
            service_type: "DYNAMIC",
            uri_spec: self.address.map(|_| self.uri_spec()),
            rolecall_epoch: self.epoch.map(|Epoch(epoch)| epoch),
            rolecall_session_timeout_ms: u64::try_from(self.session_timeout.as_millis()).unwrap_or(u64::MAX),
            rolecall_metadata: self.metadata,
        })
    }

    fn uri_spec(&self) -> UriSpecJson<'_> {
        let variable = |value| PartJson { value, variable: true };
        let literal = |value| PartJson { value, variable: false };
        let origin =
            [variable("scheme"), literal("://"), variable("address"), literal(":"), variable("port")].into_iter();
        UriSpecJson { parts: origin.chain(self.path.map(literal)).collect() }
    }
}

/// Name of a directory's znode, which is also the name of Curator's service.
#[must_use]
pub fn directory_name(directory: Directory) -> &'static str {
    match directory {
        Directory::Workers => "workers",
        Directory::Coordinators => "coordinators",
    }
}

fn bytes_of(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("a struct of strings and numbers can be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURATOR: &str = r#"{"name":"workers","id":"node-a","address":"10.0.0.5","port":8080,"sslPort":null,
        "payload":null,"registrationTimeUTC":1795973972557,"serviceType":"DYNAMIC","uriSpec":{"parts":[
        {"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true},
        {"value":":","variable":false},{"value":"port","variable":true},{"value":"/task","variable":false}]}}"#;

    #[test]
    fn a_term_is_read_as_it_was_written() {
        let term = TermData { incarnation: Incarnation(0xab), id: "größe".into(), address: "a:1".into() };
        assert_eq!(TermData::parse(&term.to_bytes()), Some(term.clone()));
        let text = String::from_utf8(term.to_bytes()).expect("JSON is UTF-8");
        assert!(text.contains(r#""incarnation":"00000000000000ab""#), "{text}");
        let later = text.replace('{', r#"{"later":[1],"#);
        assert_eq!(TermData::parse(later.as_bytes()), Some(term), "unknown fields are ignored");
    }

    #[test]
    fn garbage_is_not_a_term() {
        for data in [
            "",
            "null",
            "{}",
            r#"{"incarnation":1,"id":"a","address":"a:1"}"#,
            r#"{"incarnation":"","id":"a","address":"a:1"}"#,
            r#"{"incarnation":"+1","id":"a","address":"a:1"}"#,
            r#"{"incarnation":"11111111111111111","id":"a","address":"a:1"}"#,
            r#"{"incarnation":"1","id":"a"}"#,
        ] {
            assert_eq!(TermData::parse(data.as_bytes()), None, "{data}");
        }
        assert_eq!(TermData::parse(b"\xff\xfe"), None);
    }

    #[test]
    fn an_entry_written_by_curator_is_read() {
        let entry = EntryData::parse(CURATOR.as_bytes()).expect("a good entry");
        let address = Some("10.0.0.5:8080".into());
        assert_eq!(entry, EntryData { address, epoch: None, session_timeout: None, metadata: Metadata::default() });
    }

    #[test]
    fn our_own_entry_has_curators_form_and_more_fields() {
        let own = OwnEntry {
            id: "node-a",
            address: Some(("10.0.0.5", 8080)),
            path: Some("/task"),
            epoch: None,
            session_timeout: Duration::from_secs(2),
            metadata: &Metadata::default(),
            registered_ms: 1_795_973_972_557,
        };
        let mut written: serde_json::Value = serde_json::from_slice(&own.to_bytes(Directory::Workers)).expect("JSON");
        let fields = written.as_object_mut().expect("an object");
        assert_eq!(fields.remove("rolecallSessionTimeoutMs"), Some(2000.into()));
        let curator: serde_json::Value = serde_json::from_str(CURATOR).expect("JSON");
        assert_eq!(written, curator);

        let metadata = [("zone", "eu-1")].into_iter().collect();
        let own = OwnEntry {
            address: Some(("::1", 8080)),
            path: Some("/search"),
            epoch: Some(Epoch(7)),
            metadata: &metadata,
            ..own
        };
        let bytes = own.to_bytes(Directory::Coordinators);
        let read = EntryData::parse(&bytes).expect("our own entry");
        let (address, session_timeout) = (Some("[::1]:8080".into()), Some(Duration::from_secs(2)));
        assert_eq!(read, EntryData { address, epoch: Some(Epoch(7)), session_timeout, metadata });
        assert!(String::from_utf8_lossy(&bytes).contains(r#"{"value":"/search","variable":false}"#));
    }

    #[test]
    fn a_node_that_answers_nowhere_has_no_address_and_no_uri() {
        let own = OwnEntry {
            id: "node-a",
            address: None,
            path: Some("/task"),
            epoch: None,
            session_timeout: Duration::from_secs(2),
            metadata: &Metadata::default(),
            registered_ms: 0,
        };
        let bytes = own.to_bytes(Directory::Workers);
        let written: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        for field in ["address", "port", "uriSpec"] {
            assert_eq!(written.get(field), Some(&serde_json::Value::Null), "{field}");
        }
        assert_eq!(EntryData::parse(&bytes).expect("our own entry").address, None);
    }

    #[test]
    fn garbage_is_not_an_entry() {
        for data in [
            "",
            "[]",
            "{}",
            r#"{"address":"a"}"#,
            r#"{"address":"","port":1}"#,
            r#"{"address":"a","port":0}"#,
            r#"{"address":"a","port":null}"#,
            r#"{"address":null}"#,
            r#"{"address":null,"port":1}"#,
            r#"{"address":"a","port":1,"rolecallMetadata":{"a":1}}"#,
            r#"{"address":"a","port":65536}"#,
            r#"{"address":"a b","port":1}"#,
            r#"{"address":"a/b","port":1}"#,
            r#"{"address":"a","port":1,"rolecallEpoch":"x"}"#,
            r#"{"address":"a","port":1,"rolecallEpoch":-1}"#,
        ] {
            assert_eq!(EntryData::parse(data.as_bytes()), None, "{data}");
        }
    }
}
