//! A queue of members of an election of Rolecall, in this process.

use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

use rolecall::Election;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::{Outcome, SESSION};

const LIMIT: Duration = Duration::from_secs(300);
/// Members that join at the same time.
const AT_ONCE: usize = 20;

pub(crate) struct Own {
    members: JoinSet<()>,
    orders: Orders,
    moments: UnboundedReceiver<Moment>,
}

/// What each member keeps an eye on beside the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// The list of all members, as the library does by default.
    Members,
    /// Nothing else.
    LeaderOnly,
}

/// What the members are told. One member takes each order.
#[derive(Clone, Default)]
struct Orders {
    resign: Arc<Notify>,
    depart: Arc<Notify>,
}

/// What a member reports.
enum Moment {
    Begins(Instant),
    Ends(Instant),
}

impl Own {
    pub(crate) async fn start(server: SocketAddr, name: &str, contenders: usize, follow: Follow) -> Outcome<Self> {
        let (reports, moments) = mpsc::unbounded_channel();
        let mut own = Self { members: JoinSet::new(), orders: Orders::default(), moments };
        let mut joining = JoinSet::new();
        for number in 0..contenders {
            let member = Election::builder(format!("zookeeper://{server}"), name)
                .id(format!("member-{number}"))
                .session_timeout(SESSION)
                .join_limit(LIMIT)
                .configure(|config| config.follows_workers = follow == Follow::Members);
            joining.spawn(member.join());
            if joining.len() == AT_ONCE || number + 1 == contenders {
                while let Some(joined) = joining.join_next().await {
                    own.members.spawn(contend(joined??, own.orders.clone(), reports.clone()));
                }
            }
        }
        own.beginning().await?;
        Ok(own)
    }

    pub(crate) async fn hand_over(&mut self) -> Outcome<Duration> {
        self.orders.resign.notify_one();
        let end = match self.moment().await? {
            Moment::Ends(end) => end,
            Moment::Begins(_) => return Err("another leads before the leader has resigned".into()),
        };
        Ok(self.beginning().await?.duration_since(end))
    }

    /// Lets one member leave that does not lead, and waits until it has left.
    pub(crate) async fn depart(&mut self) -> Outcome<()> {
        self.orders.depart.notify_one();
        timeout(LIMIT, self.members.join_next()).await?.ok_or("no member is left")??;
        Ok(())
    }

    async fn beginning(&mut self) -> Outcome<Instant> {
        match self.moment().await? {
            Moment::Begins(begin) => Ok(begin),
            Moment::Ends(_) => Err("a leader has resigned unasked".into()),
        }
    }

    async fn moment(&mut self) -> Outcome<Moment> {
        timeout(LIMIT, self.moments.recv()).await?.ok_or_else(|| "no member is left".into())
    }
}

/// Leads again and again, each time until it is told to resign.
async fn contend(member: Election, orders: Orders, reports: UnboundedSender<Moment>) {
    loop {
        let term = tokio::select! {
            Ok(term) = member.lead() => term,
            () = orders.depart.notified() => break,
            else => return,
        };
        drop(reports.send(Moment::Begins(Instant::now())));
        tokio::select! {
            () = orders.resign.notified() => {}
            () = term.ended() => return,
        }
        drop(reports.send(Moment::Ends(Instant::now())));
        drop(term);
    }
    member.leave().await;
}
