//! P10: applying the difference between two snapshots to the first gives the second.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rolecall_core::{Difference, Epoch, Member, MemberKey, Session};

/// Members ordered by key, without duplicates, of so few ids that snapshots overlap.
fn snapshot() -> impl Strategy<Value = Vec<Member>> {
    let entry = (0..4_usize, 0..3_u64, 0..3_u64, 0..3_u8);
    prop::collection::vec(entry, 0..12).prop_map(|entries| {
        let keyed: BTreeMap<_, _> = entries
            .into_iter()
            .map(|(id, session, created, epoch)| {
                let key = MemberKey { id: ["a", "b", "c", "d"][id].into(), session: Session(session) };
                let epoch = epoch.checked_sub(1).map(|epoch| Epoch(epoch.into()));
                let member = Member {
                    key,
                    address: "x:1".into(),
                    epoch,
                    session_timeout: None,
                    created,
                    metadata: Default::default(),
                };
                (member.key.clone(), member)
            })
            .collect();
        keyed.into_values().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn applied_to_the_earlier_it_gives_the_later(before in snapshot(), after in snapshot()) {
        let mut members = before.clone();
        Difference::between(&before, &after).apply(&mut members);
        prop_assert_eq!(members, after);
    }

    #[test]
    fn it_is_empty_only_where_nothing_changed(before in snapshot(), after in snapshot()) {
        prop_assert_eq!(Difference::between(&before, &after).is_empty(), before == after);
        prop_assert!(Difference::between(&before, &before).is_empty());
    }

    #[test]
    fn it_names_every_member_once_and_only_for_what_became_of_it(before in snapshot(), after in snapshot()) {
        let difference = Difference::between(&before, &after);
        let has = |list: &[Member], key: &MemberKey| list.iter().any(|member| member.key == *key);
        prop_assert!(difference.joined.iter().all(|member| !has(&before, &member.key) && has(&after, &member.key)));
        prop_assert!(difference.left.iter().all(|key| has(&before, key) && !has(&after, key)));
        prop_assert!(difference.changed.iter().all(|member| has(&before, &member.key) && after.contains(member)));
        prop_assert!(difference.changed.iter().all(|member| !before.contains(member)));
    }
}
