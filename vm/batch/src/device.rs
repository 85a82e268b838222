//! An opened device: its properties, its errors, and functions that wait for its work. This module is independent of
//! lanes and of shader texts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wgpu::{ErrorFilter, PollError, PollType};

use crate::error::BatchError;
use crate::info::DeviceInfo;
use crate::lowering::{LoweredIntegers, LoweredSingles, Lowering};
use crate::probe::Probe;
use crate::ready::ready;

/// A device that executes lanes. Clones share one opened device, which is closed when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct BatchDevice {
    opened: Arc<Opened>,
    lowering: Lowering,
    probe: Arc<Probe>,
    /// Flag that the caller sets to request an interrupt. Once the flag is set, waits end with
    /// [`BatchError::Interrupted`].
    stop: Option<Arc<AtomicBool>>,
}

/// Number types of a program, for which the device must compute the same bits as the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceNumbers {
    /// Integers, and fixed-point numbers, which are represented by integers.
    Integers,
    /// Floats of 64 bits.
    F64,
    /// Floats of 32 bits.
    F32,
}

#[derive(Debug)]
struct Opened {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: DeviceInfo,
    health: Arc<Health>,
    /// Serializes submissions and polls, because wgpu panics if a poll ends while another thread's poll is in progress.
    turn: Mutex<()>,
}

/// Errors that the device reported asynchronously. wgpu passes them to callbacks, from any thread.
#[derive(Debug, Default)]
struct Health {
    lost: AtomicBool,
    /// True as soon as a wait for the driver was abandoned. Later code then never waits for the device, because the
    /// driver may still be executing a call.
    abandoned: AtomicBool,
    error: Mutex<Option<BatchError>>,
}

/// Length of one wait. After each wait, the waiting code checks the device for errors, and lets other threads poll.
const A_WHILE: Duration = Duration::from_millis(20);
/// Time limit for one submission. Submissions are sized to take a tenth of a second. If a device hangs, its driver
/// usually resets the device within this limit. Compilation has no time limit: see [`BatchDevice::compiled`].
const PATIENCE: Duration = Duration::from_secs(300);
/// Time after an interrupt in which the driver may finish its current work. If the driver doesn't, the device is
/// abandoned.
const GRACE: Duration = Duration::from_millis(200);
/// Stack size of a compiling thread, in bytes. Drivers traverse a shader's blocks and expressions by recursion.
const COMPILER_STACK: usize = 32 << 20;

impl BatchDevice {
    /// Opens an adapter's device, with the errors of [`crate::Adapters::open_with`].
    pub(crate) fn open(
        adapter: &wgpu::Adapter,
        info: &DeviceInfo,
        known: Option<Probe>,
    ) -> Result<Self, BatchError> {
        let opened = Arc::new(Opened::of(adapter, info)?);
        Self::asked(opened, info.lowering(), known.filter(|probe| probe.is_of(info)))
    }

    /// Wraps an opened device. `known` is the result of an earlier capability probe; if it is `None`, probes the
    /// device. Fails if the device computes integers wrongly.
    fn asked(opened: Arc<Opened>, lowering: Lowering, known: Option<Probe>) -> Result<Self, BatchError> {
        let untested = Probe::untested(&opened.info, lowering);
        let mut device = Self { opened, lowering, probe: Arc::new(untested), stop: None };
        match known {
            Some(probe) => {
                device.lowering = probe.lowering;
                device.probe = Arc::new(probe);
            }
            None => device.ask()?,
        }
        device.is_exact_for(DeviceNumbers::Integers)?;
        Ok(device)
    }

    /// Probes the device. If 32-bit floats are inexact, probes the device with each other lowering of 32-bit floats,
    /// and keeps the first lowering that is exact.
    fn ask(&mut self) -> Result<(), BatchError> {
        self.probe = Arc::new(Probe::ask(self)?);
        if self.probe.f32_is_exact || self.lowering.singles != LoweredSingles::Native {
            return Ok(());
        }
        for lowering in self.lowering.with_other_singles() {
            let other = Self { lowering, ..self.clone() };
            let probe = Probe::ask(&other)?;
            if probe.f32_is_exact {
                *self = Self { probe: Arc::new(probe), ..other };
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the same device with another lowering of shaders, probed anew.
    #[cfg(test)]
    pub(crate) fn lowered(&self, lowering: Lowering) -> Result<Self, BatchError> {
        Self::asked(Arc::clone(&self.opened), lowering, None)
    }

    /// Returns a handle to the same device with the flag `stop`. Once the flag is set, work of the handle ends with
    /// [`BatchError::Interrupted`], even while the driver compiles. If the driver then doesn't finish its current work
    /// within a grace period, the device is abandoned and counts as lost.
    #[must_use]
    pub fn stopped_by(&self, stop: Option<Arc<AtomicBool>>) -> Self {
        Self { stop, ..self.clone() }
    }

    /// Returns the properties of the device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.opened.info
    }

    /// Returns the lowering of shaders for this device.
    pub(crate) fn lowering(&self) -> Lowering {
        self.lowering
    }

    /// Returns the result of the capability probe.
    #[must_use]
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Lists the device's properties for the user, each as a name and a value.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, String)> {
        let info = self.info();
        let mut all = vec![
            ("driver".to_owned(), info.driver.clone()),
            ("kind".to_owned(), kind(info).to_owned()),
            ("largest binding".to_owned(), format!("{} MiB", info.most_bytes_of_binding >> 20)),
            ("lanes in lockstep".to_owned(), info.lanes_together.to_string()),
        ];
        let own = self.lowering.answers();
        all.extend(own.map(|(question, answer)| (question.to_owned(), answer.to_owned())));
        all.extend(self.probe.answers());
        all
    }

    /// Checks that the device computes the same bits as the CPU for a number type.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Lacks`] if the device doesn't have these numbers, and [`BatchError::Inexact`] if the
    /// device's results have other bits than the CPU's.
    pub fn is_exact_for(&self, numbers: DeviceNumbers) -> Result<(), BatchError> {
        self.has(numbers)?;
        let (is_exact, of) = match numbers {
            DeviceNumbers::Integers => (self.probe.i64_is_exact, "i64"),
            DeviceNumbers::F64 => (self.probe.f64_is_exact, "f64"),
            DeviceNumbers::F32 => (self.probe.f32_is_exact, "f32"),
        };
        if is_exact {
            return Ok(());
        }
        Err(BatchError::Inexact { device: self.info().name.clone(), what: self.probe.first_wrong_of(of) })
    }

    /// Checks that the device has a number type. A device with 64-bit floats must also have native 64-bit integers:
    /// the bits of a float pass through a 64-bit word, which can't be a pair of 32-bit words.
    ///
    /// # Errors
    ///
    /// Returns [`BatchError::Lacks`] if the device doesn't have the number type.
    pub(crate) fn has(&self, numbers: DeviceNumbers) -> Result<(), BatchError> {
        let is_native = self.lowering.integers == LoweredIntegers::Native;
        let lacks =
            |feature| self.info().lacks(feature, "use fixed point, f32, another device, or the processor");
        match numbers {
            DeviceNumbers::F64 if !self.info().has_f64 => Err(lacks("SHADER_F64")),
            DeviceNumbers::F64 if !is_native => Err(lacks("SHADER_INT64")),
            DeviceNumbers::F64 | DeviceNumbers::F32 | DeviceNumbers::Integers => Ok(()),
        }
    }

    /// Destroys the device and frees its memory at once. Batches in progress and all later batches end with
    /// [`BatchError::Lost`]. This function is for tests, and for callers that need the memory while other handles to
    /// the device exist.
    pub fn destroy(&self) {
        self.opened.health.lose();
        self.opened.device.destroy();
    }

    /// Returns true if the device is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.opened.health.is_lost()
    }

    pub(crate) fn wgpu(&self) -> &wgpu::Device {
        &self.opened.device
    }

    pub(crate) fn queue(&self) -> &wgpu::Queue {
        &self.opened.queue
    }

    /// Submits commands to the device.
    pub(crate) fn submit(&self, commands: wgpu::CommandBuffer) -> wgpu::SubmissionIndex {
        let _turn = self.opened.turn();
        self.opened.queue.submit([commands])
    }

    /// Checks that the device isn't lost and has reported no error. A lost device accepts work, reports no error and
    /// does nothing, so callers check before and after each use.
    pub(crate) fn is_well(&self) -> Result<(), BatchError> {
        if self.is_lost() {
            return Err(BatchError::Lost);
        }
        self.opened.health.error()
    }

    /// Returns the error to report for a wgpu call that failed. A lost device rejects most calls with misleading
    /// reasons. So if the device is lost, [`BatchError::Lost`] is reported instead of `error`.
    pub(crate) fn refused(&self, error: &dyn std::error::Error) -> BatchError {
        self.is_well().err().unwrap_or_else(|| BatchError::Device(error.to_string()))
    }

    /// Executes `work`, which makes wgpu calls that may report errors, and returns the first reported error. `lanes` is
    /// the number of lanes for which `work` requests memory; [`BatchError::Memory`] reports this number.
    pub(crate) fn watched<T>(&self, lanes: usize, work: impl FnOnce() -> T) -> Result<T, BatchError> {
        self.is_well()?;
        let filters = [ErrorFilter::Internal, ErrorFilter::Validation, ErrorFilter::OutOfMemory];
        let scopes = filters.map(|filter| self.wgpu().push_error_scope(filter));
        let done = work();
        // Scopes are popped in reverse order. Each scope must be popped, even if another one has an error.
        let errors: Vec<wgpu::Error> =
            scopes.into_iter().rev().filter_map(|scope| ready(scope.pop())).collect();
        self.is_well()?;
        match errors.into_iter().next() {
            None => Ok(done),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(BatchError::Memory { lanes }),
            Some(error) => Err(BatchError::Device(error.to_string())),
        }
    }

    /// Runs a compilation on a separate thread, and waits without a time limit until the compilation ends or an
    /// interrupt is requested. A driver may take minutes for a long shader. During that time, it can't be interrupted,
    /// and reports nothing.
    ///
    /// # Errors
    ///
    /// Returns errors of `compile`, and [`BatchError::Interrupted`].
    pub(crate) fn compiled<T: Send + 'static>(
        &self,
        compile: impl FnOnce(&BatchDevice) -> Result<T, BatchError> + Send + 'static,
    ) -> Result<T, BatchError> {
        self.is_wanted()?;
        let (sender, receiver) = sync_channel(1);
        // If no thread can be started, the calling thread compiles.
        let compile = Arc::new(Mutex::new(Some(compile)));
        let take = |compile: &Mutex<Option<_>>| compile.lock().ok().and_then(|mut compile| compile.take());
        let (own, device) = (Arc::clone(&compile), self.stopped_by(None));
        let work = move || {
            if let Some(compile) = take(&own) {
                let _ = sender.send(compile(&device));
            }
        };
        let thread = thread::Builder::new().name("shaders".to_owned()).stack_size(COMPILER_STACK);
        if thread.spawn(work).is_err()
            && let Some(compile) = take(&compile)
        {
            return compile(self);
        }
        let mut stopped = None;
        loop {
            match receiver.recv_timeout(A_WHILE) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) => self.may_continue(&mut stopped)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BatchError::Device(
                        "the driver failed while it compiled a shader".to_owned(),
                    ));
                }
            }
        }
    }

    /// Returns an error and abandons the device if a wait for the driver should end. A wait should end if an interrupt
    /// was requested and the grace period after the request is over. `stopped` holds the time at which the request was
    /// first noticed.
    fn may_continue(&self, stopped: &mut Option<Instant>) -> Result<(), BatchError> {
        if self.is_wanted().is_ok() {
            return Ok(());
        }
        if stopped.get_or_insert_with(Instant::now).elapsed() < GRACE {
            return Ok(());
        }
        self.opened.health.abandon();
        Err(BatchError::Interrupted)
    }

    /// Returns [`BatchError::Interrupted`] if the caller has requested an interrupt.
    fn is_wanted(&self) -> Result<(), BatchError> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(BatchError::Interrupted),
            _ => Ok(()),
        }
    }

    /// Waits until a buffer is mapped. The caller has requested the mapping after `submission`; the channel `mapped`
    /// receives the result of the request.
    pub(crate) fn wait(
        &self,
        submission: &wgpu::SubmissionIndex,
        mapped: &Receiver<Result<(), wgpu::BufferAsyncError>>,
        limit: WaitLimit,
    ) -> Result<(), BatchError> {
        let begin = Instant::now();
        let mut stopped = None;
        loop {
            self.may_continue(&mut stopped)?;
            self.is_well()?;
            self.opened.poll(Some(submission))?;
            // If another thread's poll processes this mapping, the result may arrive slightly after this thread's poll
            // has ended.
            match mapped.recv_timeout(Duration::from_millis(1)) {
                Ok(Ok(())) => return self.is_well(),
                Ok(Err(error)) => return Err(self.refused(&error)),
                Err(_) if limit == WaitLimit::Patience && begin.elapsed() > PATIENCE => {
                    self.opened.health.abandon();
                    return Err(BatchError::Device(format!(
                        "a submission didn't finish within {} s",
                        PATIENCE.as_secs()
                    )));
                }
                Err(_) => (),
            }
        }
    }
}

/// The time limit of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitLimit {
    /// The wait fails after [`PATIENCE`]; a device that takes longer is assumed to hang.
    Patience,
    /// No limit, because the driver may compile a shader before it executes the submission.
    None,
}

fn kind(info: &DeviceInfo) -> &'static str {
    match (info.is_software, info.is_discrete) {
        (true, _) => "software on the CPU",
        (false, true) => "with dedicated memory",
        (false, false) => "shares memory with the processor",
    }
}

impl Opened {
    fn of(adapter: &wgpu::Adapter, info: &DeviceInfo) -> Result<Self, BatchError> {
        let wanted = wgpu::Features::SHADER_F64
            | wgpu::Features::SHADER_INT64
            | wgpu::Features::PASSTHROUGH_SHADERS
            | wgpu::Features::TIMESTAMP_QUERY;
        let (device, queue) = ready(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("reviver"),
            required_features: adapter.features() & wanted,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        }))
        .map_err(|error| BatchError::Device(error.to_string()))?;
        let health = Arc::new(Health::default());
        let (of_errors, of_loss) = (health.clone(), health.clone());
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| of_errors.note(&error)));
        device.set_device_lost_callback(move |_, _| of_loss.lose());
        Ok(Self { device, queue, info: info.clone(), health, turn: Mutex::new(()) })
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes finished work. Waits for `submission`, but at most for [`A_WHILE`]. If `submission` is `None`, waits
    /// for all submissions.
    fn poll(&self, submission: Option<&wgpu::SubmissionIndex>) -> Result<(), BatchError> {
        let wait = PollType::Wait { submission_index: submission.cloned(), timeout: Some(A_WHILE) };
        let _turn = self.turn();
        // wgpu panics if a driver reports that its device was lost.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(wait))) {
            Ok(Ok(_) | Err(PollError::Timeout)) => Ok(()),
            Ok(Err(_)) if self.health.is_lost() => Err(BatchError::Lost),
            Ok(Err(error)) => Err(BatchError::Device(error.to_string())),
            Err(_) => {
                self.health.lose();
                Err(BatchError::Lost)
            }
        }
    }
}

impl Drop for Opened {
    /// Waits for unfinished work before the device is dropped, because dropping a busy device can block forever. Leaks
    /// a device that stays busy.
    fn drop(&mut self) {
        let begin = Instant::now();
        let mut is_idle = false;
        while !is_idle && !self.health.is_abandoned() && begin.elapsed() < PATIENCE {
            let wait = PollType::Wait { submission_index: None, timeout: Some(A_WHILE) };
            match catch_unwind(AssertUnwindSafe(|| self.device.poll(wait))) {
                Ok(Err(PollError::Timeout)) => (),
                Ok(_) | Err(_) => is_idle = true,
            }
        }
        if !is_idle {
            std::mem::forget((self.device.clone(), self.queue.clone()));
        }
    }
}

impl Health {
    fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Marks the device as abandoned and lost. From then on, nothing waits for the device, even if the driver
    /// continues.
    fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
        self.lose();
    }

    fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    fn note(&self, error: &wgpu::Error) {
        let mut noted = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get_or_insert_with(|| BatchError::Device(error.to_string()));
    }

    /// Returns the error that the device reported asynchronously, if any, and clears it.
    fn error(&self) -> Result<(), BatchError> {
        let noted = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        noted.map_or(Ok(()), Err)
    }
}
