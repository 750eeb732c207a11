//! How the inputs of a network are covered, as JSON and back.

use super::reader::Reader;
use super::{MOST, ReportError, SIDES, named};
use crate::report::{FeatureCoverage, FeatureDifference, Hanging, ThreatCounts};
use crate::table::FeatureSet;
use serde_json::{Value, json};

impl FeatureCoverage {
    pub(super) fn to_json(&self) -> Value {
        let mut object = super::object([
            ("set", json!(self.set.name())),
            ("inputs", json!(self.set.inputs())),
            ("lists", json!(self.lists)),
            ("seen", json!(self.seen())),
            ("never_seen", json!(self.never_seen())),
            ("seen_under_100", json!(self.seen_under_100())),
            ("active_sum", json!(self.active_sum())),
            ("active_mean", json!(self.active_mean())),
            ("active_max", json!(self.active_max)),
        ]);
        if let Some(buckets) = &self.king_buckets {
            object.insert("king_buckets".to_owned(), json!(buckets));
        }
        if let Some(threats) = &self.threats {
            object.insert("attacks".to_owned(), json!(threats.attacks));
            let hanging = threats.hanging.map(|Hanging { undefended, attacked_by_less }| {
                json!({ "undefended": undefended, "attacked_by_less": attacked_by_less })
            });
            object.insert("hanging".to_owned(), named(SIDES, hanging));
        }
        object.insert("counts".to_owned(), json!(self.counts));
        object.into()
    }

    pub(super) fn from_json(root: &Reader<'_>, positions: u64) -> Result<Self, ReportError> {
        let name = root.get("set")?;
        let set = FeatureSet::parse_indices(name.text()?).map_err(|_| name.not("a set of features"))?;
        let mut coverage = Self::none_of(set);
        let lists = root.get("lists")?;
        coverage.lists = lists.number()?;
        if coverage.lists != 2 * positions {
            return Err(lists.not("two lists for each position"));
        }
        let of_lists = |list: Reader<'_>, counts: &mut [u64]| -> Result<(), ReportError> {
            let values: Vec<u64> = list.list()?.map(|count| count.at_most(2 * positions)).collect::<Result<_, _>>()?;
            if values.len() != counts.len() {
                return Err(list.not("a list of another length"));
            }
            counts.copy_from_slice(&values);
            Ok(())
        };
        of_lists(root.get("counts")?, &mut coverage.counts)?;
        coverage.active_max = root.get("active_max")?.at_most(coverage.set.inputs().into())?;
        if let Some(buckets) = &mut coverage.king_buckets {
            of_lists(root.get("king_buckets")?, buckets)?;
        }
        if let Some(threats) = &mut coverage.threats {
            let ThreatCounts { attacks, hanging } = &mut **threats;
            let rows = root.get("attacks")?;
            let mut count = 0;
            for (row, counts) in rows.list()?.zip(attacks.iter_mut()) {
                *counts = row.numbers()?;
                count += 1;
            }
            if count < attacks.len() {
                return Err(rows.not("twelve rows"));
            }
            // A position has at most 64 pieces of each color.
            let most = positions.saturating_mul(64).min(MOST);
            *hanging = root.named("hanging", SIDES, |side| {
                Ok(Hanging {
                    undefended: side.get("undefended")?.at_most(most)?,
                    attacked_by_less: side.get("attacked_by_less")?.at_most(most)?,
                })
            })?;
        }
        Ok(coverage)
    }
}

impl FeatureDifference {
    pub(super) fn to_json(&self) -> Value {
        let indices = |dataset: usize| self.only[dataset].iter().map(|(index, _)| json!(index)).collect::<Value>();
        json!({
            "set": self.set.name(),
            "seen_a": self.seen[0],
            "seen_b": self.seen[1],
            "only_a": indices(0),
            "only_b": indices(1),
        })
    }
}
