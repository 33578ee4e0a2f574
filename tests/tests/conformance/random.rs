//! Random sequences.

use rolecall_core::Directory;

use super::step::{Ask, Deed, Node, Step, Which, Whose};

/// A generator of small numbers (xorshift64*). A seed gives the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        usize::try_from(high).expect("32 bits fit") % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn directory(&mut self) -> Directory {
        self.pick(&[Directory::Workers, Directory::Coordinators])
    }

    fn whose(&mut self) -> Whose {
        self.pick(&[Whose::Own, Whose::Own, Whose::Former])
    }
}

/// The nodes and the steps of a seed. At the end every node is up and reads everything.
pub(crate) fn sequence(seed: u64, length: usize) -> (usize, Vec<Step>) {
    let mut dice = Dice::new(seed);
    let nodes = 2 + dice.below(3);
    let mut candidates = 0;
    let mut steps: Vec<Step> = (0..length).map(|_| step(&mut dice, nodes, &mut candidates)).collect();
    for node in (0..nodes).map(Node) {
        steps.extend([Step::Mend(node), Step::Open(node)]);
        for directory in [Directory::Workers, Directory::Coordinators] {
            steps.push(Step::Ask(node, Ask::Members(directory)));
        }
        steps.extend([Ask::List, Ask::ReadTerm, Ask::Sync].map(|ask| Step::Ask(node, ask)));
    }
    (nodes, steps)
}

fn step(dice: &mut Dice, nodes: usize, candidates: &mut usize) -> Step {
    let node = Node(dice.below(nodes));
    match dice.below(100) {
        0..70 => Step::Ask(node, ask(dice, candidates)),
        70..82 => Step::Operator(deed(dice, nodes, candidates)),
        82..90 => dice.pick(&[Step::Break, Step::Mend, Step::Mend, Step::Flap])(node),
        90..93 => Step::Expire(node),
        93..97 => dice.pick(&[Step::Renew, Step::Close, Step::Crash])(node),
        _ => Step::Open(node),
    }
}

fn ask(dice: &mut Dice, candidates: &mut usize) -> Ask {
    let which = which(dice, *candidates);
    let (directory, whose) = (dice.directory(), dice.whose());
    match dice.below(20) {
        0..3 => {
            *candidates += 1;
            Ask::Enter
        }
        3 => Ask::List,
        4 => Ask::Inspect(which),
        5..8 => Ask::Watch(which),
        8 => Ask::Delete(which),
        9 => Ask::Claim(which, 1),
        10 => Ask::FirstClaim(which, 2),
        11 => Ask::Beat(which),
        12 => Ask::ReadTerm,
        13 => Ask::Join(directory, whose),
        14 => Ask::JoinAsLeader(directory),
        15 => Ask::Leave(directory, whose),
        16 => Ask::Verify(directory, whose),
        17 => Ask::Members(directory),
        18 => Ask::WatchMembers(directory),
        _ => dice.pick(&[
            Ask::Sync,
            Ask::Settle("64 shards"),
            Ask::Settle("8 shards"),
            Ask::WatchWish,
            Ask::Wish(1),
            Ask::WishOver(0, 2),
        ]),
    }
}

fn deed(dice: &mut Dice, nodes: usize, candidates: &mut usize) -> Deed {
    let which = which(dice, *candidates);
    let (directory, node, whose) = (dice.directory(), Node(dice.below(nodes)), dice.whose());
    match dice.below(12) {
        0 => Deed::AddCandidate,
        1 => Deed::AddNamelessCandidate,
        2..4 => Deed::RewriteCandidate(which),
        4..6 => Deed::DeleteCandidate(which),
        6 => Deed::LitterQueue,
        7 => Deed::AddMember(directory, node, whose),
        8 => Deed::RewriteMember(directory, node, whose),
        9 => Deed::DeleteMember(directory, node, whose),
        10 => Deed::LitterDirectory(directory),
        _ => dice.pick(&[Deed::DeleteTerm, Deed::DeleteWish]),
    }
}

/// Usually one of the latest, since the others are gone. Now and then one that never existed.
fn which(dice: &mut Dice, candidates: usize) -> Which {
    Which(candidates.saturating_sub(dice.below(5)))
}
