//! The table of diagnostic codes.

/// Returns the longer explanation of a code, for `--explain`.
pub fn explain(code: &str) -> Option<&'static str> {
    TABLE.iter().find(|row| row.0 == code).map(|row| row.2)
}

/// Returns all diagnostic codes in order, each with its one-line meaning and its explanation.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TABLE.iter().copied()
}

/// The diagnostic codes. Each row has a code, its one-line meaning and its explanation.
const TABLE: &[(&str, &str, &str)] = &[
    (
        "E0001",
        "unknown character",
        "The source holds a character that is no part of the language, such as `@` or `$`. Outside of comments \
         sources are plain ASCII.",
    ),
    (
        "E0002",
        "malformed number",
        "A number has no digits (`0x`), digits that its base lacks, or a suffix that is not a scalar type. \
         Numbers look like `10`, `0xff`, `0b101`, `1_000`, `1.5`, `1e-3`, and may end in a type: `10u64`, `2f32`.",
    ),
    (
        "E0003",
        "number out of range",
        "A literal is larger than its type can hold. A literal takes the type it needs from its surroundings, \
         `i32` if they ask for none; a suffix gives it another one: `3000000000u32`. A float does not fit if it would \
         round to infinity, which is `f32::INFINITY`.",
    ),
    (
        "E0004",
        "unclosed comment or string",
        "A `/*` without its `*/`, or a `\"` without another one on the same line. Block comments nest: each `/*` \
         needs its own `*/`.",
    ),
    (
        "E0005",
        "unexpected token",
        "The text does not follow the grammar at this place. The message says what could stand there; the mistake \
         itself is often just in front of it.",
    ),
    (
        "E0006",
        "unclosed delimiter",
        "A `(`, `[` or `{` has no partner. The file ended while it was open; the first label shows where it was opened.",
    ),
    (
        "E0007",
        "too deep or too large",
        "Expressions, blocks and types nest up to 200 levels, and definitions lean on each other up to 64 levels. \
         Give parts of deep expressions names with `let`.",
    ),
    (
        "E0008",
        "keyword used as a name",
        "The words of the language cannot be names of variables, functions or types.",
    ),
    (
        "E0020",
        "unknown name",
        "No variable, parameter, constant or module variable of this name is visible here. Variables are visible \
         from their `let` to the end of the block.",
    ),
    (
        "E0021",
        "unknown type",
        "There is no type of this name. Scalars are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `f32` and `f64`; vectors \
         are written `f32x4`; structs are declared with `struct`.",
    ),
    (
        "E0022",
        "unknown function",
        "There is neither a function nor a built-in of this name. Functions may be defined behind their use.",
    ),
    (
        "E0023",
        "unknown field or lane",
        "The struct has no such field, the vector has no such lane, or the value has no parts at all. Lanes are \
         `x y z w`, `s0` to `sf`, `lo hi even odd`. A pointer must be dereferenced first: `(*p).field`, `p[i].field`.",
    ),
    (
        "E0024",
        "defined twice",
        "Two items, parameters or fields of one name. A `let` may hide an earlier one, items may not.",
    ),
    (
        "E0025",
        "a name of another kind",
        "A function is used as a value, a value is called, a kernel is called, or a function that takes no type is \
         given one.",
    ),
    (
        "E0026",
        "unknown label",
        "`break 'a` and `continue 'a` need a loop around them that is labelled `'a:`.",
    ),
    (
        "E0027",
        "unknown attribute",
        "Kernels take `workgroup_size`, `workgroup_size_hint`, `max_workgroup_size`, `waves_per_eu`, `num_vgpr`, \
         `num_sgpr`, `vec_type_hint`, `small_buffers`, `wave_size`, `denormals`, `ieee`, `dx10_clamp`, `exceptions` and \
         `implicit_args`; functions take `inline`; loops take `unroll` and `no_unroll`.",
    ),
    (
        "E0028",
        "unknown parameter",
        "`-P NAME=VALUE` sets a `param` item of the file, and there is none of this name.",
    ),
    (
        "E0029",
        "unknown word",
        "Some arguments of `fence`, the atomics, `load` and `store` are words, not values. Orders: `unordered \
         relaxed acquire release acq_rel seq_cst`. Scopes: `singlethread wavefront workgroup agent system`, each \
         also with `_one_as`. Spaces: `global shared private`. Hints: `volatile nontemporal`, joined by `|`.",
    ),
    (
        "E0040",
        "types do not match",
        "A value has another type than its place asks for, or two operands differ. Only literals adapt; everything \
         else is converted by `as`: `i as f32`.",
    ),
    (
        "E0041",
        "operator does not apply",
        "The operator has no meaning for operands of these types: arithmetic on `bool`, bit operations on floats, \
         `-` on an unsigned number.",
    ),
    (
        "E0042",
        "wrong number of arguments",
        "The call has more or fewer arguments than the function has parameters.",
    ),
    (
        "E0043",
        "no such conversion",
        "`as` converts between numbers, between vectors of equally many lanes, between pointers of one address \
         space, and between a pointer and the integer of its width. `bitcast` needs equally many bits on both sides.",
    ),
    (
        "E0044",
        "cannot be indexed so",
        "Pointers, arrays and vectors are indexed by integers. A constant index must be below the length, as must the constant number of a lane in `quad_permute` and `row_share`.",
    ),
    ("E0045", "not a pointer", "`*p` reads through a pointer; the operand is something else."),
    (
        "E0046",
        "condition is not a bool",
        "`if`, `while`, `&&`, `||`, `assume`, `ballot` take a `bool`. A number is compared with zero: `x != 0`.",
    ),
    (
        "E0047",
        "cannot be changed",
        "The variable is declared without `mut`, is a parameter or a constant, or the memory is behind a `const` or \
         `constant` pointer.",
    ),
    (
        "E0048",
        "not a place",
        "Only variables and memory can be assigned to or have an address: not the result of a calculation, not a \
         constant, not several lanes at once for `&`.",
    ),
    (
        "E0049",
        "wrong return",
        "A function with a result must return one on every path, and one without must not. The last expression of \
         the body, without `;`, is the result.",
    ),
    (
        "E0050",
        "type not known",
        "The type can be told neither from a declaration nor from a value. Write it: `let mut x: f32;`, \
         `bitcast::<u32>(x)`.",
    ),
    (
        "E0051",
        "fields of a struct",
        "A struct literal gives each field exactly once; a pattern names each once, or ends with `..`.",
    ),
    ("E0052", "wrong argument of a built-in", "The built-in function does not take values like this one."),
    (
        "E0053",
        "wrong address space",
        "Atomics work on `global` and `shared` memory, and through generic pointers to such. Private memory belongs to one work-item: no one else sees it.",
    ),
    (
        "E0054",
        "outside of a loop",
        "`break` and `continue` need a loop around them; in a labelled block they need a label, and `continue` that of a \
         loop.",
    ),
    (
        "E0055",
        "wrong number of lanes",
        "`f32x4(…)` takes as many scalars as there are lanes, parts that add up to them, or one scalar for all.",
    ),
    (
        "E0056",
        "value not used",
        "The statement computes a value and does nothing with it; `==` in place of `=` looks like this.",
    ),
    (
        "E0057",
        "value of a `break`",
        "`break e` gives a value to a `loop` or to a labelled block; all of its `break`s bring one of the same type. `for` \
         and `while` end without one.",
    ),
    (
        "E0058",
        "pattern that does not fit",
        "A pattern of a tuple, an array or a struct names its parts, or leaves some out with `..`: `(a, _, ..)`, `[first, ..]`, \
         `S { x, .. }`. `let` and parameters take any value, so that only `match` asks for certain ones. All alternatives `a | b` name the same variables, and a range holds a value.",
    ),
    (
        "E0059",
        "arms of a `match`",
        "A `match` has an arm for every value; arms with an `if` do not count, as it may not hold. The message names values \
         that are missing; `_ => …` takes all that are left, and nothing gets to an arm behind it.",
    ),
    (
        "E0070",
        "not a constant",
        "Lengths of arrays, values of `const` and `static` items, arguments of attributes and dimensions must be \
         known at compile time: made of literals, `const` and `param` items, operators, `min` and `max`.",
    ),
    (
        "E0071",
        "impossible constant",
        "Division by zero, an index out of range, or a step that is not positive.",
    ),
    (
        "E0072",
        "bad length",
        "Arrays have 1 to 2^31 - 1 elements and less than 2 GiB; types other than `shared dyn` memory state their length.",
    ),
    ("E0073", "circular definition", "A constant or struct is defined in terms of itself."),
    (
        "E0074",
        "value does not fit the param",
        "The text behind `-P NAME=` is not a value of the param's type.",
    ),
    (
        "E0075",
        "assertion that does not hold",
        "The condition of a `static_assert` is false. It is a constant, so that this is known when the program is compiled; \
         the text behind the condition says what is wrong.",
    ),
    ("E0080", "wrong arguments of an attribute", "The attribute is known but cannot have these arguments."),
    ("E0081", "attribute not allowed here", "The attribute belongs to another kind of item."),
    ("E0082", "impossible work-group", "A work-group has 1 to 1024 work-items: the product of its sizes."),
    ("E0083", "kernel with a result", "A kernel returns nothing; results are stored through pointers."),
    (
        "E0084",
        "type of a parameter",
        "Kernel parameters are numbers, vectors, structs without arrays, pointers to `global`, `constant` or \
         `shared` memory, and images, samplers, queues and pipes, which nothing else can be. A `param` item is a scalar.",
    ),
    (
        "E0085",
        "wrong declaration of memory",
        "`shared` memory has no initial value; `constant static` needs one; `dyn` memory is `shared`, of type `[T]`, \
         and all of it is one block.",
    ),
    (
        "E0086",
        "too much shared memory",
        "A work-group has 64 KiB of shared memory, on GFX6 32 KiB. What counts for a kernel is all that it names, and \
         what the functions name that it calls.",
    ),
    (
        "E0087",
        "order not allowed",
        "A load cannot release, a store cannot acquire, a fence must do either, and the failing side of a \
         compare-and-swap is a load.",
    ),
    (
        "E0090",
        "not supported yet",
        "This is part of the language but not of this compiler. The help says how to do without.",
    ),
    (
        "E0091",
        "function that other objects know",
        "`#[export]` shows a function to other objects, `extern fn` declares one that another object has. Such a function has one \
         name, so it is not generic, and parameters and a result that have a form outside: scalars, vectors, pointers, \
         addresses of functions, and structs of these and of arrays of them.",
    ),
    (
        "E0092",
        "no such file",
        "`use \"file.k\";` names a file that cannot be read. It is looked for beside the file that names it, then in the \
         directories that `-I` gives; a program that compiles for others gives files as it likes, or none.",
    ),
    (
        "E0093",
        "bound of a generic function",
        "`T: Number` asks for a scalar number, `Int` and `Float` for one of these, `Signed` for one that may be negative, \
         `Unsigned` for an integer that may not. A call gives a type of another kind, or there is no such bound. Constants \
         of generic functions are integers or `bool`.",
    ),
    (
        "E0094",
        "condition on the processor",
        "`#[cfg(…)]` takes `processor = \"gfx906\"`, `generation = \"gfx9\"`, `has(dpp)`, and of such conditions `not(…)`, \
         `all(…)` and `any(…)`; `has(dpp)` is also a constant. Names are those of `kernc targets`; one that it does not know is \
         a mistake, not a no.",
    ),
    (
        "E0095",
        "unknown warning",
        "`#[allow(name)]` in front of an item or a statement keeps kernc from warning of what is in it. The names are those of \
         `-W`, `-A` and `-D`; `all` is each of them.",
    ),
    (
        "E0096",
        "wrong text or format",
        "A text has an escape that there is none of, stands where none can stand, or is no format of `printf`. Escapes are `\\n \\t \\r \\a \\b \\v \\f \\\\ \\\" \\'`, \
         `\\x1b` with two digits and `\\u{e9}`. A conversion is `%`, flags of `-+ #0`, a width, a precision behind a point, `v` with the \
         number of a vector's elements, a length and a letter of `diouxXcspfFeEgGaA`; a percent sign is `%%`.",
    ),
    (
        "E0097",
        "conversion and argument do not fit",
        "Each conversion of a format prints one argument, in order, and says of what type it is: `%d` a signed and `%u` an unsigned integer \
         of up to 32 bits, `%x`, `%X` and `%o` any, with `hh` of 8, `h` of 16 and `l` of 64; `%f`, `%e`, `%g`, `%a` a float of any size; `%c` \
         a character by its code, `%p` a pointer, `%s` a text in quotes. `%v4f` prints the four elements of an `f32x4`.",
    ),
    (
        "E0110",
        "registers too few",
        "The kernel does not fit into the registers that `num_sgpr` or `num_vgpr` allows, or that its largest \
         work-group leaves to a wave, not even with spilling: some values must be in registers at the same time. Or \
         private variables and what is spilled need more scratch memory than the processor gives. The help says which \
         limit it is.",
    ),
    (
        "E0111",
        "not for this processor",
        "The program is right, but uses what kernc does not compile for the processor, or does not compile for the \
         processor at all. The message names it; `kernc targets` says what there is.",
    ),
    (
        "E0112",
        "limit reached",
        "Whoever runs the compiler has set limits for what it may be given, such as the size of a source or the time \
         it may take, and this program needs more.",
    ),
    (
        "E0113",
        "invalid IR",
        "The compiler was given a module of IR that its verifier does not accept, or machine IR that is not what the pass \
         to begin with takes. The notes or the labels say which rules of docs/ir.md or docs/machine-ir.md it breaks, and \
         where.",
    ),
    (
        "E0114",
        "no text of IR",
        "A text of IR (`.kir`, docs/ir.md) or of machine IR (`.mir`, docs/machine-ir.md) does not follow the syntax.",
    ),
    (
        "E0115",
        "wavefronts of two sizes",
        "A function that is called is compiled for wavefronts of 32 or of 64 lanes, and kernels of both kinds get to it. Let it be copied \
         into them by `#[inline]`, or give all of them the same `#[wave_size(n)]`.",
    ),
    (
        "E0900",
        "fault of the compiler",
        "The compiler found a mistake of its own: a check between two passes failed, or code came out that it cannot \
         encode. The source may be right. Please report it, with the source; a lower optimisation level may do for now.",
    ),
    (
        "constant_comparison",
        "a comparison that always comes out the same",
        "An unsigned number is never below 0, no number above the largest one of its type, and a variable equals itself. A loop that \
         counts an unsigned number down to 0 ends with another condition: `while n > 0 { n -= 1; … }`.",
    ),
    (
        "divergent_barrier",
        "a barrier that not all work-items come to",
        "Whether control gets to the barrier depends on the number of the work-item: those that do not get there are waited for \
         forever, or the group goes on without the order that was meant. Put it behind the `if`, and let work-items without work \
         pass it, too, instead of returning early. A condition like `global_id(0) < n` is fine if it holds for all or none of a \
         group; say so with `#[allow(divergent_barrier)]`.",
    ),
    (
        "divergent_wave_operation",
        "an operation of the wave that not all lanes take part in",
        "`ballot`, `wave_reduce_add` and their like are about the lanes that are active where they stand, and a branch on the number \
         of the lane leaves some of them out. This is told on request only, as it may be meant.",
    ),
    (
        "division_by_zero",
        "an integer divided by zero",
        "An integer is divided by a 0 that stands there, or its remainder taken: the result is unspecified. In constant \
         expressions it is an error.",
    ),
    (
        "empty_range",
        "a loop that never runs",
        "The range of a `for` has no number in it: it begins at or behind its end, as a range of unsigned numbers does that ends \
         before 0. Ranges count up; count down with `while`.",
    ),
    (
        "endless_recursion",
        "a function without a way out",
        "Whatever the arguments are, the function calls itself, or others that call it, before it can return: it never does, and the \
         stack is too small for that.",
    ),
    (
        "index_out_of_bounds",
        "an index that goes behind the end",
        "The variable of a loop indexes an array or vector and goes further than that: `0..=n` in place of `0..n` looks like this.",
    ),
    (
        "missing_barrier",
        "work-group memory read with no barrier behind the store",
        "Waves of a group run at their own pace: what a work-item of another wave has stored is there once all have come to a \
         `barrier()`. Told is what certainly goes wrong: all work-items store at places of their own, one reads a place that is another's, \
         and nothing between the two orders memory. Inside of a wave no barrier is needed. `#[allow(missing_barrier)]` keeps it quiet.",
    ),
    (
        "missing_restrict",
        "loads and stores apart for want of `restrict`",
        "Loads or stores next to each other could be one, or a load in a loop could be done in front of it, if it were not for memory that another \
         parameter is used to write or read in between: it may be the same. Where memory that is written through one parameter is \
         reached through no other one, `restrict` in their types promises that (`*restrict global f32`), and the kernel does fewer memory operations; with a `const` \
         parameter, whose memory nobody writes while the kernel runs, the promise is enough at that one. Told is what the optimiser would do with it. Where the memory is the same on \
         purpose, `#[allow(missing_restrict)]` keeps it quiet.",
    ),
    (
        "not_unrolled",
        "a loop with `#[unroll]` that stays a loop",
        "`#[unroll]` asks for a copy of the body for each iteration, which takes a number of iterations that is a constant when calls are inlined: at \
         most 4096, and at most 20000 instructions in all copies. A loop that stays may keep the private arrays that it indexes in memory. \
         `#[unroll(n)]` makes `n` copies of the body of any loop. Without optimisation (`-O0`) no loop is unrolled, and none is told.",
    ),
    (
        "shift_count",
        "a shift by the width or more",
        "Shift counts are taken modulo the width of what is shifted: a `u32` shifted by 32 is what it was, by 40 as by 8. \
         A literal has the type that its surroundings ask for, `i32` if they ask for none: `1 << 40` is `1u64 << 40`.",
    ),
    (
        "split_group_memory",
        "`shared` memory of a work-group that may be split",
        "With `-mtgsplit` the waves of a work-group may run on several compute units, each of which has LDS of its own: a \
         work-group has no `shared` memory then.",
    ),
    (
        "truncating_conversion",
        "a conversion to fewer bits",
        "`as` cuts integers to the low bits of the new type, and rounds floats to it. This is told on request only, as it is what `as` \
         is for.",
    ),
    (
        "uninitialized",
        "a variable without a value",
        "The variable is declared without a value and is read where no assignment, or not one on every way, has given it one: what is \
         read is unspecified.",
    ),
    (
        "unreachable_code",
        "code that is never reached",
        "The statement before ends with `return`, `break`, `continue` or `unreachable()` on every way through it.",
    ),
    (
        "unused_function",
        "a function that nobody calls",
        "No call names the function. Files without a kernel, and files that others `use`, are libraries, of which this is not told; a \
         name that begins with `_` is not told either.",
    ),
    (
        "unused_parameter",
        "a parameter that is not read",
        "The kernel or function does not use the parameter. This is told on request only, as whoever launches the kernel may fix the \
         signature; a name that begins with `_` is not told.",
    ),
    (
        "unused_result",
        "a result that is not used",
        "The statement calls a built-in function that does nothing but compute a result, and drops it.",
    ),
    (
        "unused_variable",
        "a variable that is not read",
        "The variable is never read, or only gets values. A name that begins with `_` is not told, and loops may leave their variable \
         unused.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_unique() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn explained() {
        assert!(explain("E0040").is_some_and(|text| text.contains("as")));
        assert!(explain("E9999").is_none());
    }
}
