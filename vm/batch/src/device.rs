//! A device that was opened: what it is, whether it is still there, and waiting for it. Knows no lane and no shader's text.

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

/// A device that carries out lanes. Copies mean the same one; it is given back with the last of them.
#[derive(Clone, Debug)]
pub struct BatchDevice {
    opened: Arc<Opened>,
    lowering: Lowering,
    probe: Arc<Probe>,
    /// Ends whatever is waited for.
    stop: Option<Arc<AtomicBool>>,
}

/// Numbers that a program is about, whose bits must be the processor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceNumbers {
    /// Integers, and fixed point made of them.
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
    /// One thread at a time submits or polls: wgpu panics where a poll ends while another thread's is under way.
    turn: Mutex<()>,
}

/// What the device reported unasked. wgpu tells it to callbacks, from any thread.
#[derive(Debug, Default)]
struct Health {
    lost: AtomicBool,
    /// Set where its driver was left in the middle of something: nothing more is waited for.
    abandoned: AtomicBool,
    error: Mutex<Option<BatchError>>,
}

/// How long to wait at once before looking whether the device is still there, and whether another thread wants it.
const A_WHILE: Duration = Duration::from_millis(20);
/// How long a device may take for lanes that are meant to take a tenth of a second. Drivers reset devices that hang sooner than that. Compiling
/// has no limit: see [`BatchDevice::compiled`].
const PATIENCE: Duration = Duration::from_secs(300);
/// Time for a driver to finish its present work after an interrupt, before the device is abandoned.
const GRACE: Duration = Duration::from_millis(200);
/// The stack of a thread on which a driver compiles. Drivers go through a shader's blocks and expressions by recursion.
const COMPILER_STACK: usize = 32 << 20;

impl BatchDevice {
    /// See [`crate::Adapters::open_with`].
    pub(crate) fn open(
        adapter: &wgpu::Adapter,
        info: &DeviceInfo,
        known: Option<Probe>,
    ) -> Result<Self, BatchError> {
        let opened = Arc::new(Opened::of(adapter, info)?);
        Self::asked(opened, info.lowering(), known.filter(|probe| probe.is_of(info)))
    }

    /// A device that was opened, with what is known of it, or with what it answers.
    fn asked(opened: Arc<Opened>, lowering: Lowering, known: Option<Probe>) -> Result<Self, BatchError> {
        let unasked = Probe::unasked(&opened.info, lowering);
        let mut device = Self { opened, lowering, probe: Arc::new(unasked), stop: None };
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

    /// Asks what it gets right: where that aren't floats of 32 bits, it is asked again with its quotients made in other ways.
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

    /// The same device, which is given shaders in another form. It is asked anew.
    #[cfg(test)]
    pub(crate) fn lowered(&self, lowering: Lowering) -> Result<Self, BatchError> {
        Self::asked(Arc::clone(&self.opened), lowering, None)
    }

    /// The same device for work that ends with [`BatchError::Interrupted`] once a flag is set, even while its driver compiles. A driver that
    /// doesn't return soon after that is abandoned, and the device is lost.
    #[must_use]
    pub fn stopped_by(&self, stop: Option<Arc<AtomicBool>>) -> Self {
        Self { stop, ..self.clone() }
    }

    /// What it is.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.opened.info
    }

    /// What becomes of shaders for it.
    pub(crate) fn lowering(&self) -> Lowering {
        self.lowering
    }

    /// What it gets right.
    #[must_use]
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// What there is to tell of it, as questions and answers in the user's words.
    #[must_use]
    pub fn answers(&self) -> Vec<(String, String)> {
        let info = self.info();
        let mut all = vec![
            ("driver".to_owned(), info.driver.clone()),
            ("kind".to_owned(), kind(info).to_owned()),
            ("largest binding".to_owned(), format!("{} MiB", info.most_bytes_of_binding >> 20)),
            ("lanes that go together".to_owned(), info.lanes_together.to_string()),
        ];
        let own = self.lowering.answers();
        all.extend(own.map(|(question, answer)| (question.to_owned(), answer.to_owned())));
        all.extend(self.probe.answers());
        all
    }

    /// Whether its results have the processor's bits.
    ///
    /// # Errors
    ///
    /// [`BatchError::Lacks`] where it doesn't have such numbers, [`BatchError::Inexact`] where it gets them wrong.
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

    /// Whether it has such numbers. Floats of 64 bits go through words of 64 bits, which pairs aren't.
    ///
    /// # Errors
    ///
    /// [`BatchError::Lacks`].
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

    /// Ends the device and gives its memory back, whatever is under way on it. Batches that are under way, and all that come later,
    /// end with [`BatchError::Lost`]. For tests, and for whoever wants the memory while others still hold the device.
    pub fn destroy(&self) {
        self.opened.health.lose();
        self.opened.device.destroy();
    }

    /// Whether it is gone.
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

    /// Has the device carry out commands.
    pub(crate) fn submit(&self, commands: wgpu::CommandBuffer) -> wgpu::SubmissionIndex {
        let _turn = self.opened.turn();
        self.opened.queue.submit([commands])
    }

    /// Whether it is still there and has reported nothing. A device that is lost takes work without an error and does nothing, so
    /// that this is asked before and behind each use.
    pub(crate) fn is_well(&self) -> Result<(), BatchError> {
        if self.is_lost() {
            return Err(BatchError::Lost);
        }
        self.opened.health.error()
    }

    /// What a refusal of wgpu's means: a device that is lost refuses most things, for reasons of their own.
    pub(crate) fn refused(&self, error: &dyn std::error::Error) -> BatchError {
        self.is_well().err().unwrap_or_else(|| BatchError::Device(error.to_string()))
    }

    /// Carries out what may report errors, and returns the first of them. `lanes` is for how many room is asked.
    pub(crate) fn watched<T>(&self, lanes: usize, work: impl FnOnce() -> T) -> Result<T, BatchError> {
        self.is_well()?;
        let filters = [ErrorFilter::Internal, ErrorFilter::Validation, ErrorFilter::OutOfMemory];
        let scopes = filters.map(|filter| self.wgpu().push_error_scope(filter));
        let done = work();
        // Scopes are ended from the last to the first; each is ended, whatever the others tell.
        let errors: Vec<wgpu::Error> =
            scopes.into_iter().rev().filter_map(|scope| ready(scope.pop())).collect();
        self.is_well()?;
        match errors.into_iter().next() {
            None => Ok(done),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(BatchError::Memory { lanes }),
            Some(error) => Err(BatchError::Device(error.to_string())),
        }
    }

    /// Has the driver compile, on a thread of its own: a driver may take minutes for a long shader, can't be interrupted, and reports
    /// nothing meanwhile. So the wait has no time limit, and ends at an interrupt.
    ///
    /// # Errors
    ///
    /// Those of `compile`, and [`BatchError::Interrupted`].
    pub(crate) fn compiled<T: Send + 'static>(
        &self,
        compile: impl FnOnce(&BatchDevice) -> Result<T, BatchError> + Send + 'static,
    ) -> Result<T, BatchError> {
        self.is_wanted()?;
        let (tell, told) = sync_channel(1);
        // If no thread starts, this one does the work.
        let compile = Arc::new(Mutex::new(Some(compile)));
        let take = |compile: &Mutex<Option<_>>| compile.lock().ok().and_then(|mut compile| compile.take());
        let (own, device) = (Arc::clone(&compile), self.stopped_by(None));
        let work = move || {
            if let Some(compile) = take(&own) {
                let _ = tell.send(compile(&device));
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
            match told.recv_timeout(A_WHILE) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) => self.goes_on(&mut stopped)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BatchError::Device("its driver failed while it compiled".to_owned()));
                }
            }
        }
    }

    /// True if the driver's present work is waited for further; `stopped` is when an interrupt was first seen.
    fn goes_on(&self, stopped: &mut Option<Instant>) -> Result<(), BatchError> {
        if self.is_wanted().is_ok() {
            return Ok(());
        }
        if stopped.get_or_insert_with(Instant::now).elapsed() < GRACE {
            return Ok(());
        }
        self.opened.health.abandon();
        Err(BatchError::Interrupted)
    }

    /// Fails after an interrupt.
    fn is_wanted(&self) -> Result<(), BatchError> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(BatchError::Interrupted),
            _ => Ok(()),
        }
    }

    /// Waits until a buffer that was asked for behind `submission` is mapped, of which `mapped` tells.
    pub(crate) fn wait(
        &self,
        submission: &wgpu::SubmissionIndex,
        mapped: &Receiver<Result<(), wgpu::BufferAsyncError>>,
        limit: WaitLimit,
    ) -> Result<(), BatchError> {
        let begin = Instant::now();
        let mut stopped = None;
        loop {
            self.goes_on(&mut stopped)?;
            self.is_well()?;
            self.opened.poll(Some(submission))?;
            // Another thread's poll may be the one that tells it, a little later than ours ends.
            match mapped.recv_timeout(Duration::from_millis(1)) {
                Ok(Ok(())) => return self.is_well(),
                Ok(Err(error)) => return Err(self.refused(&error)),
                Err(_) if limit == WaitLimit::Patience && begin.elapsed() > PATIENCE => {
                    self.opened.health.abandon();
                    return Err(BatchError::Device(format!("no answer within {} s", PATIENCE.as_secs())));
                }
                Err(_) => (),
            }
        }
    }
}

/// How long a submission may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitLimit {
    /// As long as a device that isn't dead.
    Patience,
    /// However long: the driver may compile first.
    None,
}

fn kind(info: &DeviceInfo) -> &'static str {
    match (info.is_software, info.is_discrete) {
        (true, _) => "software on the processor",
        (false, true) => "with memory of its own",
        (false, false) => "shares the processor's memory",
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

    /// Lets the device tell what is done, and waits a while for a submission, or for all of them.
    fn poll(&self, submission: Option<&wgpu::SubmissionIndex>) -> Result<(), BatchError> {
        let wait = PollType::Wait { submission_index: submission.cloned(), timeout: Some(A_WHILE) };
        let _turn = self.turn();
        // wgpu panics where a driver says that its device is gone.
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
    /// A device that is dropped while it works can block for ever. What doesn't end is leaked instead.
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

    /// Nothing is waited for any more, whatever the driver does.
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

    /// The error that nobody asked for, once.
    fn error(&self) -> Result<(), BatchError> {
        let noted = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        noted.map_or(Ok(()), Err)
    }
}
