//! Lanes on a GPU, or any other device of wgpu. A plan is a sequence of passes, each with one shader. Afterwards the
//! CPU executes the lanes that the device didn't complete. This module generates no shader text.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_batch::{
    Adapters, BatchDevice, BatchError, DeviceInfo, DeviceLanes, LaneStatus, LanesRun, Probe,
};
use reviver_memory::ask;

use super::cpu::{Cpu, CpuLanes};
use super::device::{BlockOutcome, LaneBlock, LaneDevice, LanesDone, PreparedLanes, zeros};
use super::dual_lane;
use super::gpu_pass::{DevicePass, failed};
use super::gpu_passes::passes;
use super::no_device::NoDevice;
use super::plan::LanePlan;
use super::probes::ProbeKeeper;
use crate::error::Error;

/// GPU opened for lanes.
#[derive(Debug)]
pub(super) struct Gpu {
    device: BatchDevice,
    name: String,
}

/// Opens the GPU that is best for most batches.
pub(super) fn best(keeper: &dyn ProbeKeeper) -> Result<Gpu, NoDevice> {
    let adapters = Adapters::list();
    let found = adapters.auto().or_else(|| adapters.infos().next());
    opened(&adapters, found.map_or_else(|| adapters.named("gpu"), Ok)?, keeper)
}

/// Opens the GPU that `name` matches.
pub(super) fn named(name: &str, keeper: &dyn ProbeKeeper) -> Result<Gpu, NoDevice> {
    let adapters = Adapters::list();
    opened(&adapters, adapters.named(name)?, keeper)
}

/// Returns true if this machine may have a hardware GPU. Loads no driver.
pub(super) fn may_exist() -> bool {
    Adapters::may_have_hardware()
}

/// Opens the best hardware GPU, or returns `None` if there is none.
pub(super) fn real(keeper: &dyn ProbeKeeper) -> Option<Gpu> {
    if !may_exist() {
        return None;
    }
    let adapters = Adapters::list();
    opened(&adapters, adapters.auto()?, keeper).ok()
}

fn opened(adapters: &Adapters, info: &DeviceInfo, keeper: &dyn ProbeKeeper) -> Result<Gpu, NoDevice> {
    let kept = keeper.kept(&info.with_driver()).and_then(|text| Probe::from_text(&text));
    let device = match kept.filter(|probe| probe.is_of(info)) {
        Some(known) => adapters.open_with(info, Some(known))?,
        None => asked(adapters, info, keeper)?,
    };
    let name = device.info().name.clone();
    Ok(Gpu { device, name })
}

/// Opens a device with its capability probe, and stores the probe with `keeper`.
pub(super) fn asked(
    adapters: &Adapters,
    info: &DeviceInfo,
    keeper: &dyn ProbeKeeper,
) -> Result<BatchDevice, BatchError> {
    let device = adapters.open(info)?;
    keeper.keep(&info.with_driver(), &device.probe().to_text());
    Ok(device)
}

impl LaneDevice for Gpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&self, plan: &Arc<LanePlan>) -> Result<Box<dyn PreparedLanes>, Error> {
        let passes = passes(&self.device.stopped_by(plan.options.interrupt.clone()), plan)?;
        let processor = Cpu::all().lanes(plan)?;
        Ok(Box::new(GpuLanes { name: self.name.clone(), plan: Arc::clone(plan), passes, processor }))
    }
}

/// Device that uses a GPU for plans that it can execute, and the CPU for all others.
#[derive(Debug)]
pub(super) struct Auto {
    gpu: Gpu,
    processor: Cpu,
}

impl Auto {
    pub fn new(gpu: Gpu) -> Auto {
        Auto { gpu, processor: Cpu::all() }
    }
}

impl LaneDevice for Auto {
    fn name(&self) -> &str {
        "auto"
    }

    fn prepare(&self, plan: &Arc<LanePlan>) -> Result<Box<dyn PreparedLanes>, Error> {
        match self.gpu.prepare(plan) {
            Err(Error::Device(_)) => self.processor.prepare(plan),
            prepared => prepared,
        }
    }
}

#[derive(Debug)]
struct GpuLanes {
    name: String,
    plan: Arc<LanePlan>,
    passes: Vec<DevicePass>,
    processor: CpuLanes,
}

impl PreparedLanes for GpuLanes {
    fn device(&self) -> &str {
        &self.name
    }

    fn switched_loops(&self) -> u32 {
        self.passes.iter().map(DevicePass::switched_loops).max().unwrap_or(0)
    }

    fn carry_out(&self, block: LaneBlock<'_, '_>, progress: &LanesDone<'_>) -> Result<BlockOutcome, Error> {
        let LaneBlock { first, lanes, inputs, results } = block;
        let mut is_open = ask::filled(false, lanes)?;
        let mut outcome = BlockOutcome::default();
        for pass in &self.passes {
            let ran = self.go(pass, inputs, results, &mut is_open)?;
            outcome.compile += ran.compile;
            outcome.upload += ran.upload;
            outcome.download += ran.download;
            outcome.add_work(ran.worked);
        }
        dual_lane::round(&self.plan, results);
        let open: Vec<usize> =
            (0..).zip(&is_open).filter(|(_, is_open)| **is_open).map(|(row, _)| row).collect();
        progress((lanes - open.len()) as u64);
        outcome.add(self.by_processor(first, &open, inputs, results, progress)?);
        Ok(outcome)
    }
}

impl GpuLanes {
    /// Runs one pass for all lanes of a block. Lanes that the device doesn't complete are marked in `is_open`.
    fn go(
        &self,
        pass: &DevicePass,
        inputs: &[&[u64]],
        results: &mut [&mut [u64]],
        is_open: &mut [bool],
    ) -> Result<LanesRun, Error> {
        let never = AtomicBool::new(false);
        let stop = self.plan.options.interrupt.as_deref().unwrap_or(&never);
        let run = |lanes: &DeviceLanes, given: &[&[u64]], found: &mut [&mut [u64]]| {
            lanes.run(given, found, is_open.len(), self.plan.options.most_steps, stop).map_err(failed)
        };
        let ran = pass.run(inputs, results, is_open, run)?;
        for (is_open, status) in is_open.iter_mut().zip(&ran.statuses) {
            *is_open |= *status != LaneStatus::Finished;
        }
        Ok(ran)
    }

    /// Executes the lanes at the given rows of a block on the CPU.
    fn by_processor(
        &self,
        first: u64,
        rows: &[usize],
        inputs: &[&[u64]],
        results: &mut [&mut [u64]],
        progress: &LanesDone<'_>,
    ) -> Result<BlockOutcome, Error> {
        if rows.is_empty() {
            return Ok(BlockOutcome::default());
        }
        let picked = |column: &&[u64]| {
            ask::collected(rows.iter().map(|&row| column.get(row).copied().unwrap_or_default()))
        };
        let own = inputs.iter().map(picked).collect::<Result<Vec<_>, _>>()?;
        let own: Vec<&[u64]> = own.iter().map(Vec::as_slice).collect();
        let mut found = zeros(results.len(), rows.len())?;
        let mut columns: Vec<&mut [u64]> = found.iter_mut().map(Vec::as_mut_slice).collect();
        let block = LaneBlock { first: 0, lanes: rows.len(), inputs: &own, results: &mut columns };
        let outcome = self.processor.carry_out(block, progress)?;
        for (column, found) in results.iter_mut().zip(&found) {
            for (&row, &bits) in rows.iter().zip(found) {
                if let Some(slot) = column.get_mut(row) {
                    *slot = bits;
                }
            }
        }
        let number = |place: u64| {
            let row = usize::try_from(place).ok().and_then(|place| rows.get(place));
            first + row.map_or(0, |&row| row as u64)
        };
        Ok(BlockOutcome { by_processor: rows.len() as u64, ..outcome.renumbered(number) })
    }
}
