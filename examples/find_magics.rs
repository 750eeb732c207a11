//! Searches the magic numbers of `lanefish::sliders::magic` and prints them as that module's source.
//!
//! ```text
//! cargo run --release --example find_magics > src/sliders/magic_numbers.rs
//! ```
//!
//! Everything follows from one seed, so the same numbers come out each time; the log goes into the header.

use lanefish::chess::Square;
use lanefish::sliders::Slider;
use lanefish::sliders::relevant::subsets;

const SEED: u64 = 0x6C61_6E65_6669_7368; // "lanefish"

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
    /// Few bits set: what good magic numbers look like.
    fn sparse(&mut self) -> u64 {
        self.next() & self.next() & self.next()
    }
}

/// All questions about one square: what goes into the product, and what must come out of the table.
struct Task {
    slider: Slider,
    square: Square,
    bits: u32,
    mask: u64,
    cases: Vec<(u64, u64)>,
}

impl Task {
    fn new(slider: Slider, square: Square) -> Self {
        let relevant = slider.relevant(square);
        Self {
            slider,
            square,
            bits: relevant.len(),
            mask: relevant.0,
            cases: subsets(relevant)
                .map(|occupied| (occupied.0, slider.attacks(square, occupied).0))
                .collect(),
        }
    }
}

/// A table that is emptied by counting on.
struct Scratch {
    stamp: Vec<u32>,
    value: Vec<u64>,
    round: u32,
}

impl Scratch {
    fn new() -> Self {
        Self {
            stamp: vec![0; 1 << 12],
            value: vec![0; 1 << 12],
            round: 0,
        }
    }
    /// Whether no two different answers fall on one place.
    fn fits(&mut self, task: &Task, magic: u64, shift: u32, outside: u64) -> bool {
        self.round += 1;
        task.cases.iter().all(|&(occupied, attacks)| {
            let index = ((occupied | outside).wrapping_mul(magic) >> shift) as usize;
            if self.stamp[index] == self.round {
                self.value[index] == attacks
            } else {
                self.stamp[index] = self.round;
                self.value[index] = attacks;
                true
            }
        })
    }
}

/// Searches one number with bits in `allowed` only; gives it and the tries it took.
fn search(
    task: &Task,
    random: &mut Random,
    scratch: &mut Scratch,
    shift: u32,
    outside: u64,
    allowed: u64,
) -> (u64, u64) {
    for tries in 1.. {
        let magic = random.sparse() & allowed;
        // Too few bits of the whole mask at the top seldom succeed.
        if (task.mask.wrapping_mul(magic) << (64 - shift - task.bits) >> 56).count_ones() >= 5
            && scratch.fits(task, magic, shift, outside)
        {
            return (magic, tries);
        }
    }
    unreachable!("the range has no end")
}

/// For a square that needs fewer bits than the fixed shift leaves, the bits of a number that cannot by
/// themselves bring a relevant square above the bits needed: with them the indices stay dense.
fn low_bits(task: &Task, shift: u32) -> u64 {
    let unwanted = shift + task.bits..64;
    (0..64)
        .filter(|&j| {
            unwanted
                .clone()
                .all(|bit| bit < j || task.mask >> (bit - j) & 1 == 0)
        })
        .fold(0, |allowed, j| allowed | 1 << j)
}

/// A square's place in the shared table: the number and the offset.
fn place(table: &mut Vec<Option<u64>>, task: &Task, candidates: &[u64], shift: u32) -> (u64, u32) {
    let best = candidates
        .iter()
        .map(|&magic| {
            let mut wanted: Vec<(usize, u64)> = task
                .cases
                .iter()
                .map(|&(occupied, attacks)| {
                    ((occupied.wrapping_mul(magic) >> shift) as usize, attacks)
                })
                .collect();
            wanted.sort_unstable();
            wanted.dedup();
            let last = wanted.last().map_or(0, |&(index, _)| index);
            let offset = (0..)
                .find(|offset| {
                    wanted.iter().all(|&(index, attacks)| {
                        table
                            .get(offset + index)
                            .is_none_or(|slot| slot.is_none_or(|other| other == attacks))
                    })
                })
                .unwrap_or(table.len());
            (offset + last, offset, magic, wanted)
        })
        .min_by_key(|&(end, ..)| end);
    let (end, offset, magic, wanted) = best.expect("there is at least one candidate");
    table.resize(table.len().max(end + 1), None);
    for (index, attacks) in wanted {
        table[offset + index] = Some(attacks);
    }
    (magic, offset as u32)
}

fn print(name: &str, doc: &str, ty: &str, values: impl Iterator<Item = String>) {
    println!("\n/// {doc}\npub(super) static {name}: [{ty}; 64] = [");
    for value in values {
        println!("    {value},");
    }
    println!("];");
}

fn hex(value: u64) -> String {
    let digits = format!("{value:016X}");
    format!(
        "0x{}_{}_{}_{}",
        &digits[..4],
        &digits[4..8],
        &digits[8..12],
        &digits[12..]
    )
}

fn main() {
    const CANDIDATES: usize = 24;
    let (mut random, mut scratch) = (Random(SEED), Scratch::new());
    let mut log = Vec::new();
    let mut sets = Vec::new();
    let mut shared = Vec::new();
    let mut placed = Vec::new();
    for slider in Slider::ALL {
        let (name, fixed) = match slider {
            Slider::Rook => ("ROOK", 64 - 12),
            Slider::Bishop => ("BISHOP", 64 - 9),
        };
        let tasks: Vec<_> = Square::all()
            .map(|square| Task::new(slider, square))
            .collect();
        for (kind, doc) in [
            (
                "FANCY",
                "(occupied & mask) * magic, shifted to as many bits as the mask has.",
            ),
            (
                "BLACK",
                "(occupied | !mask) * magic, shifted to as many bits as the mask has.",
            ),
        ] {
            let mut total = 0;
            let numbers: Vec<u64> = tasks
                .iter()
                .map(|task| {
                    let outside = if kind == "BLACK" { !task.mask } else { 0 };
                    let shift = 64 - task.bits;
                    let (magic, tries) =
                        search(task, &mut random, &mut scratch, shift, outside, !0);
                    total += tries;
                    magic
                })
                .collect();
            log.push(format!("{name}_{kind}: {total} tries"));
            sets.push((format!("{name}_{kind}"), doc, numbers));
        }
        let mut total = 0;
        for task in tasks {
            let allowed = match slider {
                Slider::Rook => low_bits(&task, fixed),
                // The bishop's few entries find gaps anyway.
                Slider::Bishop => !0,
            };
            let candidates: Vec<u64> = (0..CANDIDATES)
                .map(|_| {
                    let (magic, tries) =
                        search(&task, &mut random, &mut scratch, fixed, 0, allowed);
                    total += tries;
                    magic
                })
                .collect();
            placed.push((task, candidates, fixed));
        }
        log.push(format!(
            "{name}_FIXED: {total} tries, {CANDIDATES} numbers a square"
        ));
    }

    // The squares with the most occupancies first; the small ones fill the gaps.
    placed.sort_by_key(|(task, ..)| std::cmp::Reverse(task.bits));
    let mut fixed = [[(0, 0); 64]; 2];
    for (task, candidates, shift) in &placed {
        let piece = Slider::ALL.iter().position(|&slider| slider == task.slider);
        fixed[piece.unwrap_or(0)][task.square.index()] =
            place(&mut shared, task, candidates, *shift);
    }
    log.push(format!(
        "shared table of the fixed shift: {} entries, of them {} used",
        shared.len(),
        shared.iter().flatten().count()
    ));

    println!("//! Magic numbers, found by `examples/find_magics.rs` from the seed {SEED:#x}.");
    println!("//!\n//! Do not edit: run that program again. Its log:\n//!");
    for line in &log {
        println!("//! - {line}");
        eprintln!("{line}");
    }
    println!("\n/// Entries of the table that all squares share under the fixed shift.");
    println!("pub(super) const FIXED_ENTRIES: usize = {};", shared.len());
    for (name, doc, numbers) in sets {
        print(&name, doc, "u64", numbers.into_iter().map(hex));
    }
    for (name, squares) in ["ROOK_FIXED", "BISHOP_FIXED"].into_iter().zip(fixed) {
        print(
            name,
            "Fixed shift: the number, and where the square begins in the shared table.",
            "(u64, u32)",
            squares
                .into_iter()
                .map(|(magic, offset)| format!("({}, {offset})", hex(magic))),
        );
    }
}
