//! Checks the attributes of kernels and functions.

use super::{Checker, FragmentBits, Func};
use crate::ast::{Attr, ExprKind, List};
use crate::diag::Diagnostic;
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{Denormals, Exceptions, InitialState, Inline, Linkage};
use isa::spelling::nearest;

/// The attributes that a kernel can have. Each has an example of its use, which error messages show.
pub const KERNEL_ATTRS: [(&str, &str); 15] = [
    ("workgroup_size", "#[workgroup_size(256)]` or `#[workgroup_size(16, 16)]"),
    ("workgroup_size_hint", "#[workgroup_size_hint(256)]"),
    ("max_workgroup_size", "#[max_workgroup_size(256)]"),
    ("waves_per_eu", "#[waves_per_eu(4)]` or `#[waves_per_eu(2, 8)]"),
    ("num_vgpr", "#[num_vgpr(64)]"),
    ("num_sgpr", "#[num_sgpr(48)]"),
    ("vec_type_hint", "#[vec_type_hint(f32x4)]"),
    ("small_buffers", "#[small_buffers]"),
    ("require", "#[require(dot)]"),
    ("wave_size", "#[wave_size(32)]` or `#[wave_size(64)]"),
    ("denormals", "#[denormals(keep)]` or `#[denormals(flush)]"),
    ("ieee", "#[ieee(on)]` or `#[ieee(off)]"),
    ("dx10_clamp", "#[dx10_clamp(on)]` or `#[dx10_clamp(off)]"),
    ("exceptions", "#[exceptions(invalid, overflow)]"),
    ("implicit_args", "#[implicit_args(56)]"),
];

/// Largest number of work-items in a work-group.
const MAX_WORKGROUP: u64 = 1024;

impl Checker<'_, '_> {
    /// Reports the attributes of an item that cannot have any.
    pub(super) fn no_attrs(&mut self, attrs: List, what: &str) {
        for attr in &self.ast.attrs[attrs.range()] {
            let name = self.ast.name(attr.name.sym);
            self.sink.push(
                Diagnostic::error("E0081", format!("`{name}` is not an attribute of {what}"))
                    .label(attr.span, "not allowed here"),
            );
        }
    }

    pub(super) fn function_attrs(&mut self, attrs: List, func: &mut Func) {
        for n in attrs.range() {
            let attr = self.ast.attrs[n];
            let repeated =
                self.ast.attrs[attrs.start as usize..n].iter().any(|a| a.name.sym == attr.name.sym);
            if repeated {
                let name = self.ast.name(attr.name.sym);
                self.error("E0080", format!("`{name}` is given twice"), attr.span, "second time");
            } else if func.kernel.is_some() {
                self.kernel_attr(&attr, func);
            } else {
                self.fn_attr(&attr, func);
            }
        }
    }

    fn fn_attr(&mut self, attr: &Attr, func: &mut Func) {
        let name = self.ast.name(attr.name.sym);
        let args = self.ast.list(attr.args);
        match name {
            "inline" => {
                let word = args.first().map(|&arg| crate::argument_words::word(self.ast, arg));
                match (args.len(), word) {
                    (0, _) | (1, Some(Some("always"))) => func.inline = Inline::Always,
                    (1, Some(Some("never"))) => func.inline = Inline::Never,
                    _ => self.wrong_attr(attr, "#[inline]` or `#[inline(never)]"),
                }
            }
            "export" if !args.is_empty() => self.wrong_attr(attr, "#[export]"),
            "export" if func.linkage == Linkage::Extern => {
                self.error(
                    "E0091",
                    "what another object has is not exported here",
                    attr.span,
                    "of an `extern fn`",
                );
            }
            "export" => func.linkage = Linkage::Export,
            _ if KERNEL_ATTRS.iter().any(|row| row.0 == name) => {
                self.error(
                    "E0081",
                    format!("`{name}` is an attribute of kernels"),
                    attr.span,
                    "this is a `fn`",
                );
            }
            _ => self.unknown_attr(attr, ["inline", "export"].into_iter()),
        }
    }

    #[cold]
    fn unknown_attr(&mut self, attr: &Attr, known: impl Iterator<Item = &'static str>) {
        let name = self.ast.name(attr.name.sym);
        let help = match name {
            "reqd_work_group_size" | "launch_bounds" => Some("workgroup_size"),
            _ => nearest(name, known),
        };
        let diagnostic = Diagnostic::error("E0027", format!("there is no attribute `{name}`"))
            .label(attr.name.span, "unknown attribute")
            .help_opt(help.map(|found| format!("a similar name exists: `{found}`")));
        self.sink.push(diagnostic);
    }

    #[cold]
    fn wrong_attr(&mut self, attr: &Attr, example: &str) {
        let name = self.ast.name(attr.name.sym);
        let diagnostic = Diagnostic::error("E0080", format!("wrong arguments of `{name}`"))
            .label(attr.span, "not understood")
            .help(format!("write `{example}`"));
        self.sink.push(diagnostic);
    }

    fn kernel_attr(&mut self, attr: &Attr, func: &mut Func) {
        let name = self.ast.name(attr.name.sym);
        if matches!(name, "inline" | "export") {
            return self.error(
                "E0081",
                format!("`{name}` is an attribute of functions"),
                attr.span,
                "this is a kernel",
            );
        }
        let Some(&(_, example)) = KERNEL_ATTRS.iter().find(|row| row.0 == name) else {
            return self.unknown_attr(attr, KERNEL_ATTRS.iter().map(|row| row.0));
        };
        if name == "small_buffers" && attr.args.len == 0 {
            func.small_buffers = true;
            return;
        }
        let Some(kernel) = &mut func.kernel else { return };
        if name == "require" {
            let words: Vec<_> = self
                .ast
                .list(attr.args)
                .iter()
                .map(|&arg| crate::argument_words::word(self.ast, arg))
                .collect();
            kernel.requires_dot = words == [Some("dot")];
            if !kernel.requires_dot {
                self.wrong_attr(attr, example);
            }
            return;
        }
        if name == "vec_type_hint" {
            match self.ast.list(attr.args) {
                &[arg] if matches!(self.ast.expr(arg).kind, ExprKind::Name(_)) => {
                    kernel.vec_type_hint = crate::argument_words::word(self.ast, arg).map(str::to_string);
                }
                _ => self.wrong_attr(attr, example),
            }
            return;
        }
        if let Some(set) = self.state_of_words(attr, kernel.state) {
            return set.map_or_else(|| self.wrong_attr(attr, example), |state| kernel.state = state);
        }
        let Some(values) = self.attr_numbers(attr) else { return };
        match (name, values.as_slice()) {
            ("workgroup_size", &[..]) if self.is_group(&values) => {
                kernel.reqd_workgroup_size = self.group_size(attr, &values);
            }
            ("workgroup_size_hint", &[..]) if self.is_group(&values) => {
                kernel.workgroup_size_hint = self.group_size(attr, &values);
            }
            ("max_workgroup_size", &[n]) => {
                kernel.max_workgroup_size = self.group_size(attr, &[n]).map(|_| n as u32);
            }
            ("waves_per_eu", &[min @ 1..=10]) => kernel.waves_per_eu = Some((min as u32, None)),
            ("waves_per_eu", &[min @ 1..=10, max @ 1..=10]) if min <= max => {
                kernel.waves_per_eu = Some((min as u32, Some(max as u32)));
            }
            ("num_vgpr", &[n @ 1..=512]) => kernel.num_vgpr = Some(n as u32),
            ("num_sgpr", &[n @ 1..=128]) => kernel.num_sgpr = Some(n as u32),
            ("wave_size", &[n @ (32 | 64)]) => kernel.state.wave_size = Some(n as u32),
            ("implicit_args", &[n]) if n <= u64::from(InitialState::MAX_IMPLICIT_ARGS) => {
                kernel.state.implicit_args = Some(n as u32);
            }
            _ => self.wrong_attr(attr, example),
        }
    }

    /// Returns the initial floating-point state `state` with the change that an attribute such as
    /// `#[denormals(off)]` demands. The arguments of these attributes are words. Returns `Some(None)` if the
    /// words are invalid, and `None` for an attribute of any other kind.
    fn state_of_words(&self, attr: &Attr, state: InitialState) -> Option<Option<InitialState>> {
        let args = self.ast.list(attr.args);
        let words = || args.iter().map(|&arg| crate::argument_words::word(self.ast, arg));
        let one = words().next().flatten().filter(|_| args.len() == 1);
        let switch =
            one.and_then(|word| ["off", "on"].iter().position(|name| *name == word)).map(|on| on == 1);
        Some(match self.ast.name(attr.name.sym) {
            "denormals" => one
                .and_then(Denormals::by_name)
                .map(|denormals| InitialState { denormals: Some(denormals), ..state }),
            "ieee" => switch.map(|on| InitialState { ieee: Some(on), ..state }),
            "dx10_clamp" => switch.map(|on| InitialState { dx10_clamp: Some(on), ..state }),
            "exceptions" => {
                let all: Option<Exceptions> = words().map(|word| Exceptions::by_name(word?)).collect();
                let all = all.filter(|all| !all.is_empty());
                all.map(|exceptions| InitialState { exceptions: Some(exceptions), ..state })
            }
            _ => return None,
        })
    }

    fn is_group(&self, values: &[u64]) -> bool {
        (1..=3).contains(&values.len())
    }

    fn group_size(&mut self, attr: &Attr, values: &[u64]) -> Option<[u32; 3]> {
        let total = values.iter().try_fold(1u64, |total, &n| total.checked_mul(n));
        match total {
            Some(1..=MAX_WORKGROUP) => {
                let dim = |n: usize| values.get(n).map_or(1, |&value| value as u32);
                Some([dim(0), dim(1), dim(2)])
            }
            _ => {
                let diagnostic = Diagnostic::error("E0082", "impossible size of a work-group")
                    .label(attr.span, "the product of the sizes counts")
                    .help(format!("a work-group has 1 to {MAX_WORKGROUP} work-items"));
                self.sink.push(diagnostic);
                None
            }
        }
    }

    /// Evaluates the arguments of an attribute, which must be integer constants. The arguments may use the
    /// constants and `param`s of the source file.
    fn attr_numbers(&mut self, attr: &Attr) -> Option<FragmentBits> {
        let ast = self.ast;
        let mut values = FragmentBits::new();
        for &arg in ast.list(attr.args) {
            let found = self.any_integer(arg, Ty::U32);
            // The constant may have any integer type. If its type is not an integer type, `require` reports
            // that a `u32` is expected.
            let is_integer = self.s.checked.types.as_scalar(found).is_some_and(Scalar::is_int);
            if found == Ty::ERROR || (!is_integer && !self.require(arg, found, Ty::U32)) {
                return None;
            }
            values.push(self.eval(arg)?.first().copied()?);
        }
        Some(values)
    }
}
