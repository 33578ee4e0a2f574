//! Requests of clients, and their answers.

use super::replica::Held;
use super::session::Standing;
use super::{Answer, Effect, Machine, Output, Refusal, Request, Sink};
use crate::{OpId, Session, Time};

/// A request of a connected client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Ask {
    Request(OpId, Request),
    Close,
}

/// Need of a request, from its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Only the server's view.
    View,
    /// An up-to-date view, if the server has contact with the others.
    Fresh,
    /// Contact with the others.
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
        if let Request::Lease(_) = request {
            return Self::Commit;
        }
        match request.effect() {
            Effect::Read => Self::View,
            Effect::FreshRead => Self::Fresh,
            Effect::Create | Effect::Change | Effect::Beat => Self::Commit,
        }
    }
}

impl Machine {
    /// Carries out a client's request, or holds it.
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
                    self.perform(now, session, &ask, true, out);
                }
            }
            Standing::Ghost if needs_others => {
                refuse(session, &ask, Refusal::SessionOver, out);
                self.catch_up(server, out);
            }
            Standing::Ghost => self.perform(now, session, &ask, true, out),
            Standing::Connected => {
                life.hear(now, self.timing.half_tick());
                if needs_others {
                    self.catch_up(server, out);
                }
                self.perform(now, session, &ask, true, out);
            }
        }
    }

    /// Carries out a client's request, at a server that can.
    pub(super) fn perform(&mut self, now: Time, session: Session, ask: &Ask, awaited: bool, out: &mut impl Sink) {
        match ask {
            Ask::Request(id, request) => self.answer(now, session, (*id, request), awaited, out),
            Ask::Close => {
                self.remove(session);
                self.commit(out, |tree| tree.close(session));
                self.release(session, out);
                if awaited {
                    out.push(Output::Closed { session });
                }
            }
        }
    }

    fn answer(
        &mut self,
        now: Time,
        session: Session,
        (id, request): (OpId, &Request),
        awaited: bool,
        out: &mut impl Sink,
    ) {
        let reading = self.host.reading(now);
        let Some(life) = self.sessions.get(&session) else { return };
        let author = life.author(session, reading);
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

/// Refuses a request. A close has no answer but the session's end.
pub(super) fn refuse(session: Session, ask: &Ask, refusal: Refusal, out: &mut impl Sink) {
    if let Ask::Request(id, _) = ask {
        out.push(Output::Answered { session, id: *id, answer: Answer::Refused(refusal) });
    }
}
