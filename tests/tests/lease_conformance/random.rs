//! Random sequences.

use core::time::Duration;

use rolecall::{Entropy, SeededEntropy};

use super::step::{Age, Ask, Node, Standstill, Step};

/// Times to live, far longer than a sequence takes. A step on moves the clock by 300 s while nobody holds the lease.
const TTLS: [Duration; 3] = [Duration::from_secs(600), Duration::from_secs(1_000), Duration::from_secs(1_800)];
/// Steps of the clock, in seconds.
const CLOCK_STEPS: [i64; 6] = [-4_000, -100, 100, 140, 400, 4_000];

struct Dice(SeededEntropy);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.0.bits() >> 33).expect("31 bits fit") % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Steps after which no lease of an earlier life can live.
const OPEN: [Step; 6] = [Step::Clock(4_000); 6];

/// The steps of a seed.
pub(crate) fn sequence(seed: u64, length: usize) -> Vec<Step> {
    let mut dice = Dice(SeededEntropy::new(seed));
    let mut steps = vec![Step::Ask(Node::ALL[0], Ask::Acquire(TTLS[0]))];
    steps.extend(OPEN);
    while steps.len() < length {
        // A new life leaves nothing to do for a while, so that is rare, and often passes at once.
        if dice.below(12) == 0 {
            steps.push(new_life(&mut dice));
            if dice.below(4) > 0 {
                steps.push(Step::Ask(Node::ALL[0], Ask::Acquire(dice.pick(&TTLS))));
                steps.extend(OPEN);
            }
        } else {
            steps.push(step(&mut dice));
        }
    }
    steps
}

fn new_life(dice: &mut Dice) -> Step {
    let (node, ttl) = (dice.pick(&Node::ALL), dice.pick(&TTLS));
    match dice.below(5) {
        0 => Step::Restart,
        1 => Step::Wipe,
        2 => Step::FlushData,
        3 => Step::Promote(node, ask(dice)),
        _ => Step::ForbidWrites(node, dice.pick(&[Ask::Peek, Ask::Acquire(ttl), Ask::Renew(Age(0), ttl)])),
    }
}

fn step(dice: &mut Dice) -> Step {
    let node = dice.pick(&Node::ALL);
    match dice.below(48) {
        0..30 => Step::Ask(node, ask(dice)),
        30..36 => Step::Clock(dice.pick(&CLOCK_STEPS)),
        36 => Step::FlushScripts,
        37 | 38 => Step::Close(node),
        39 => Step::Attach,
        40..45 => {
            let how = dice.pick(&[Standstill::Stopped, Standstill::Paused]);
            Step::StandStill(how, Node::ALL.map(|_| ask(dice)))
        }
        _ => Step::Break(node, ask(dice)),
    }
}

fn ask(dice: &mut Dice) -> Ask {
    let (ttl, age) = (dice.pick(&TTLS), Age(dice.below(3)));
    match dice.below(16) {
        0 | 1 => Ask::Peek,
        2 | 3 => Ask::Watch,
        4..9 => Ask::Acquire(ttl),
        9..12 => Ask::Renew(age, ttl),
        12..15 => Ask::Release(age),
        _ => dice.pick(&[Ask::Acquire(Duration::ZERO), Ask::Renew(age, Duration::ZERO)]),
    }
}
