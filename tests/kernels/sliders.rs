//! Every slider algorithm, compared with the ray walk on all relevant occupancies of every square and on a million
//! random boards.

use lanefish::chess::{Bitboard, Square};
use lanefish::sliders::relevant_squares::subsets;
use lanefish::sliders::{Sliders, Visitor, for_each_algorithm, ray_walk::RayWalk, relevant_squares::Slider};
use lanefish_core::kernels::SliderMethod;
use lanefish_core::simd::{Scalar, Simd};
use slider_queries::{Query, SliderPiece, groups_of, lanes_agree};

#[allow(dead_code, reason = "the program uses all of it")]
#[path = "../../src/cli/measure/slider_queries.rs"]
mod slider_queries;

/// A query with the results of the ray walk.
struct Case {
    square: Square,
    occupied: Bitboard,
    rook: Bitboard,
    bishop: Bitboard,
}

impl Case {
    fn new(square: Square, occupied: Bitboard) -> Self {
        Self { square, occupied, rook: RayWalk.rook(square, occupied), bishop: RayWalk.bishop(square, occupied) }
    }
}

struct Check<'a>(&'a [Case]);

impl Visitor for Check<'_> {
    fn visit<A: Sliders>(&mut self) {
        let Some(algorithm) = A::detect() else {
            crate::support::skipped(&format!("{} needs {:?}, which this CPU lacks", A::NAME, A::NEEDS));
            return;
        };
        let wrong = algorithm.enter(
            #[inline(always)]
            || {
                self.0.iter().find(|case| {
                    let (square, occupied) = (case.square, case.occupied);
                    algorithm.rook(square, occupied) != case.rook
                        || algorithm.bishop(square, occupied) != case.bishop
                        || algorithm.queen(square, occupied) != case.rook | case.bishop
                })
            },
        );
        if let Some(case) = wrong {
            panic!("{} on {} with\n{}", A::NAME, case.square, case.occupied);
        }
    }
}

#[test]
fn all_relevant_occupancies() {
    let mut cases = Vec::new();
    for slider in Slider::ALL {
        for square in Square::all() {
            let relevant = slider.relevant(square);
            for subset in subsets(relevant) {
                // Irrelevant squares must not matter: all empty, then all occupied.
                cases.push(Case::new(square, subset));
                cases.push(Case::new(square, subset | !relevant));
            }
        }
    }
    assert_eq!(cases.len(), 2 * (102_400 + 5_248));
    for_each_algorithm(&mut Check(&cases));
}

#[test]
fn lanes_on_all_relevant_occupancies() {
    fn check<S: Simd>(piece: SliderPiece, queries: &[Query]) {
        let Some(simd) = S::detect() else {
            crate::support::skipped(&format!("this CPU lacks one of {:?}", S::FEATURES));
            return;
        };
        let groups = groups_of(queries);
        assert_eq!(groups.len() * 8, queries.len());
        for way in [SliderMethod::Fill, SliderMethod::Hyperbola] {
            assert!(lanes_agree(simd, way, piece, &groups), "{simd:?} {way:?} {piece}");
        }
    }
    for (slider, piece) in [(Slider::Rook, SliderPiece::Rook), (Slider::Bishop, SliderPiece::Bishop)] {
        let queries: Vec<Query> = Square::all()
            .flat_map(|square| subsets(slider.relevant(square)).map(move |occupied| Query { square, occupied }))
            .collect();
        for piece in [piece, SliderPiece::Queen] {
            check::<Scalar>(piece, &queries);
            #[cfg(target_arch = "x86_64")]
            {
                check::<lanefish_core::simd::Avx2>(piece, &queries);
                check::<lanefish_core::simd::Avx2Gfni>(piece, &queries);
                check::<lanefish_core::simd::Avx512>(piece, &queries);
                check::<lanefish_core::simd::Avx512Gfni>(piece, &queries);
            }
        }
    }
}

#[test]
fn a_million_random_boards() {
    let mut state = 0x6C61_6E65_6669_7368u64;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    };
    let cases: Vec<_> = (0..1_000_000)
        .map(|i| {
            // A quarter, half and three quarters of the squares.
            let occupied = match i % 3 {
                0 => random() & random(),
                1 => random(),
                _ => random() | random(),
            };
            Case::new(Square::new((random() >> 58) as u8), Bitboard(occupied))
        })
        .collect();
    for_each_algorithm(&mut Check(&cases));
}

#[test]
fn names_are_distinct() {
    struct Names(Vec<&'static str>);
    impl Visitor for Names {
        fn visit<A: Sliders>(&mut self) {
            self.0.push(A::NAME);
        }
    }
    let mut names = Names(Vec::new());
    for_each_algorithm(&mut names);
    let count = names.0.len();
    names.0.sort_unstable();
    names.0.dedup();
    assert_eq!(names.0.len(), count);
}
