//! Columns of files as Arrow record batches, which arrive one after the other while threads compute the next ones.
//!
//! ```console
//! $ cargo run --release --example arrow_consumer [FILE]...
//! ```

use lanefish::arrow::array::{Array, Int16Array, Int32Array};
use lanefish::input::Inputs;
use lanefish::jobs::Scan;
use lanefish::table::Columns;
use lanefish::tiers;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files.push("data/lichess-2025-05.pgn".into());
    }
    let inputs = Inputs::resolve(&files, |_| true)?;
    let columns = Columns::named("legal_moves,score")?;

    let mut scan = Scan::new(inputs, columns, tiers::best(), |options| options.threads(2));
    for field in scan.schema().fields() {
        println!("{}: {}", field.name(), field.data_type());
    }

    // Legal moves where the players are about even: scores are missing where a record has none.
    let (mut rows, mut even, mut moves) = (0, 0_u32, 0);
    for batch in &mut scan {
        let batch = batch?;
        let [counts, scores] = batch.columns() else {
            return Err("two columns were asked for".into());
        };
        let counts = counts.as_any().downcast_ref::<Int32Array>().ok_or("legal_moves is a number")?;
        let scores = scores.as_any().downcast_ref::<Int16Array>().ok_or("score is i16")?;
        rows += batch.num_rows();
        for (count, score) in counts.iter().zip(scores) {
            if let (Some(count), Some(-50..=50)) = (count, score) {
                even += 1;
                moves += i64::from(count);
            }
        }
    }
    println!("{rows} positions, {even} of them about even");
    if even > 0 {
        println!("{:.2} legal moves on average in these", moves as f64 / f64::from(even));
    }
    Ok(())
}
