//! Reads the text form (`.kir`) that [`crate::text`] writes. The grammar is in `docs/ir.md`.
//!
//! The parser checks only what it needs to build a module: names, numbers, and that every value and block
//! that is used is defined exactly once. Everything else is checked by the [verifier](crate::verify), so that
//! tests of the verifier can be written as text. No input makes the parser panic.

mod inst;
mod lexer;

use crate::entity::{Block, FuncId, Global, Inst, Value};
use crate::func::{
    Access, Format, Function, GlobalData, Inline, KernelInfo, KernelParam, Linkage, Module, Opaque,
    ParamKind, Signature, SlotData, UnrollHint, ValueData, ValueDef,
};
use crate::op::Op;
use crate::state::{Denormals, Exceptions, InitialState};
use crate::types::{Space, Type};
use cranelift_entity::EntityRef;
use lexer::{Lexer, Token};
use rustc_hash::FxHashMap;
use std::fmt;

/// Limit for the numbers of values, blocks and slots in a text.
const MAX_NUMBER: u32 = 1 << 22;

/// Position and reason of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

type Result<T> = std::result::Result<T, ParseError>;

/// Parses a module.
///
/// # Errors
/// The first mistake in the text, with its line and column.
pub fn parse_module(text: &str) -> Result<Module> {
    let mut parser = Parser {
        lexer: Lexer::new(text)?,
        module: Module::default(),
        funcs: FxHashMap::default(),
        globals: FxHashMap::default(),
        calls: Vec::new(),
        tables: Vec::new(),
    };
    while parser.lexer.token != Token::End {
        parser.item()?;
    }
    parser.resolve_calls()?;
    Ok(parser.module)
}

/// Parses a text that contains exactly one function.
///
/// # Errors
/// The first mistake in the text, or the text does not contain exactly one function.
pub fn parse_function(text: &str) -> Result<Function> {
    let module = parse_module(text)?;
    let mut funcs = module.funcs.into_iter().map(|(_, func)| func);
    match (funcs.next(), funcs.next()) {
        (Some(func), None) => Ok(func),
        _ => Err(ParseError { line: 1, column: 1, message: "expected exactly one function".into() }),
    }
}

/// A reference to a function by name in an instruction. It is resolved after the whole text has been read,
/// when all functions are known.
struct CallSite<'a> {
    func: FuncId,
    inst: Inst,
    name: &'a str,
    offset: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    module: Module,
    funcs: FxHashMap<&'a str, FuncId>,
    globals: FxHashMap<&'a str, Global>,
    calls: Vec<CallSite<'a>>,
    /// References to functions by name in global variables. Each element is the variable, the index of the
    /// entry in the variable's list of functions, the name, and the position in the text.
    tables: Vec<(Global, usize, &'a str, usize)>,
}

/// A function that is being parsed.
struct Body {
    func: Function,
    values: Vec<Option<ValueData>>,
    /// Values and blocks that were used, with their positions in the text.
    used: Vec<(Value, usize)>,
    used_blocks: Vec<(Block, usize)>,
    defined_blocks: Vec<bool>,
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<()> {
        self.lexer.advance()
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(self.lexer.error(message))
    }

    /// Skips a punctuation character if it comes next. Returns whether it did.
    fn accept(&mut self, c: char) -> Result<bool> {
        let found = self.lexer.token == Token::Punct(c);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, c: char) -> Result<()> {
        if self.accept(c)? { Ok(()) } else { self.error(format!("expected `{c}`")) }
    }

    /// Skips a word if it comes next. Returns whether it did.
    fn accept_word(&mut self, word: &str) -> Result<bool> {
        let found = self.lexer.token == Token::Word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word)? { Ok(()) } else { self.error(format!("expected `{word}`")) }
    }

    /// Parses any word; `what` describes the expected word for error messages.
    fn word(&mut self, what: &str) -> Result<&'a str> {
        match self.lexer.token {
            Token::Word(word) => {
                self.advance()?;
                Ok(word)
            }
            _ => self.error(format!("expected {what}")),
        }
    }

    fn name(&mut self) -> Result<&'a str> {
        match self.lexer.token {
            Token::Name(name) if !name.is_empty() => {
                self.advance()?;
                Ok(name)
            }
            _ => self.error("expected a name that begins with `@`"),
        }
    }

    /// Parses an integer of type `T`, decimal or hexadecimal.
    fn number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let Token::Number(text) = self.lexer.token else { return self.error("expected a number") };
        let Some(value) = integer(text).and_then(|n| T::try_from(n).ok()) else {
            return self.error(format!("`{text}` is not a number that fits here"));
        };
        self.advance()?;
        Ok(value)
    }

    /// Parses `word` followed by a number.
    fn field<T: TryFrom<i128>>(&mut self, word: &str) -> Result<T> {
        self.expect_word(word)?;
        self.number()
    }

    fn quoted(&mut self) -> Result<String> {
        let Token::Quoted(text) = self.lexer.token else { return self.error("expected a quoted text") };
        let text = unescape(text).ok_or_else(|| self.lexer.error("unknown escape"))?;
        self.advance()?;
        Ok(text)
    }

    fn ty(&mut self) -> Result<Type> {
        let offset = self.lexer.start;
        let name = self.word("a type")?;
        Type::from_name(name).ok_or_else(|| self.lexer.error_at(offset, format!("`{name}` is no type")))
    }

    /// Parses an entity such as `v12`: the prefix and a number. Returns the number.
    fn entity(&mut self, prefix: &str, what: &str) -> Result<u32> {
        let Token::Word(word) = self.lexer.token else { return self.error(format!("expected {what}")) };
        let Some(number) = entity_number(word, prefix) else {
            return self.error(format!("expected {what}, found `{word}`"));
        };
        if number >= MAX_NUMBER {
            return self.error(format!("the number of `{word}` is too large"));
        }
        self.advance()?;
        Ok(number)
    }

    fn item(&mut self) -> Result<()> {
        let offset = self.lexer.start;
        let word = self.word(ITEMS)?;
        match (word, Space::from_name(word)) {
            ("printf", _) => self.format(),
            ("func", _) => self.function(None, Linkage::Local),
            ("kernel", _) => self.function(Some(KernelInfo::default()), Linkage::Local),
            ("export", _) if self.accept_word("extern")? => {
                self.expect_word("func")?;
                self.declaration()?;
                if let Some(func) = self.module.funcs.values_mut().next_back() {
                    func.linkage = Linkage::Export;
                }
                Ok(())
            }
            ("export", _) => {
                self.expect_word("func")?;
                self.function(None, Linkage::Export)
            }
            ("extern", _) if self.accept_word("func")? => self.declaration(),
            ("extern", _) => {
                let space = self.one_of("`func` or an address space", Space::from_name)?;
                self.global(space, true)
            }
            (_, Some(space)) => self.global(space, false),
            _ if entity_number(word, "sig").is_some() => self.signature(word, offset),
            _ => Err(self.lexer.error_at(offset, format!("expected {ITEMS}"))),
        }
    }

    /// Parses `sig0 = (i32, f32) -> i32`.
    fn signature(&mut self, word: &str, offset: usize) -> Result<()> {
        if entity_number(word, "sig") != Some(self.module.sigs.len() as u32) {
            return Err(self.lexer.error_at(offset, "signatures are numbered in order, from 0"));
        }
        self.expect('=')?;
        let signature = Signature { params: self.params()?, results: self.result_types()? };
        self.module.sigs.push(signature);
        Ok(())
    }

    /// Parses a list of types in parentheses.
    fn params(&mut self) -> Result<Vec<Type>> {
        let mut params = Vec::new();
        self.expect('(')?;
        while !self.accept(')')? {
            if !params.is_empty() {
                self.expect(',')?;
            }
            params.push(self.ty()?);
        }
        Ok(params)
    }

    /// Parses `-> i32, f32`, which may be absent.
    fn result_types(&mut self) -> Result<Vec<Type>> {
        let mut results = Vec::new();
        if self.lexer.token == Token::Arrow {
            self.advance()?;
            results.push(self.ty()?);
            while self.accept(',')? {
                results.push(self.ty()?);
            }
        }
        Ok(results)
    }

    /// Parses the declaration of a function that another object defines.
    fn declaration(&mut self) -> Result<()> {
        let offset = self.lexer.start;
        let name = self.name()?;
        let signature = Signature { params: self.params()?, results: self.result_types()? };
        self.add_function(name, Function::declare(name, &signature), offset)
    }

    fn add_function(&mut self, name: &'a str, func: Function, offset: usize) -> Result<()> {
        let id = self.module.funcs.push(func);
        match self.funcs.insert(name, id) {
            Some(_) => Err(self.lexer.error_at(offset, format!("`@{name}` is defined twice"))),
            None => Ok(()),
        }
    }

    fn format(&mut self) -> Result<()> {
        let mut sizes = Vec::new();
        while let Token::Number(_) = self.lexer.token {
            sizes.push(self.number()?);
        }
        let text = self.quoted()?;
        self.module.formats.push(Format { sizes, text });
        Ok(())
    }

    fn global(&mut self, space: Space, external: bool) -> Result<()> {
        let offset = self.lexer.start;
        let name = self.name()?;
        let size = self.field("size")?;
        let align = self.field("align")?;
        let dynamic = self.accept_word("dynamic")?;
        let mut init = Vec::new();
        if self.accept('=')? {
            while let Token::Quoted(text) = self.lexer.token {
                let bytes =
                    hex_bytes(text).ok_or_else(|| self.lexer.error("expected pairs of hex digits"))?;
                init.extend(bytes);
                self.advance()?;
            }
        }
        let mut funcs = Vec::new();
        while self.accept_word("func_at")? {
            let at = self.number()?;
            let place = self.lexer.start;
            let func = match self.lexer.token {
                Token::Name(name) => {
                    self.advance()?;
                    self.tables.push((self.module.globals.next_key(), funcs.len(), name, place));
                    FuncId::from_u32(0)
                }
                _ => FuncId::from_u32(self.entity("fn", "a function")?),
            };
            funcs.push((at, func));
        }
        let data = GlobalData {
            name: name.into(),
            space,
            size,
            align,
            init,
            dynamic,
            external,
            linked: false,
            funcs,
        };
        let id = self.module.globals.push(data);
        if self.globals.insert(name, id).is_some() {
            return Err(self.lexer.error_at(offset, format!("`@{name}` is defined twice")));
        }
        Ok(())
    }

    fn function(&mut self, kernel: Option<KernelInfo>, linkage: Linkage) -> Result<()> {
        let offset = self.lexer.start;
        let name = self.name()?;
        let mut func = Function::new(name);
        (func.kernel, func.linkage) = (kernel, linkage);
        func.results = self.result_types()?;
        self.expect('{')?;
        if self.accept_word("inline")? {
            let wish = |word: &str| match word {
                "always" => Some(Inline::Always),
                "never" => Some(Inline::Never),
                _ => None,
            };
            func.inline = self.one_of("`always` or `never`", wish)?;
        }
        if let Some(kernel) = &mut func.kernel {
            self.kernel_info(kernel)?;
        }
        let mut body = Body {
            func,
            values: Vec::new(),
            used: Vec::new(),
            used_blocks: Vec::new(),
            defined_blocks: Vec::new(),
        };
        while let Token::Word(word) = self.lexer.token
            && entity_number(word, "slot").is_some()
        {
            self.slot(&mut body.func)?;
        }
        while self.lexer.token != Token::Punct('}') {
            self.block(&mut body)?;
        }
        let func = self.finish(body)?;
        self.advance()?;
        self.add_function(name, func, offset)
    }

    fn slot(&mut self, func: &mut Function) -> Result<()> {
        let offset = self.lexer.start;
        let number = self.entity("slot", "a slot")?;
        if number as usize != func.slots.len() {
            return Err(self.lexer.error_at(offset, "slots are numbered in order, from 0"));
        }
        let size = self.field("size")?;
        let align = self.field("align")?;
        func.slots.push(SlotData { size, align });
        Ok(())
    }

    fn kernel_info(&mut self, kernel: &mut KernelInfo) -> Result<()> {
        while let Token::Word(word) = self.lexer.token {
            if entity_number(word, "slot").is_some() || entity_number(word, "b").is_some() {
                break;
            }
            self.advance()?;
            match word {
                "param" => {
                    let param = self.param()?;
                    kernel.params.push(param);
                }
                "kernarg_size" => kernel.kernarg_size = self.number()?,
                "workgroup_size" => kernel.reqd_workgroup_size = Some(self.three()?),
                "workgroup_size_hint" => kernel.workgroup_size_hint = Some(self.three()?),
                "max_workgroup_size" => kernel.max_workgroup_size = Some(self.number()?),
                "num_vgpr" => kernel.num_vgpr = Some(self.number()?),
                "num_sgpr" => kernel.num_sgpr = Some(self.number()?),
                "waves_per_eu" => {
                    let min = self.number()?;
                    let max = if self.accept(',')? { Some(self.number()?) } else { None };
                    kernel.waves_per_eu = Some((min, max));
                }
                "vec_type_hint" => kernel.vec_type_hint = Some(self.quoted()?),
                "requires_dot" => kernel.requires_dot = true,
                _ if !self.state(word, &mut kernel.state)? => {
                    return self.error(format!("`{word}` is no attribute of a kernel"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Parses an attribute that requests state of the wavefronts. Returns whether `word` is such an
    /// attribute.
    fn state(&mut self, word: &str, state: &mut InitialState) -> Result<bool> {
        match word {
            "wave_size" => state.wave_size = Some(self.number()?),
            "denormals" => state.denormals = Some(self.one_of("`keep` or `flush`", Denormals::by_name)?),
            "ieee" => state.ieee = Some(self.truth()?),
            "dx10_clamp" => state.dx10_clamp = Some(self.truth()?),
            "exceptions" => {
                let mut all = Exceptions::empty();
                while let Token::Word(name) = self.lexer.token
                    && let Some(one) = Exceptions::by_name(name)
                {
                    all |= one;
                    self.advance()?;
                }
                state.exceptions = Some(all);
            }
            "implicit_args" => state.implicit_args = Some(self.number()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn truth(&mut self) -> Result<bool> {
        self.one_of("`true` or `false`", |word| word.parse().ok())
    }

    /// Parses a word that `meaning` can interpret; `what` describes the expected words for error messages.
    fn one_of<T>(&mut self, what: &str, meaning: impl Fn(&str) -> Option<T>) -> Result<T> {
        let start = self.lexer.start;
        let word = self.word(what)?;
        meaning(word).ok_or_else(|| self.lexer.error_at(start, format!("expected {what}, found `{word}`")))
    }

    fn three(&mut self) -> Result<[u32; 3]> {
        let x = self.number()?;
        self.expect(',')?;
        let y = self.number()?;
        self.expect(',')?;
        Ok([x, y, self.number()?])
    }

    fn param(&mut self) -> Result<KernelParam> {
        let name = self.quoted()?;
        let type_name = self.quoted()?;
        let offset = self.lexer.start;
        let elem = self.word("an element type")?;
        let Some(&elem) = ELEMS.iter().find(|&&e| e == elem) else {
            return Err(self.lexer.error_at(offset, format!("`{elem}` is no element type")));
        };
        let lanes = self.field("x")?;
        let kind = match self.word("how the parameter is passed")? {
            "by_value" => ParamKind::ByValue,
            "buffer" => ParamKind::GlobalBuffer,
            "dynamic_shared" => ParamKind::DynamicShared,
            word => match Opaque::from_name(word) {
                Some(opaque) => ParamKind::Opaque(self.opaque(opaque)?),
                None => {
                    return self
                        .error("expected `by_value`, `buffer`, `dynamic_shared`, or the like before this");
                }
            },
        };
        let space = match self.lexer.token {
            Token::Word(word) => Space::from_name(word),
            _ => None,
        };
        if space.is_some() {
            self.advance()?;
        }
        Ok(KernelParam {
            name: name.into(),
            type_name: type_name.into(),
            elem,
            lanes,
            kind,
            space,
            offset: self.field("at")?,
            size: self.field("size")?,
            align: self.field("align")?,
            pointee_align: self.field("pointee_align")?,
            is_const: self.accept_word("const")?,
            is_restrict: self.accept_word("restrict")?,
            is_volatile: self.accept_word("volatile")?,
        })
    }

    /// Parses the access of an image or pipe.
    fn opaque(&mut self, opaque: Opaque) -> Result<Opaque> {
        let access = match self.lexer.token {
            Token::Word(word) if opaque.access().is_some() => Access::from_name(word),
            _ => return Ok(opaque),
        };
        let Some(access) = access else {
            return self.error("expected `read_only`, `write_only` or `read_write`");
        };
        self.advance()?;
        Ok(opaque.with_access(access))
    }

    /// Parses a block's head and instructions.
    fn block(&mut self, body: &mut Body) -> Result<()> {
        let offset = self.lexer.start;
        let block = Block::from_u32(self.entity("b", "a block or `}`")?);
        body.have_block(block);
        if std::mem::replace(&mut body.defined_blocks[block.index()], true) {
            return Err(self.lexer.error_at(offset, format!("{block} is defined twice")));
        }
        body.func.layout.push(block);
        if self.accept('(')? {
            let mut n = 0;
            loop {
                let offset = self.lexer.start;
                let value = Value::from_u32(self.entity("v", "a block parameter")?);
                self.expect(':')?;
                let data = ValueData { ty: self.ty()?, def: ValueDef::Param(block, n) };
                self.define(body, value, data, offset)?;
                let Body { func, .. } = body;
                func.blocks[block].params.push(value, &mut func.pool);
                n = n.checked_add(1).ok_or_else(|| self.lexer.error("too many parameters"))?;
                if !self.accept(',')? {
                    break;
                }
            }
            self.expect(')')?;
        }
        if self.accept_word("unroll")? {
            let hint = if self.accept_word("full")? {
                UnrollHint::Full
            } else if self.accept_word("never")? {
                UnrollHint::Never
            } else {
                UnrollHint::By(self.number()?)
            };
            body.func.unroll[block] = hint;
        }
        self.expect(':')?;
        while let Token::Word(word) = self.lexer.token
            && entity_number(word, "b").is_none()
        {
            self.inst(body, block)?;
        }
        Ok(())
    }

    fn define(&self, body: &mut Body, value: Value, data: ValueData, offset: usize) -> Result<()> {
        if body.values.len() <= value.index() {
            body.values.resize(value.index() + 1, None);
        }
        if body.values[value.index()].replace(data).is_some() {
            return Err(self.lexer.error_at(offset, format!("{value} is defined twice")));
        }
        Ok(())
    }

    /// Checks that everything that is used is defined, and completes the function.
    fn finish(&mut self, body: Body) -> Result<Function> {
        let Body { mut func, values, used, used_blocks, defined_blocks } = body;
        for (value, offset) in used {
            if !values.get(value.index()).is_some_and(Option::is_some) {
                return Err(self.lexer.error_at(offset, format!("{value} is not defined")));
            }
        }
        for (block, offset) in used_blocks {
            if !defined_blocks[block.index()] {
                return Err(self.lexer.error_at(offset, format!("{block} is not defined")));
            }
        }
        // Numbers that the text does not use still need an entry in the list of values. The entry belongs to
        // no instruction and no block.
        let nothing = ValueData { ty: Type::Bool, def: ValueDef::Param(Block::new(0), u16::MAX) };
        for data in values {
            func.values.push(data.unwrap_or(nothing));
        }
        Ok(func)
    }

    fn resolve_calls(&mut self) -> Result<()> {
        for call in std::mem::take(&mut self.calls) {
            let found = self.find_function(call.name, call.offset)?;
            if let Op::Call(callee) | Op::FuncAddr(callee) =
                &mut self.module.funcs[call.func].insts[call.inst].op
            {
                *callee = found;
            }
        }
        for (global, entry, name, offset) in std::mem::take(&mut self.tables) {
            self.module.globals[global].funcs[entry].1 = self.find_function(name, offset)?;
        }
        Ok(())
    }

    fn find_function(&self, name: &str, offset: usize) -> Result<FuncId> {
        let found = self.funcs.get(name).copied();
        found.ok_or_else(|| self.lexer.error_at(offset, format!("there is no function `@{name}`")))
    }
}

impl Body {
    fn have_block(&mut self, block: Block) {
        while self.func.blocks.len() <= block.index() {
            self.func.make_block();
            self.defined_blocks.push(false);
        }
    }
}

/// Items of a module, for error messages.
const ITEMS: &str = "`func`, `kernel`, `export`, `extern`, `printf`, a signature or an address space";

/// Element types of kernel parameters.
const ELEMS: &[&str] =
    &["i8", "u8", "i16", "u16", "f16", "i32", "u32", "f32", "i64", "u64", "f64", "struct", "bool"];

/// Returns the number in an entity's name: `entity_number("v12", "v")` is 12.
fn entity_number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from(u64::from_str_radix(hex, 16).ok()?),
        None => i128::from(digits.parse::<u64>().ok()?),
    };
    Some(if negative { -value } else { value })
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits?;
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    Some(pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Resolves the escapes that `{:?}` of a string produces.
fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            c @ ('\\' | '"' | '\'') => c,
            'u' => {
                let rest = chars.as_str().strip_prefix('{')?;
                let (hex, after) = rest.split_once('}')?;
                chars = after.chars();
                char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(out)
}
