//! Requests of clients, and their answers.

use super::replica::Held;
use super::session::Standing;
use super::{Answer, Effect, Machine, Output, Refusal, Request, Sink};
use crate::{OpId, Session, Time};

/// What a connected client can ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Ask {
    Request(OpId, Request),
    Close,
}

/// What an [`Ask`] needs of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Nothing but what it shows.
    View,
    /// To have caught up, if it is with the others.
    Fresh,
    /// The others.
    Commit,
}

impl Ask {
    pub(super) const fn need(&self) -> Need {
        match self {
            Self::Close => Need::Commit,
            Self::Request(_, request) => Need::of(request),
        }
    }
}

impl Need {
    const fn of(request: &Request) -> Self {
        match request.effect() {
            Effect::Read => Self::View,
            Effect::FreshRead => Self::Fresh,
            Effect::Create | Effect::Change | Effect::Beat => Self::Commit,
        }
    }
}

impl Machine {
    /// Takes what a client asks for, and does or holds it.
    pub(super) fn ask(&mut self, now: Time, session: Session, ask: Ask, out: &mut impl Sink) {
        let Some(life) = self.sessions.get_mut(&session) else {
            refuse(session, &ask, Refusal::SessionOver, out);
            return out.push(Output::Expired { session });
        };
        let server = life.server;
        let replica = &mut self.servers[usize::from(server.0)];
        let needs_others = ask.need() != Need::View;
        match life.standing {
            Standing::Adrift => refuse(session, &ask, Refusal::Disconnected, out),
            Standing::Connected | Standing::Ghost if replica.is_cut() => {
                if ask.need() == Need::Commit || replica.holds_for(session) {
                    replica.held.push(Held { session, what: ask, awaited: true });
                } else {
                    self.perform(session, &ask, true, out);
                }
            }
            Standing::Ghost if needs_others => {
                refuse(session, &ask, Refusal::SessionOver, out);
                self.catch_up(server, out);
            }
            Standing::Ghost => self.perform(session, &ask, true, out),
            Standing::Connected => {
                life.hear(now, self.timing.half_tick());
                if needs_others {
                    self.catch_up(server, out);
                }
                self.perform(session, &ask, true, out);
            }
        }
    }

    /// Does what a client asks for, at a server that can.
    pub(super) fn perform(&mut self, session: Session, ask: &Ask, awaited: bool, out: &mut impl Sink) {
        match ask {
            Ask::Request(id, request) => self.answer(session, *id, request, awaited, out),
            Ask::Close => {
                self.remove(session);
                self.release(session, out);
                if awaited {
                    out.push(Output::Closed { session });
                }
            }
        }
    }

    fn answer(&mut self, session: Session, id: OpId, request: &Request, awaited: bool, out: &mut impl Sink) {
        let Some(life) = self.sessions.get(&session) else { return };
        let author = life.author(session);
        let server = usize::from(life.server.0);
        let answer = match Need::of(request) {
            Need::View | Need::Fresh => self.servers[server].shows(&self.tree).read(&author, request),
            Need::Commit => self.commit(out, |tree| tree.write(&author, request)),
        };
        let Some(life) = self.sessions.get_mut(&session) else { return };
        if awaited {
            life.seen = life.seen.max(self.servers[server].shows(&self.tree).revision);
            life.watches.arm(&author, id, request, &answer);
            out.push(Output::Answered { session, id, answer });
        }
    }
}

/// Answers a request; a close has no answer but the session's end.
pub(super) fn refuse(session: Session, ask: &Ask, refusal: Refusal, out: &mut impl Sink) {
    if let Ask::Request(id, _) = ask {
        out.push(Output::Answered { session, id: *id, answer: Answer::Refused(refusal) });
    }
}
