//! A device that dispatches one shader: operand words go in, found words come out. Results of float arithmetic are decorated so
//! that drivers don't rewrite them.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use wgpu::{BufferUsages, Features};

const FEATURES: Features =
    Features::SHADER_F64.union(Features::SHADER_INT64).union(Features::PASSTHROUGH_SHADERS);

pub struct TestDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// What a future comes to that is ready on native platforms.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(made) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return made;
        }
    }
}

/// SPIR-V of a shader, in which no result of float arithmetic may be contracted or rewritten.
pub fn spirv(wgsl: &str) -> Vec<u32> {
    let module =
        naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|e| panic!("{}\n{wgsl}", e.emit_to_string(wgsl)));
    let capabilities = Capabilities::FLOAT64 | Capabilities::SHADER_INT64;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}\n{wgsl}", e.emit_to_string(wgsl)));
    let options =
        spv::Options { flags: spv::WriterFlags::empty(), lang_version: (1, 3), ..spv::Options::default() };
    exact(spv::write_vec(&module, &info, &options, None).unwrap())
}

fn exact(words: Vec<u32>) -> Vec<u32> {
    // Of SPIR-V: FNegate, FAdd, FSub, FMul, FDiv, FRem, FMod, and ExtInst.
    let arithmetic: HashSet<u32> = [127, 129, 131, 133, 136, 140, 141, 12].into();
    let instructions = |words: &[u32]| {
        let mut at = 5;
        let mut found = Vec::new();
        while at < words.len() {
            found.push((words[at] & 0xffff, at));
            at += (words[at] >> 16) as usize;
        }
        found
    };
    let all = instructions(&words);
    let results = all.iter().filter(|(op, _)| arithmetic.contains(op)).map(|(_, at)| words[at + 2]);
    // Decorations stand before the first type (OpType* are 19 to 39).
    let first_type = all.iter().find(|(op, _)| (19..=39).contains(op)).unwrap().1;
    let decorations: Vec<u32> = results.flat_map(|id| [3 << 16 | 71, id, 42]).collect();
    [&words[..first_type], &decorations, &words[first_type..]].concat()
}

impl TestDevice {
    /// None where there is no adapter that has what is needed.
    pub fn open() -> Option<TestDevice> {
        let description = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let instance = wgpu::Instance::new(description);
        let adapters = ready(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let adapter = adapters.into_iter().find(|adapter| adapter.features().contains(FEATURES))?;
        eprintln!("{:?}", adapter.get_info());
        // SAFETY: of the experimental features only passing SPIR-V through is used, which was validated.
        #[allow(unsafe_code)]
        let experimental_features = unsafe { wgpu::ExperimentalFeatures::enabled() };
        let description = wgpu::DeviceDescriptor {
            required_features: FEATURES,
            required_limits: adapter.limits(),
            experimental_features,
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = ready(adapter.request_device(&description)).ok()?;
        Some(TestDevice { device, queue })
    }

    fn pipeline(&self, wgsl: &str) -> wgpu::ComputePipeline {
        let spirv = spirv(wgsl);
        let entry = wgpu::PassthroughShaderEntryPoint { name: "main".into(), workgroup_size: (64, 1, 1) };
        let description = wgpu::ShaderModuleDescriptorPassthrough {
            entry_points: vec![entry].into(),
            spirv: Some(spirv.into()),
            ..wgpu::ShaderModuleDescriptorPassthrough::default()
        };
        // SAFETY: naga wrote it after it had validated it; decorations change no meaning that it relies on.
        #[allow(unsafe_code)]
        let module = unsafe { self.device.create_shader_module_passthrough(description) };
        let entry = |binding: u32| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: binding < 2 },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let group = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0), entry(1), entry(2)],
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&group)],
            ..wgpu::PipelineLayoutDescriptor::default()
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    }

    fn buffer(&self, words: &[u64]) -> wgpu::Buffer {
        let size = words.len() as u64 * 8;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let description = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&description);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// Runs a shader for each of some lanes, a multiple of 64, and gives so many words back.
    pub fn run(
        &self,
        wgsl: &str,
        constants: &[u64],
        operands: &[u64],
        lanes: usize,
        found: usize,
    ) -> Vec<u64> {
        let pipeline = self.pipeline(wgsl);
        let buffers = [self.buffer(constants), self.buffer(operands), self.buffer(&vec![0; found])];
        let entries: Vec<wgpu::BindGroupEntry> = (0u32..)
            .zip(&buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let size = found as u64 * 8;
        let back = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(lanes as u32 / 64, 1, 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&buffers[2], 0, &back, 0, size);
        self.queue.submit([encoder.finish()]);
        back.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(Duration::from_secs(300)) };
        self.device.poll(wait).unwrap();
        let bytes = back.slice(..).get_mapped_range().unwrap();
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    }
}
