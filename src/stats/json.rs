//! The statistics as one JSON object, keys in a fixed order.

use super::{Distribution, HeatMaps, Mates, Stats};
use serde_json::{Map, Value, json};

impl Stats {
    /// The object of `stats --json` without its `run` key.
    ///
    /// `en_passant` counts the positions in which an en passant capture is legal, or with `keep_en_passant` those
    /// with any en passant square.
    pub fn to_json(&self, keep_en_passant: bool) -> Map<String, Value> {
        let heat = self.heat();
        let moves = self.legal_moves();
        let [material_white, material_black] = self.material_histograms();
        let castling = self.castling();
        let results = self.results();
        let attacked = |map: &[u64; 64]| {
            let sum: u64 = map.iter().sum();
            json!({ "sum": sum, "mean": mean(sum, self.positions) })
        };
        let occupancy: Map<String, Value> = HeatMaps::PIECES
            .iter()
            .zip(heat.occupancy())
            .map(|(piece, map)| (piece.to_string(), json!(map.as_slice())))
            .collect();
        let [attacks_white, attacks_black] = [&heat.attacks()[0], &heat.attacks()[1]];
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("version", json!(env!("CARGO_PKG_VERSION")));
        put("positions", json!(self.positions()));
        put("rejected", json!(self.rejected()));
        put(
            "stm",
            json!({ "white": self.white_to_move(), "black": self.black_to_move() }),
        );
        put("in_check", json!(self.in_check()));
        put("double_check", json!(self.double_check()));
        put("checkmate", json!(self.checkmate()));
        put("stalemate", json!(self.stalemate()));
        let mut legal = summary(&moves);
        legal.insert("histogram".to_owned(), json!(self.legal_moves_histogram()));
        put("legal_moves", Value::Object(legal));
        put("legal_captures", json!(self.legal_captures()));
        put("legal_promotions", json!(self.legal_promotions()));
        put("legal_castles", json!(self.legal_castles()));
        put("legal_en_passants", json!(self.legal_en_passants()));
        put("attacked_white", attacked(attacks_white));
        put("attacked_black", attacked(attacks_black));
        put("pieces", json!({ "histogram": self.pieces_histogram() }));
        put("phase", json!({ "histogram": self.phase_histogram() }));
        put(
            "material",
            json!({ "white": material_white, "black": material_black }),
        );
        put(
            "castling",
            json!({
                "none": castling.none,
                "some": castling.some,
                "K": castling.white_king,
                "Q": castling.white_queen,
                "k": castling.black_king,
                "q": castling.black_queen,
            }),
        );
        let en_passant = if keep_en_passant {
            self.with_en_passant_square()
        } else {
            self.with_legal_en_passant()
        };
        put("en_passant", json!(en_passant));
        put("occupancy", Value::Object(occupancy));
        put(
            "attack_map",
            json!({ "white": attacks_white.as_slice(), "black": attacks_black.as_slice() }),
        );
        put(
            "results",
            json!({
                "white": results.white,
                "draw": results.draw,
                "black": results.black,
                "unknown": results.unknown,
            }),
        );
        let (scores, mates) = (self.scores(), self.mates());
        let has_mates = scores.is_some() || mates != Mates::default();
        if let Some(scores) = scores {
            let mut score = Map::from_iter([("count".to_owned(), json!(scores.count))]);
            score.extend(summary(&scores));
            put("score", Value::Object(score));
        }
        if has_mates {
            put(
                "mate",
                json!({ "white": mates.white, "black": mates.black }),
            );
        }
        object
    }
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn summary(summary: &Distribution) -> Map<String, Value> {
    // serde_json's numbers have 64 bits, more than any sum of real data.
    let sum =
        i64::try_from(summary.sum).map_or_else(|_| json!(summary.sum as f64), |sum| json!(sum));
    [
        ("sum", sum),
        ("min", json!(summary.min)),
        ("max", json!(summary.max)),
        ("mean", json!(summary.mean)),
        ("median", json!(summary.median)),
        ("stddev", json!(summary.stddev)),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}
