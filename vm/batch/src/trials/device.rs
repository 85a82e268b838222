//! A device for trials, as plain as can be: whatever is wrong is a panic.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use crate::shader::{LaneShader, WORKGROUP, status};

/// What became of lanes.
#[derive(Debug)]
pub struct Ran {
    /// By lane the words that it has come to.
    pub found: Vec<Vec<u64>>,
    pub statuses: Vec<u32>,
    pub steps: Vec<u64>,
    pub dispatches: u32,
}

/// Rounds of a lane in one dispatch, and the most steps.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub rounds: u32,
    pub most_steps: u64,
}

pub const PLENTY: Budget = Budget { rounds: 8000, most_steps: u64::MAX >> 1 };

fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

fn device() -> &'static (wgpu::Device, wgpu::Queue) {
    static DEVICE: OnceLock<(wgpu::Device, wgpu::Queue)> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = wait(instance.request_adapter(&wgpu::RequestAdapterOptions::default())).unwrap();
        let descriptor = wgpu::DeviceDescriptor {
            required_features: wgpu::Features::SHADER_F64
                | wgpu::Features::SHADER_INT64
                | wgpu::Features::PASSTHROUGH_SHADERS,
            required_limits: adapter.limits(),
            // SAFETY: what is passed through is naga's own text of modules that it has validated.
            #[allow(unsafe_code)]
            experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
            ..wgpu::DeviceDescriptor::default()
        };
        wait(adapter.request_device(&descriptor)).unwrap()
    })
}

/// The words of SPIR-V of a shader, of which nothing may be contracted.
pub fn compiled(wgsl: &str) -> Vec<u32> {
    let numbered =
        || wgsl.lines().enumerate().map(|(n, line)| format!("{}: {line}\n", n + 1)).collect::<String>();
    let module = naga::front::wgsl::parse_str(wgsl)
        .unwrap_or_else(|error| panic!("{}\n{}", numbered(), error.emit_to_string(wgsl)));
    let capabilities = naga::valid::Capabilities::FLOAT64 | naga::valid::Capabilities::SHADER_INT64;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
    let info = validator
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}\n{}", numbered(), error.emit_to_string(wgsl)));
    let options = naga::back::spv::Options { force_loop_bounding: false, ..Default::default() };
    uncontracted(naga::back::spv::write_vec(&module, &info, &options, None).unwrap())
}

fn uncontracted(words: Vec<u32>) -> Vec<u32> {
    let (mut at, mut first, mut results) = (5, None, Vec::new());
    while at < words.len() {
        let (code, length) = (words[at] & 0xffff, (words[at] >> 16) as usize);
        match code {
            71 => _ = first.get_or_insert(at),
            12 | 127 | 129 | 131 | 133 | 136 => results.push(words[at + 2]),
            _ => {}
        }
        at += length;
    }
    let mut text = words;
    let decorations: Vec<u32> = results.into_iter().flat_map(|result| [3 << 16 | 71, result, 42]).collect();
    let first = first.unwrap();
    text.splice(first..first, decorations);
    text
}

/// A shader that is ready.
pub struct Pipeline {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    shader: LaneShader,
}

impl Pipeline {
    pub fn new(shader: LaneShader) -> Pipeline {
        let (device, _) = device();
        let spirv = compiled(&shader.wgsl);
        // SAFETY: naga has validated and written it.
        #[allow(unsafe_code)]
        let module = unsafe {
            device.create_shader_module_passthrough(wgpu::ShaderModuleDescriptorPassthrough {
                label: None,
                entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
                    name: "main".into(),
                    workgroup_size: (WORKGROUP, 1, 1),
                }]),
                spirv: Some(Cow::Owned(spirv)),
                ..Default::default()
            })
        };
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: binding < 3 },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<_> = (0..7).map(entry).collect();
        let layout = device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        Pipeline { pipeline, layout, shader }
    }

    /// Carries out lanes, each with the words that it is given.
    pub fn run(&self, lanes: &[Vec<u64>], budget: Budget) -> Ran {
        let (device, queue) = device();
        let (count, shader) = (lanes.len(), &self.shader);
        let buffer = |words: Vec<u64>| {
            let size = (words.len().max(1) * 8) as u64;
            let usage =
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
            let made = device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            });
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            queue.write_buffer(&made, 0, &bytes);
            made
        };
        let given = (0..shader.given as usize * count).map(|n| lanes[n % count][n / count]).collect();
        let garbage = 0xdead_beef_dead_beef;
        let buffers = [
            buffer(vec![0; 4]),
            buffer(shader.constants.clone()),
            buffer(given),
            buffer(vec![garbage; shader.found as usize * count]),
            buffer(vec![garbage; shader.kept as usize * count]),
            buffer(vec![0; count.div_ceil(2) + 2]),
            buffer(vec![0; count]),
        ];
        let entries: Vec<_> = (0..)
            .zip(&buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &entries,
        });
        let mut dispatches = 0;
        loop {
            let (low, high) = (budget.most_steps as u32, (budget.most_steps >> 32) as u32);
            let lanes = count as u32;
            let parameters = [lanes, lanes, budget.rounds, u32::from(dispatches == 0), low, high, 0, 0];
            let bytes: Vec<u8> = parameters.iter().flat_map(|word| word.to_le_bytes()).collect();
            queue.write_buffer(&buffers[0], 0, &bytes);
            queue.write_buffer(&buffers[5], count as u64 * 4, &[0; 4]);
            let mut encoder = device.create_command_encoder(&Default::default());
            {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(lanes.div_ceil(WORKGROUP), 1, 1);
            }
            queue.submit([encoder.finish()]);
            dispatches += 1;
            let states = read(device, queue, &buffers[5]);
            let state = |n: usize| (states[n / 2] >> (n % 2 * 32)) as u32;
            let underway = (0..count).filter(|&n| state(n) == status::UNDERWAY).count();
            assert_eq!(state(count) as usize, underway);
            if underway == 0 {
                let found = read(device, queue, &buffers[3]);
                let of_lane =
                    |lane: usize| (0..shader.found as usize).map(|word| found[word * count + lane]).collect();
                return Ran {
                    found: (0..count).map(of_lane).collect(),
                    statuses: (0..count).map(state).collect(),
                    steps: read(device, queue, &buffers[6]),
                    dispatches,
                };
            }
        }
    }
}

fn read(device: &wgpu::Device, queue: &wgpu::Queue, from: &wgpu::Buffer) -> Vec<u64> {
    let to = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: from.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(from, 0, &to, 0, from.size());
    queue.submit([encoder.finish()]);
    to.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    device.poll(wgpu::PollType::Wait { submission_index: None, timeout: None }).unwrap();
    let view = to.get_mapped_range(..).unwrap();
    view.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}
