//! The targets that kernels are compiled for, and their memory models. A target is the processor with its
//! modes and with the wave size that the kernel asks for.

use crate::error::Error;
use crate::processor::open_fact;
use isa::Subtarget;
use memmodel::Model;

/// Returns the target with the wave size that a kernel asks for. If the processor does not have this wave
/// size, returns the unchanged target. [`Models::ready`] reports the error in this case.
pub(crate) fn own_target(target: &Subtarget, kernel: &ir::KernelInfo) -> Subtarget {
    kernel.state.wave_size.and_then(|lanes| target.with_wave_size(lanes)).unwrap_or(*target)
}

/// Memory models of a processor, which are rules for waits and cache operations. There is one for each wave
/// size, created when it is first needed.
#[derive(Default)]
pub(crate) struct Models {
    /// Model for the target's own wave size.
    usual: Option<Model>,
    /// Model for the other wave size.
    other: Option<Model>,
}

impl Models {
    /// Creates the memory models that the kernels of a module need.
    ///
    /// # Errors
    /// A kernel asks for a wave size that the processor does not have. Or the description of the processor's
    /// family lacks a fact about the hardware that the memory model needs.
    pub fn ready<'a>(
        &mut self,
        target: &Subtarget,
        kernels: impl Iterator<Item = &'a ir::KernelInfo>,
        place: impl Fn(&ir::KernelInfo) -> Option<crate::Place>,
    ) -> Result<(), Error> {
        gather(&mut self.usual, target)?;
        for kernel in kernels {
            let Some(lanes) = kernel.state.wave_size.filter(|&lanes| lanes != target.wave_size) else {
                continue;
            };
            let own = target.with_wave_size(lanes).ok_or_else(|| Error::Unsupported {
                what: format!("a wavefront of {lanes} lanes"),
                target: target.to_string(),
                place: place(kernel),
            })?;
            gather(&mut self.other, &own)?;
        }
        Ok(())
    }

    /// Returns the memory model of a kernel. [`Models::ready`] must have been called for the kernel's module.
    pub fn for_kernel(&self, kernel: Option<&ir::KernelInfo>) -> Result<&Model, Error> {
        self.with_lanes(kernel.and_then(|kernel| kernel.state.wave_size))
    }

    /// Returns the memory model for waves of `asked` lanes. `None` stands for the processor's default number
    /// of lanes.
    pub fn with_lanes(&self, asked: Option<u32>) -> Result<&Model, Error> {
        let is_asked = |model: &&Model| asked.is_none_or(|lanes| lanes == model.subtarget().wave_size);
        let mut models = [&self.usual, &self.other].into_iter().flatten();
        models.find(is_asked).ok_or_else(|| Error::internal("a kernel without a memory model"))
    }
}

fn gather(model: &mut Option<Model>, target: &Subtarget) -> Result<(), Error> {
    if model.is_none() {
        *model = Some(Model::for_subtarget(target).map_err(|open| open_fact(&open, target))?);
    }
    Ok(())
}
