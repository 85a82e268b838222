//! A compiled kernel of a shader, and the layout of its bindings. This module is independent of lanes.

use wgpu::util::DeviceExt;

use crate::code::ShaderSource;
use crate::device::BatchDevice;
use crate::error::BatchError;
use crate::passthrough::{ENTRY, passed_module};

/// The layout of the bindings that all kernels of a shader share, and the buffer of constants.
#[derive(Debug)]
pub(super) struct ShaderBindings {
    layout: wgpu::BindGroupLayout,
    of_pipelines: wgpu::PipelineLayout,
    constants: wgpu::Buffer,
}

/// A kernel compiled by the driver.
#[derive(Debug)]
pub(super) struct Pipeline {
    compute: wgpu::ComputePipeline,
}

/// Numbers of the bindings that shaders only read: parameters, constants, inputs of lanes.
const READ_ONLY: [u32; 3] = [0, 1, 2];
/// The number of bindings.
const BINDINGS: u32 = 7;

impl Pipeline {
    /// Creates the pipeline of a kernel. Some drivers compile a pipeline only before its first dispatch.
    ///
    /// # Errors
    ///
    /// Passes on errors of the device.
    pub fn new(
        device: &BatchDevice,
        shader: &ShaderSource,
        bindings: &ShaderBindings,
    ) -> Result<Self, BatchError> {
        device.watched(0, || {
            let wgpu = device.wgpu();
            let module = match shader {
                ShaderSource::Spirv(spirv) => passed_module(wgpu, spirv),
                ShaderSource::Wgsl(text) => wgpu.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("lanes"),
                    source: wgpu::ShaderSource::Wgsl(text.as_str().into()),
                }),
            };
            let compute = wgpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("lanes"),
                layout: Some(&bindings.of_pipelines),
                module: &module,
                entry_point: Some(ENTRY),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            Self { compute }
        })
    }

    pub fn compute(&self) -> &wgpu::ComputePipeline {
        &self.compute
    }
}

impl ShaderBindings {
    /// Creates the layout of the bindings, and the buffer of constants.
    ///
    /// # Errors
    ///
    /// Passes on errors of the device.
    pub fn new(device: &BatchDevice, constants: &[u64]) -> Result<Self, BatchError> {
        device.watched(0, || {
            let wgpu = device.wgpu();
            let layout = wgpu.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("lanes"),
                entries: &std::array::from_fn::<_, { BINDINGS as usize }, _>(|number| entry(number as u32)),
            });
            let of_pipelines = wgpu.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("lanes"),
                bind_group_layouts: &[Some(&layout)],
                ..Default::default()
            });
            let constants = wgpu.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("constants"),
                contents: bytemuck::cast_slice(constants),
                usage: wgpu::BufferUsages::STORAGE,
            });
            Self { layout, of_pipelines, constants }
        })
    }

    /// Binds a shader to its parameters, which begin at offset `at` of their buffer, and to five other buffers: inputs,
    /// outputs, kept words, statuses and steps.
    pub fn bind(
        &self,
        device: &BatchDevice,
        (parameters, at): (&wgpu::Buffer, usize),
        others: [&wgpu::Buffer; 5],
    ) -> wgpu::BindGroup {
        let parameters = wgpu::BufferBinding {
            buffer: parameters,
            offset: at as u64,
            size: wgpu::BufferSize::new(PARAMETERS_BYTES),
        };
        let first = [wgpu::BindingResource::Buffer(parameters), self.constants.as_entire_binding()];
        let all = first.into_iter().chain(others.into_iter().map(wgpu::Buffer::as_entire_binding));
        let entries: Vec<_> = (0..BINDINGS)
            .zip(all)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        device.wgpu().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("lanes"),
            layout: &self.layout,
            entries: &entries,
        })
    }
}

/// Size of the parameters in bytes: seven 32-bit words.
const PARAMETERS_BYTES: u64 = 28;

fn entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let read_only = READ_ONLY.contains(&binding);
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}
