//! `kernc FILE`: compiles a source to a code object.

use super::report_renderer::ReportRenderer;
use super::rules::Policy;
use super::{
    CompileArgs, Emit, Failure, Format, capture, check, page, read_source, report, usage_errors,
    watch::{Wanted, Watch},
    write,
};
use kernc::{CodeObject, Compiler, Program, TextOptions};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: CompileArgs) -> Result<(), Failure> {
    let path = args.source.as_deref().ok_or_else(|| Failure::Usage("no source file given".to_owned()))?;
    if args.common.target.requested_target()?.is_none() && is_no_file(path) {
        return Err(usage_errors::no_command(&path.display().to_string()));
    }
    let target = args.common.target.subtarget()?;
    let options = args.common.options(path)?;
    let range = args.common.passes(path, &options)?;
    let source = read_source(path)?;
    let mut watch = Watch::new(Wanted {
        times: args.time_passes,
        dumps: args.dump_after.clone(),
        module: args.emit.iter().any(|emit| matches!(emit, Emit::Ir | Emit::Calls)),
        checks: args.common.verify,
    });
    let mut compiler = Compiler::new(target);
    let program = compiler.compile_passes(&source, &range, &options, &mut watch);
    // Freeing the compiler's memory takes time. At the end of the process this would be wasted, so memory is
    // freed only if the process continues with other work, for example with further tests.
    if !capture::is_on() {
        std::mem::forget(compiler);
    }
    args.common.tell_warnings(watch.warnings.as_ref());
    let program = program.map_err(|error| args.common.failure(&error))?;
    let module = watch.finish()?;
    let Program::Object(object) = program else {
        let options =
            TextOptions { locations: args.common.locations, declarations: !args.common.no_declarations };
        let output = args.output.as_deref().unwrap_or("-".as_ref());
        return write(output, program.text(&target, options).as_bytes());
    };
    for &emit in &args.emit {
        let bytes = artefact(&object, emit, module.as_ref(), (&options.file_name, &source))?;
        write(&output(&args, path, emit), &bytes)?;
    }
    if let Some(html) = &args.html {
        save_page(html, path, &source, &object)?;
    }
    match args.report {
        Some(Format::Human) => out!("{}", report::human(&object)),
        Some(Format::Json) => outln!("{}", report::json(&object)),
        None => {}
    }
    Ok(())
}

/// Returns whether an argument that the option parser takes for a file name is more likely the misspelt name
/// of a command.
pub fn is_no_file(path: &Path) -> bool {
    path.as_os_str() != "-" && path.extension().is_none() && path.components().count() == 1 && !path.exists()
}

fn save_page(html: &Path, path: &Path, source: &str, object: &CodeObject) -> Result<(), Failure> {
    let flows = flows(object);
    let content = page::Content {
        command: "compile",
        file: path,
        object: object.bytes(),
        target: None,
        teller: &ReportRenderer::new(path, Some(source), false),
        reasons: &object.reasons(),
        kernel: None,
        profile: None,
        findings: check::findings(object.bytes(), path, &Policy::usual()),
        flows: &flows,
    };
    page::save(html, content)
}

/// Returns the control-flow graphs of an object's functions.
pub fn flows(object: &CodeObject) -> Vec<graph::Flow> {
    object.machine_functions().iter().map(|(func, target)| graph::Flow::new(func, target)).collect()
}

fn artefact(
    object: &CodeObject,
    emit: Emit,
    module: Option<&ir::Module>,
    (name, source): (&str, &str),
) -> Result<Vec<u8>, Failure> {
    let internal = |error: kernc::Error| Failure::Internal(error.render(false));
    Ok(match emit {
        Emit::Co => {
            loadable(object)?;
            object.bytes().to_vec()
        }
        Emit::Obj => object.relocatable().map_err(internal)?,
        Emit::Asm => object.assembly(Some((name, source))).map_err(internal)?.into_bytes(),
        Emit::Ir => module.map_or(String::new(), ToString::to_string).into_bytes(),
        Emit::Mir => object.machine_code().into_bytes(),
        Emit::Meta => object.metadata().into_bytes(),
        Emit::Cfg => flows(object).iter().map(graph::Flow::dot).collect::<String>().into_bytes(),
        Emit::Calls => {
            let module = module.ok_or_else(|| {
                Failure::Usage(
                    "`--emit calls` needs the IR, and no pass that runs works on the IR".to_owned(),
                )
            })?;
            let code: Vec<_> = object.machine_functions().into_iter().map(|(func, _)| func).collect();
            graph::Calls::new(module, &code).dot(name).into_bytes()
        }
    })
}

/// Returns an error if an object refers to symbols of other objects. Such an object must be linked before it
/// can be loaded.
pub fn loadable(object: &CodeObject) -> Result<(), Failure> {
    let undefined: Vec<&str> = object.undefined().collect();
    if undefined.is_empty() {
        return Ok(());
    }
    let names = undefined.join("`, `");
    Err(Failure::Source(format!(
        "error: another object has `{names}`, so that this one cannot be loaded alone\n  = help: `--emit obj`, and `kernc link` \
         with that object\n"
    )))
}

/// Returns the path of the output file. Unless the user names a file, code objects go to a file that is named
/// after the source, and text goes to standard output.
fn output(args: &CompileArgs, source: &Path, emit: Emit) -> PathBuf {
    let extension = match emit {
        Emit::Co => "co",
        Emit::Obj => "o",
        Emit::Asm => "s",
        Emit::Ir => "kir",
        Emit::Mir => "mir",
        Emit::Meta => "yaml",
        Emit::Cfg => "cfg.dot",
        Emit::Calls => "calls.dot",
    };
    match &args.output {
        Some(path) if args.emit.len() == 1 || path.as_os_str() == "-" => path.clone(),
        Some(path) => path.with_extension(extension),
        None if !matches!(emit, Emit::Co | Emit::Obj) => PathBuf::from("-"),
        None if source.as_os_str() == "-" => PathBuf::from(format!("out.{extension}")),
        None => PathBuf::from(source.file_name().unwrap_or(source.as_os_str())).with_extension(extension),
    }
}
