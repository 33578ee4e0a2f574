//! The canonical form of a world: worlds that differ in names only become equal.

use std::collections::{BTreeMap, BTreeSet};

use rolecall_core::rename::{Canonical, ORIGIN, Ranks, Rename, Renamer, RevisionKind, TimeKind};
use rolecall_core::{Guid, Incarnation, Link, OpId, Run, Session, Time, Timer, Token};

use super::world::{Host, News, Process, Sent, World};

/// Most sessions of one host that anything still refers to at a time.
const SESSIONS: u64 = 64;

impl World {
    /// Gives everything in the world its canonical name:
    ///
    /// - what only one node knows, as [`Canonical`] does, by that node's clock;
    /// - epochs, and revisions seen, by rank, each among its kind; creations by rank among those of the same host;
    ///   written revisions after what was seen before them;
    /// - candidates by rank; sessions by rank among those of the same host; guids, tokens and incarnations in the order
    ///   of their appearance.
    pub(crate) fn rename(&mut self) {
        let hosts = self.hosts.iter().map(|host| host.node().map(|node| Canonical::new(host.clock, node, &mut [])));
        let hosts: Vec<_> = hosts.map(Option::unwrap_or_default).collect();
        let mut survey = Survey::new(std::mem::take(&mut self.owners), hosts.len());
        self.rename_hosts(&mut survey);
        self.store.rename(&mut survey);
        let mut renamer = survey.renamer(hosts);
        self.rename_hosts(&mut renamer);
        (self.store, self.now) = self.store.canonical(self.now, &mut renamer);
        self.owners = renamer.owners();
        for host in &mut self.hosts {
            host.clock = ORIGIN;
        }
    }
}

impl World {
    fn rename_hosts(&mut self, renamer: &mut dyn Renamer) {
        for (place, host) in self.hosts.iter_mut().enumerate() {
            renamer.client(speaker(place));
            host.rename(renamer);
        }
        self.newest.rename(renamer);
    }
}

/// Stands for a host where the owner of the names that follow is announced. The store never gives out such a session.
fn speaker(place: usize) -> Session {
    Session(u64::MAX - u64::try_from(place).unwrap_or(0))
}

impl Rename for Host {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Process::Runs(node) = &mut self.process {
            node.rename(renamer);
        }
        if let Some((fence, until)) = &mut self.gate {
            fence.rename(renamer);
            renamer.time(TimeKind::Deadline(Timer::Validity), until);
        }
        if let Some(session) = &mut self.session {
            renamer.session(session);
        }
        for (session, sent) in &mut self.sent {
            renamer.session(session);
            match sent {
                Sent::Request(id, request) => {
                    renamer.operation(id);
                    request.rename(renamer);
                }
                Sent::Close => {}
            }
        }
        for (id, answer) in self.answers.iter_mut().chain(&mut self.late) {
            renamer.operation(id);
            answer.rename(renamer);
        }
        self.notices.iter_mut().for_each(|(id, _)| renamer.operation(id));
        for news in &mut self.news {
            match news {
                News::Up(session) => renamer.session(session),
                News::Suspended | News::Lost => {}
            }
        }
        if let Some(service) = &mut self.service {
            renamer.run(service.run());
        }
    }
}

/// Everything that needs a name.
struct Survey {
    owners: BTreeMap<Session, usize>,
    /// Host whose session was named last: the creations that follow belong to it.
    created_for: usize,
    epochs: Ranks,
    /// By host: only creations for the same node are ever compared.
    created: Vec<Ranks>,
    seen: Ranks,
    sequences: BTreeSet<i64>,
    sessions: BTreeSet<Session>,
    guids: Vec<Guid>,
    tokens: Vec<Token>,
    incarnations: Vec<Incarnation>,
}

impl Renamer for Survey {
    fn revision(&mut self, kind: RevisionKind, revision: &mut u64) {
        match kind {
            RevisionKind::Epoch => self.epochs.add(*revision),
            RevisionKind::Created => self.created[self.created_for].add(*revision),
            RevisionKind::Seen => self.seen.add(*revision),
            RevisionKind::Written => {}
        }
    }

    fn session(&mut self, session: &mut Session) {
        self.sessions.insert(*session);
        self.created_for = self.owners.get(session).copied().unwrap_or(0);
    }

    fn sequence(&mut self, sequence: &mut i64) {
        self.sequences.insert(*sequence);
    }

    fn guid(&mut self, guid: &mut Guid) {
        note(&mut self.guids, *guid);
    }

    fn token(&mut self, token: &mut Token) {
        note(&mut self.tokens, *token);
    }

    fn incarnation(&mut self, incarnation: &mut Incarnation) {
        note(&mut self.incarnations, *incarnation);
    }
}

impl Survey {
    fn new(owners: BTreeMap<Session, usize>, hosts: usize) -> Self {
        Self {
            owners,
            created_for: 0,
            epochs: Ranks::default(),
            created: vec![Ranks::default(); hosts],
            seen: Ranks::default(),
            sequences: BTreeSet::new(),
            sessions: BTreeSet::new(),
            guids: Vec::new(),
            tokens: Vec::new(),
            incarnations: Vec::new(),
        }
    }

    fn renamer(mut self, hosts: Vec<Canonical>) -> WorldRenamer {
        for ranks in self.created.iter_mut().chain([&mut self.epochs, &mut self.seen]) {
            ranks.settle();
        }
        let mut counts = vec![0_u64; hosts.len()];
        let mut sessions = BTreeMap::new();
        for session in std::mem::take(&mut self.sessions) {
            if let Some(place) = self.owners.get(&session) {
                counts[*place] += 1;
                let first = u64::try_from(*place).unwrap_or(0) * SESSIONS;
                sessions.insert(session, (Session(first + counts[*place]), *place));
            }
        }
        let lengths = self.created.iter().chain([&self.epochs, &self.seen]).map(Ranks::len);
        let newest = lengths.max().unwrap_or(0);
        WorldRenamer { hosts, speaks: 0, created_for: 0, sessions, newest, survey: self }
    }
}

/// Adds a name that is new.
fn note<T: PartialEq>(names: &mut Vec<T>, name: T) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// Place of a name in the order of appearance.
fn place_of<T: PartialEq>(names: &[T], name: &T) -> usize {
    names.iter().position(|other| other == name).unwrap_or(usize::MAX)
}

/// The names of everything in the world.
struct WorldRenamer {
    hosts: Vec<Canonical>,
    /// Host whose operations are being named.
    speaks: usize,
    created_for: usize,
    sessions: BTreeMap<Session, (Session, usize)>,
    /// Upper bound of all renamed revisions.
    newest: u64,
    survey: Survey,
}

impl WorldRenamer {
    fn owners(self) -> BTreeMap<Session, usize> {
        self.sessions.into_values().collect()
    }
}

impl Renamer for WorldRenamer {
    fn client(&mut self, session: Session) {
        let speaker = (0..self.hosts.len()).find(|place| speaker(*place) == session);
        let owner = self.sessions.get(&session).map(|(_, place)| *place);
        self.speaks = speaker.or(owner).unwrap_or(0);
    }

    fn operation(&mut self, id: &mut OpId) {
        self.hosts[self.speaks].operation(id);
    }

    fn issued(&mut self, link: &mut Link, count: &mut u32) {
        self.hosts[self.speaks].issued(link, count);
    }

    fn run(&mut self, run: &mut Run) {
        self.hosts[self.speaks].run(run);
    }

    fn last_run(&mut self, run: &mut Run, lives: bool) {
        self.hosts[self.speaks].last_run(run, lives);
    }

    fn time(&mut self, moment: TimeKind, at: &mut Time) {
        self.hosts[self.speaks].time(moment, at);
    }

    fn revision(&mut self, kind: RevisionKind, revision: &mut u64) {
        let Survey { epochs, created, seen, .. } = &self.survey;
        *revision = match kind {
            RevisionKind::Epoch => epochs.rank(*revision),
            RevisionKind::Created => created[self.created_for].rank(*revision),
            // The newest commit is the greatest that anybody can have seen: it stays ahead of epochs and creations.
            RevisionKind::Seen => self.newest - (seen.len() - seen.rank(*revision)),
            RevisionKind::Written if *revision == 0 => self.newest - seen.len(),
            RevisionKind::Written => self.newest - (seen.len() - seen.rank(*revision - 1) - 1),
        };
    }

    fn session(&mut self, session: &mut Session) {
        let (name, place) = self.sessions.get(session).copied().unwrap_or_default();
        *session = name;
        self.created_for = place;
    }

    fn last_session(&mut self, newest: &mut u64) {
        *newest = u64::try_from(self.hosts.len()).unwrap_or(0) * SESSIONS;
    }

    fn sequence(&mut self, sequence: &mut i64) {
        *sequence = i64::try_from(self.survey.sequences.range(..*sequence).count()).unwrap_or(i64::MAX);
    }

    fn next_sequence(&mut self, next: &mut i64) {
        self.sequence(next);
    }

    /// Names that a node makes from its entropy are renamed at once, so that it makes the same ones again and they are new.
    /// Nodes make different ones.
    fn entropy(&mut self, entropy: &mut u64) {
        *entropy = self.speaks as u64;
    }

    fn attempts(&mut self, attempts: &mut u32) {
        *attempts = 0;
    }

    fn guid(&mut self, guid: &mut Guid) {
        *guid = Guid::ours(place_of(&self.survey.guids, guid) as u128);
    }

    fn token(&mut self, token: &mut Token) {
        *token = Token(place_of(&self.survey.tokens, token) as u64);
    }

    fn incarnation(&mut self, incarnation: &mut Incarnation) {
        *incarnation = Incarnation(place_of(&self.survey.incarnations, incarnation) as u64);
    }
}
