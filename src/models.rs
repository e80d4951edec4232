//! What kernels run on: the processor in its modes, with wavefronts of the size that each asks for.

use crate::error::Error;
use isa::Subtarget;
use memmodel::{Missing, Model};

/// The target with the size of wavefronts that a kernel asks for. What the processor has not is refused when [`Models`] are
/// made ready, and the target itself here.
pub(crate) fn own_target(target: &Subtarget, kernel: &ir::KernelInfo) -> Subtarget {
    kernel.state.wave_size.and_then(|lanes| target.with_wave_size(lanes)).unwrap_or(*target)
}

/// The memory models of a processor by the size of wavefronts, gathered when they are needed for the first time.
#[derive(Default)]
pub(crate) struct Models {
    /// With wavefronts of the target's own size.
    usual: Option<Model>,
    /// With wavefronts of the other size.
    other: Option<Model>,
}

impl Models {
    /// Gathers what the kernels of a module need.
    ///
    /// # Errors
    /// A kernel asks for wavefronts that the processor has not, or a table has no column for it.
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

    /// The model of a kernel of the module that they are ready for.
    pub fn of(&self, kernel: Option<&ir::KernelInfo>) -> Result<&Model, Error> {
        self.with_lanes(kernel.and_then(|kernel| kernel.state.wave_size))
    }

    /// The model of code for wavefronts of so many lanes, or of the usual number.
    pub fn with_lanes(&self, asked: Option<u32>) -> Result<&Model, Error> {
        let is_asked = |model: &&Model| asked.is_none_or(|lanes| lanes == model.subtarget().wave_size);
        let mut models = [&self.usual, &self.other].into_iter().flatten();
        models.find(is_asked).ok_or_else(|| Error::internal("a kernel without a memory model"))
    }
}

fn gather(model: &mut Option<Model>, target: &Subtarget) -> Result<(), Error> {
    if model.is_none() {
        *model = Some(Model::of(target).map_err(|missing| lacking(&missing, target))?);
    }
    Ok(())
}

/// A table of the memory model that has no column for the processor.
#[cold]
fn lacking(missing: &Missing, target: &Subtarget) -> Error {
    let what = format!("anything, for want of {},", missing.column());
    Error::Unsupported { what, target: target.to_string(), place: None }
}
