use lanefish::chess::Validity;
use lanefish::chess::fen::{self, CastlingStyle, FenOptions};
use std::hint::black_box;
use std::time::Instant;
fn main() {
    let packed = std::fs::read("../shared/data/epd/popularpos_lichess_v3.epd.zst").unwrap();
    let text = zstd::decode_all(&packed[..]).unwrap();
    let positions: Vec<_> = text
        .split(|&b| b == b'\n')
        .filter(|l| !l.is_empty())
        .map(|l| fen::parse(l, FenOptions::default()).unwrap().position)
        .collect();
    let lines: Vec<String> = positions.iter().map(|p| p.to_string()).collect();
    let best = |name: &str, f: &mut dyn FnMut()| {
        let mut best = f64::MAX;
        for _ in 0..std::env::args().nth(1).map_or(15, |a| a.parse().unwrap()) {
            let t = Instant::now();
            f();
            best = best.min(t.elapsed().as_secs_f64());
        }
        println!("{name}: {:.1} ns", best * 1e9 / lines.len() as f64);
    };
    best("parse", &mut || {
        for l in &lines {
            black_box(
                &fen::parse(black_box(l.as_bytes()), FenOptions::default())
                    .unwrap()
                    .position,
            );
        }
    });
    best("parse+valid", &mut || {
        for l in &lines {
            let r = fen::parse(black_box(l.as_bytes()), FenOptions::default()).unwrap();
            assert!(r.violations(Validity::Playable).is_empty());
            black_box(&r.position);
        }
    });
    best("valid", &mut || {
        for p in &positions {
            black_box(black_box(p).violations(Validity::Playable));
        }
    });
    best("cozy", &mut || {
        for l in &lines {
            black_box(cozy_chess::Board::from_fen(black_box(l), false).unwrap());
        }
    });
    let mut out = Vec::new();
    best("write", &mut || {
        out.clear();
        for p in &positions {
            p.write_fen(&mut out, CastlingStyle::Outermost);
        }
    });
    best("count", &mut || {
        let mut n = 0;
        for p in &positions {
            n += u64::from(p.count_legal());
        }
        black_box(n);
    });
    best("list", &mut || {
        let mut n = 0;
        for p in &positions {
            n += p.legal_moves().len();
        }
        black_box(n);
    });
    let boards: Vec<_> = lines
        .iter()
        .map(|l| cozy_chess::Board::from_fen(l, false).unwrap())
        .collect();
    best("cozy count", &mut || {
        let mut n = 0;
        for p in &boards {
            p.generate_moves(|m| {
                n += m.len();
                false
            });
        }
        black_box(n);
    });
}
