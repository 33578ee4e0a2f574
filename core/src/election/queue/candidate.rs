//! Candidates in the election.

/// Random name of a contender during one session. It never outlives that session.
///
/// A Rolecall node's guids begin with the bytes `52 43 4c 00` ("RCL"), so they differ from those of other clients of
/// the same queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Guid(pub u128);

impl Guid {
    const PREFIX: u128 = 0x5243_4c00;

    /// A Rolecall node's guid from 96 random bits (the upper 32 bits of `random` are replaced).
    #[must_use]
    pub const fn ours(random: u128) -> Self {
        Self((random & (u128::MAX >> 32)) | (Self::PREFIX << 96))
    }

    /// True if a Rolecall node made it.
    #[must_use]
    pub const fn is_ours(self) -> bool {
        self.0 >> 96 == Self::PREFIX
    }
}

/// Written as 32 hexadecimal digits, since few JSON readers keep 128 bits.
#[cfg(feature = "serde")]
impl serde::Serialize for Guid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Guid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <alloc::string::String as serde::Deserialize>::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A place in the election queue. The smallest leads.
///
/// Candidates are ordered by the store's sequence number first. Their names in the store exist only in the store's
/// adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Candidate {
    /// Number that the store gave out: a count for ZooKeeper, a revision for etcd.
    pub sequence: i64,
    /// The contender's guid; `None` if another kind of client made a candidate without one.
    pub guid: Option<Guid>,
}

impl Candidate {
    /// True if another kind of client made it.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        !self.guid.is_some_and(Guid::is_ours)
    }
}
