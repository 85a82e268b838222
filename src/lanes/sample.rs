//! Random sample of a batch's lanes, whose derivatives are verified after the last lane. Each successful lane has
//! about the same probability. The selection is deterministic (Vitter, "Random sampling with a reservoir", 1985).

use reviver::Error;
use reviver::batch::prepared::PreparedBatch;
use reviver_vm::differentiate::check::Check;

use super::DoneBlock;

/// Reservoir of sampled lanes, one for each slot; `None` while a slot is unused.
pub struct LaneSample {
    slots: Vec<Option<SampledLane>>,
}

/// Sampled lane with its inputs and results.
pub struct SampledLane {
    pub lane: u64,
    inputs: Vec<u64>,
    results: Vec<u64>,
    /// Comparison of the lane's derivatives; `None` before verification.
    pub check: Option<Check>,
}

/// Lanes of a block that may enter the sample: lane number and inputs. They are selected before their outcome is
/// known, so some may have failed.
pub type PickedInputs = Vec<(u64, Vec<u64>)>;

impl LaneSample {
    /// Creates a sample of `lanes` lanes.
    pub fn new(lanes: usize) -> LaneSample {
        LaneSample { slots: (0..lanes).map(|_| None).collect() }
    }

    /// Returns true if the user requested that lanes are verified.
    pub fn is_asked(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Returns the lanes in the sample.
    pub fn lanes(&self) -> impl Iterator<Item = &SampledLane> {
        self.slots.iter().flatten()
    }

    /// Adds the lanes of a block that [`picked`] selected, except failed ones. A lane replaces the earlier lane in the
    /// same slot.
    pub fn add(&mut self, picked: PickedInputs, block: &DoneBlock) {
        for (lane, inputs) in picked {
            let row = usize::try_from(lane - block.first).unwrap_or(usize::MAX);
            if block.failure(row).is_some() {
                continue;
            }
            let results = block.columns.iter().map(|column| column.get(row).copied().unwrap_or_default());
            let sampled = SampledLane { lane, inputs, results: results.collect(), check: None };
            let slot = slot(self.slots.len(), lane).and_then(|slot| self.slots.get_mut(slot));
            if let Some(slot) = slot {
                *slot = Some(sampled);
            }
        }
    }

    /// Verifies the derivatives of the sampled lanes, in ascending order of the lanes.
    pub fn check(&mut self, prepared: &PreparedBatch) -> Result<(), Error> {
        self.slots.sort_by_key(|slot| slot.as_ref().map(|sampled| sampled.lane));
        for sampled in self.slots.iter_mut().flatten() {
            sampled.check = Some(prepared.check(&sampled.inputs, &sampled.results)?);
        }
        Ok(())
    }
}

/// Selects the lanes of a block that enter a sample of `most` lanes, and returns their inputs.
pub fn picked(most: usize, first: u64, lanes: usize, columns: &[&[u64]]) -> PickedInputs {
    let mut picked = PickedInputs::new();
    for row in 0..if most == 0 { 0 } else { lanes } {
        let lane = first + row as u64;
        if slot(most, lane).is_some() {
            let inputs = columns.iter().map(|column| column.get(row).copied().unwrap_or_default());
            picked.push((lane, inputs.collect()));
        }
    }
    picked
}

/// Returns the slot of a lane in a sample of `most` lanes, if the lane enters the sample. A later lane may get the
/// same slot and replace the lane.
fn slot(most: usize, lane: u64) -> Option<usize> {
    let slot = if lane < most as u64 { lane } else { mixed(lane) % (lane + 1) };
    usize::try_from(slot).ok().filter(|&slot| slot < most)
}

/// Mixes a number by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::{picked, slot};

    #[test]
    fn each_lane_is_in_the_sample_about_as_often() {
        let (most, lanes) = (100, 10_000);
        let mut slots = vec![0; most];
        for lane in 0..lanes {
            slot(most, lane).into_iter().for_each(|slot| slots[slot] = lane);
        }
        let early = slots.iter().filter(|&&lane| lane < lanes / 2).count();
        assert!((30..70).contains(&early), "{early}");
        assert_eq!(picked(3, 0, 3, &[&[7, 8, 9]]).len(), 3);
        assert!(picked(0, 0, 3, &[&[7, 8, 9]]).is_empty());
    }
}
