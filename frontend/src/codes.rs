//! The table of diagnostic codes.

/// Returns the explanation of a diagnostic code such as `E0001`, which `kernc explain` prints.
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
        "The source contains a character that the language does not use, such as `@` or `$`. Characters \
         outside ASCII are allowed in comments only.",
    ),
    (
        "E0002",
        "malformed number",
        "A number has no digits (`0x`), has digits that its base does not have, begins with a needless 0 \
         (`017`), or has a suffix that is not a scalar type. Numbers look like `10`, `0xff`, `0b101`, \
         `1_000`, `1.5` or `1e-3`. A suffix gives a number its type: `10u64`, `2f32`.",
    ),
    (
        "E0003",
        "number out of range",
        "A literal is larger than its type can hold. A literal gets the type that its context requires, or \
         `i32` if the context requires no type. A suffix gives the literal another type: `3000000000u32`. \
         A float literal does not fit if it would round to infinity; infinity is written `f32::INFINITY`.",
    ),
    (
        "E0004",
        "unclosed comment or string",
        "A comment begins with `/*` and has no matching `*/`, or a string begins with `\"` and has no \
         second `\"` on the same line. Block comments nest, so each `/*` needs its own `*/`.",
    ),
    (
        "E0005",
        "unexpected token",
        "The text does not follow the grammar at this place. The message says what could stand here. The \
         mistake is often just before this place.",
    ),
    (
        "E0006",
        "unclosed delimiter",
        "A `(`, `[` or `{` has no matching closing delimiter before the end of the file. The first label \
         shows the opening delimiter.",
    ),
    (
        "E0007",
        "too deep or too large",
        "The program exceeds a limit. Expressions, blocks and types nest up to 200 levels. A chain of \
         definitions, in which each definition needs the next, is at most 64 definitions long. The sources \
         of a program may have 256 MiB. A program may have 1000 functions that are made from generic \
         functions. If an expression is too deep, give names to parts of the expression with `let`.",
    ),
    (
        "E0008",
        "keyword used as a name",
        "A keyword of the language cannot be the name of a variable, function or type.",
    ),
    (
        "E0020",
        "unknown name",
        "No variable, parameter, constant or module variable of this name is visible here. A variable is \
         visible from its `let` to the end of the block.",
    ),
    (
        "E0021",
        "unknown type",
        "There is no type of this name. The scalar types are `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, \
         `bf16`, `f32` and `f64`. Vector types are written `f32x4`. Struct types are declared with \
         `struct`.",
    ),
    (
        "E0022",
        "unknown function",
        "There is no function and no built-in function of this name. A function may be defined after its \
         use.",
    ),
    (
        "E0023",
        "unknown field or lane",
        "The struct has no field of this name, the vector has no such lane, or the type of the value has \
         no fields at all. The lanes of a vector are `x y z w`, `s0` to `sf` and `lo hi even odd`. A \
         pointer has the fields of the struct, tuple or vector that it points to.",
    ),
    (
        "E0024",
        "defined twice",
        "Two items, parameters, fields or names in a pattern are the same. A `let` may hide an older \
         variable of the same name, but an item cannot hide another item.",
    ),
    (
        "E0025",
        "a name of another kind",
        "A name is used in a way that does not fit what it names: a type, kernel, built-in function or \
         generic function is used as a value, a value that is not a function is called, a kernel is \
         called, or a function that has no type parameters is given types.",
    ),
    (
        "E0026",
        "unknown label",
        "No loop or block around this statement has the label. `break 'a` must be inside a loop or block \
         that is labelled `'a:`, and `continue 'a` must be inside a loop with this label.",
    ),
    (
        "E0027",
        "unknown attribute",
        "There is no attribute of this name here. Kernels have the attributes `workgroup_size`, \
         `workgroup_size_hint`, `max_workgroup_size`, `waves_per_eu`, `num_vgpr`, `num_sgpr`, \
         `vec_type_hint`, `small_buffers`, `require`, `wave_size`, `denormals`, `ieee`, `dx10_clamp`, \
         `exceptions` and `implicit_args`. Functions have the attributes `inline` and `export`. Loops have \
         the attributes `unroll` and `no_unroll`.",
    ),
    (
        "E0028",
        "unknown parameter",
        "The option `-P NAME=VALUE` sets a `param` item of the program, but the program has no `param` of \
         this name.",
    ),
    (
        "E0029",
        "unknown word",
        "Some arguments of `fence`, of atomic functions, of `load` and of `store` are fixed words, not \
         values, and this word is not one of them. The memory orders are `unordered relaxed acquire \
         release acq_rel seq_cst`. The scopes are `singlethread wavefront workgroup agent system`, each \
         also with the suffix `_one_as`. The address spaces are `global shared private`. The hints are \
         `volatile nontemporal`, joined by `|`.",
    ),
    (
        "E0040",
        "types do not match",
        "The type of a value is not the type that the context requires, or two operands have different \
         types. Only literals change their type to fit. All other values must be converted with `as`: `i \
         as f32`.",
    ),
    (
        "E0041",
        "operator does not apply",
        "The operator is not defined for operands of these types. For example, there is no arithmetic on \
         `bool`, no bit operation on floats, and no unary `-` on unsigned integers.",
    ),
    (
        "E0042",
        "wrong number of arguments",
        "The call has more or fewer arguments than the function has parameters.",
    ),
    (
        "E0043",
        "no such conversion",
        "`as` does not convert between these types. `as` converts between numbers, between vectors with \
         the same number of lanes, between pointers to one address space, between pointers to `global` and \
         `constant` memory, between generic pointers and other pointers, and between a pointer and an \
         integer of the same width. `bitcast` requires types with the same number of bits.",
    ),
    (
        "E0044",
        "cannot be indexed so",
        "Only pointers, arrays and vectors can be indexed, and the index must be an integer. A constant \
         index must be less than the length. The lane numbers in `quad_permute` and `row_share` are \
         constants that must be in range, too.",
    ),
    ("E0045", "not a pointer", "The operand of `*p` must be a pointer."),
    (
        "E0046",
        "condition is not a bool",
        "The condition of `if` and `while`, the operands of `&&` and `||`, and the argument of `assume` \
         and `ballot` must be a `bool`. To test a number, compare it with zero: `x != 0`.",
    ),
    (
        "E0047",
        "cannot be changed",
        "The assignment is not allowed: the variable or parameter is declared without `mut`, the name is a \
         constant, or the pointer is `const` or points to `constant` memory.",
    ),
    (
        "E0048",
        "not a place",
        "The left side of an assignment, and the operand of `&`, must be a variable or memory. The result \
         of a calculation and a constant are neither. `&` cannot be applied to several lanes at once.",
    ),
    (
        "E0049",
        "wrong return",
        "A function with a result must return a value on every path, and a function without a result must \
         not return a value. The last expression of the body, without `;`, is the result of the function.",
    ),
    (
        "E0050",
        "type not known",
        "Neither a declaration nor a value determines the type here. State the type explicitly: `let mut \
         x: f32;`, `bitcast::<u32>(x)`.",
    ),
    (
        "E0051",
        "fields of a struct",
        "A struct literal must give a value to each field exactly once. A pattern of a struct must name \
         each field exactly once, or end with `..`.",
    ),
    (
        "E0052",
        "wrong argument of a built-in",
        "The built-in function does not accept an argument like this one. The message says which arguments \
         the function accepts.",
    ),
    (
        "E0053",
        "wrong address space",
        "Atomic functions work on `global` and `shared` memory, and through generic pointers that point to \
         such memory. They do not work on `private` memory, which only one work-item can access.",
    ),
    (
        "E0054",
        "outside of a loop",
        "`break` and `continue` must be inside a loop. In a labelled block that is not in a loop, `break` \
         needs the label of the block. `continue` always refers to a loop.",
    ),
    (
        "E0055",
        "wrong number of lanes",
        "A vector constructor such as `f32x4(…)` takes one scalar for each lane, or vectors and scalars \
         whose lanes add up to the lanes of the vector, or one scalar for all lanes.",
    ),
    (
        "E0056",
        "value not used",
        "The statement computes a value and does not use it. A frequent cause is `==` in place of `=`.",
    ),
    (
        "E0057",
        "value of a `break`",
        "`break e` gives a value to a `loop` or to a labelled block. All `break` statements of one loop or \
         block must have values of the same type. `for` and `while` loops have no value.",
    ),
    (
        "E0058",
        "pattern that does not fit",
        "The pattern does not fit the value. A pattern of a tuple, an array or a struct names all parts, \
         or leaves parts out with `..`: `(a, _, ..)`, `[first, ..]`, `S { x, .. }`. The pattern of a `let` \
         or of a parameter must match every value; only `match` can test for particular values. All \
         alternatives in `a | b` must declare the same variables. A range pattern must not be empty.",
    ),
    (
        "E0059",
        "arms of a `match`",
        "A `match` must have an arm for every value. An arm with an `if` covers no value, because its \
         condition may be false. The message names values that no arm covers; an arm `_ => …` covers all \
         remaining values. An arm after `_ => …` can never be reached and is an error.",
    ),
    (
        "E0070",
        "not a constant",
        "The value must be known at compile time. This applies to lengths of arrays, values of `const` and \
         `static` items, arguments of attributes, and dimensions. Such a value is an expression of \
         literals, `const` and `param` items, operators, conversions, `if`, indexing, `min` and `max`.",
    ),
    (
        "E0071",
        "impossible constant",
        "A constant divides by zero or has an index out of range, or the step of a loop is not positive.",
    ),
    (
        "E0072",
        "bad length",
        "An array has 1 to 2^31 - 1 elements, and a type has less than 2 GiB. An array type must state its \
         length, except for `shared dyn` memory, whose size the dispatch gives.",
    ),
    ("E0073", "circular definition", "The definition of a constant or struct depends on itself."),
    (
        "E0074",
        "value does not fit the param",
        "The value in the option `-P NAME=VALUE` is not a value of the type of the `param`.",
    ),
    (
        "E0075",
        "assertion that does not hold",
        "The condition of a `static_assert`, which is a constant, is false. The message of the \
         `static_assert` says what is wrong.",
    ),
    (
        "E0080",
        "wrong arguments of an attribute",
        "The attribute exists, but does not accept these arguments, or the attribute is given twice.",
    ),
    (
        "E0081",
        "attribute not allowed here",
        "The attribute does not apply to this kind of item. For example, an attribute of kernels stands \
         before a function.",
    ),
    (
        "E0082",
        "impossible work-group",
        "A work-group has 1 to 1024 work-items. The number of work-items is the product of the sizes in \
         all dimensions.",
    ),
    (
        "E0083",
        "kernel with a result",
        "A kernel cannot return a value. A kernel stores its results through pointers.",
    ),
    (
        "E0084",
        "type of a parameter",
        "A kernel parameter can be a number, a vector, a struct without arrays, a pointer to `global`, \
         `constant` or `shared` memory, a generic pointer, an image, a sampler, a queue or a pipe. Images, \
         samplers, queues and pipes can only be kernel parameters. A `param` item must be a scalar.",
    ),
    (
        "E0085",
        "wrong declaration of memory",
        "A variable of the module or of work-group memory is declared incorrectly. A `shared` variable \
         cannot have an initial value. A `constant static` variable must have an initial value. A `dyn` \
         variable must be `shared` and have a type `[T]`; all `dyn` variables are views of one block of \
         memory.",
    ),
    (
        "E0086",
        "too much shared memory",
        "The kernel needs more `shared` memory than a work-group has: 64 KiB, or 32 KiB on GFX6. The \
         `shared` variables that the kernel names count, and those that the functions name that the kernel \
         calls.",
    ),
    (
        "E0087",
        "order not allowed",
        "The atomic operation or fence cannot have this memory order. A load cannot release, and a store \
         cannot acquire. A fence must release, acquire or both. The order for the failure of a \
         compare-and-swap is an order of a load.",
    ),
    (
        "E0090",
        "not supported yet",
        "The compiler does not support this part of the language yet. The help says what to write instead.",
    ),
    (
        "E0091",
        "function that other objects know",
        "A function that is exported with `#[export]`, or declared with `extern fn`, is known to other \
         objects by its name. Such a function cannot be generic. Its parameters and its result must have \
         types with a form in the calling convention: scalars, vectors, pointers, addresses of functions, \
         and structs, which may contain arrays and other structs.",
    ),
    (
        "E0092",
        "no such file",
        "`use \"file.k\";` names a file that cannot be read. The compiler looks for the file beside the \
         file that contains the `use`, then in the directories that `-I` gives. A program that contains \
         the compiler as a library may supply files in another way, or supply none.",
    ),
    (
        "E0093",
        "bound of a generic function",
        "A type parameter has an unknown bound, or a call gives the type parameter a type that its bound \
         does not accept. `Number` accepts scalar numbers, `Int` integers, `Float` floats, `Signed` signed \
         integers and floats, and `Unsigned` unsigned integers. Constant parameters of generic functions \
         are integers or `bool`.",
    ),
    (
        "E0094",
        "condition on the processor",
        "The condition on the processor is not understood. `#[cfg(…)]` accepts `processor = \"gfx906\"`, \
         `generation = \"gfx9\"` and `has(dpp)`, and combines conditions with `not(…)`, `all(…)` and \
         `any(…)`. `has(dpp)` can also be used as a constant. `kernc targets` prints the known names; an \
         unknown name is an error, and does not count as false.",
    ),
    (
        "E0095",
        "unknown warning",
        "There is no warning of this name. `#[allow(name)]` before an item or a statement suppresses the \
         named warning there. The names are the same as for `-W`, `-A` and `-D`; `all` stands for all \
         warnings.",
    ),
    (
        "E0096",
        "wrong text or format",
        "A string literal has an unknown escape, stands where no string literal is allowed, or is not a \
         valid format of `printf`. The escapes are `\\n \\t \\r \\a \\b \\v \\f \\\\ \\\" \\'`, `\\x1b` \
         with two digits, and `\\u{e9}`. A conversion in a format is `%`, flags of `-+ #0`, a width, a \
         precision after a point, `v` with the number of lanes of a vector, a length, and a letter of \
         `diouxXcspfFeEgGaA`. A percent sign is written `%%`.",
    ),
    (
        "E0097",
        "conversion and argument do not fit",
        "The argument of `printf` does not have the type that the conversion requires. Each conversion \
         prints one argument, in order. `%d` prints a signed and `%u` an unsigned integer of up to 32 \
         bits; `%x`, `%X` and `%o` print both. With `hh`, `h` or `l`, these conversions print integers of \
         8, 16 or 64 bits. `%f`, `%e`, `%g` and `%a` print a float of any size, `%c` a character given by \
         its code, `%p` a pointer, and `%s` a string literal. `%v4f` prints the four lanes of an `f32x4`.",
    ),
    (
        "E0110",
        "registers too few",
        "The kernel does not fit into the registers that it may use, even with spilling, because some \
         values must be in registers at the same time. The limit comes from `num_sgpr` or `num_vgpr`, or \
         from the largest work-group of the kernel, whose waves share the registers. Another cause of this \
         error is scratch memory: the private variables and spilled values need more scratch memory than \
         the processor provides. The help says which limit applies.",
    ),
    (
        "E0111",
        "not for this processor",
        "The program is correct, but kernc cannot compile a part of it for this processor, or cannot \
         compile for this processor at all. The message names the reason. `kernc targets` lists the \
         processors.",
    ),
    (
        "E0112",
        "limit reached",
        "The program that runs the compiler has set a limit, such as the size of a source or the time for \
         a compilation, and this source exceeds the limit.",
    ),
    (
        "E0113",
        "invalid IR",
        "The compiler was given a module of IR that the IR verifier rejects, or machine IR that does not \
         fit the pass at which compilation starts. The notes or labels say which rules of docs/ir.md or \
         docs/machine-ir.md are violated, and where.",
    ),
    (
        "E0114",
        "no text of IR",
        "The text form of IR (`.kir`, docs/ir.md) or of machine IR (`.mir`, docs/machine-ir.md) has a \
         syntax error.",
    ),
    (
        "E0115",
        "wavefronts of two sizes",
        "A function is compiled for wavefronts of 32 lanes or of 64 lanes, but kernels with both wavefront \
         sizes call this function. Mark the function with `#[inline]`, so that it becomes part of each \
         kernel, or give all these kernels the same `#[wave_size(n)]`.",
    ),
    (
        "E0900",
        "fault of the compiler",
        "The compiler has found an error in itself: a check between two passes failed, or the generated \
         code cannot be encoded. The source may be correct. Please report this error, together with the \
         source. A lower optimisation level may avoid the error.",
    ),
    (
        "constant_comparison",
        "a comparison that always comes out the same",
        "The comparison has the same result for all values. An unsigned number is never less than 0, no \
         number is greater than the largest number of its type, and a variable always equals itself. To \
         count an unsigned number down to 0, write a loop with another condition: `while n > 0 { n -= 1; … \
         }`.",
    ),
    (
        "divergent_barrier",
        "a barrier that not all work-items come to",
        "Some work-items of the group may not reach the barrier, because a condition on the way to the \
         barrier depends on the number of the work-item. The other work-items then wait forever, or \
         continue without the intended order. Move the barrier out of the `if`, and let work-items without \
         work execute the barrier, too, instead of returning early. A condition such as `global_id(0) < n` \
         causes no problem if it is true for all work-items of a group or for none. In that case, write \
         `#[allow(divergent_barrier)]`.",
    ),
    (
        "divergent_wave_operation",
        "an operation of the wave that not all lanes take part in",
        "A wave operation such as `ballot` or `wave_reduce_add` works on the active lanes only, and a \
         branch that depends on the number of the lane makes some lanes inactive here. This warning is off \
         by default, because such code may be intended.",
    ),
    (
        "division_by_zero",
        "an integer divided by zero",
        "An integer is divided by a literal 0, or its remainder by a literal 0 is computed. The result is \
         unspecified. In a constant expression, a division by zero is an error.",
    ),
    (
        "empty_range",
        "a loop that never runs",
        "The range of the `for` is empty, because it begins at or after its end. This includes a range of \
         unsigned numbers that is meant to end below 0. Ranges count up; use `while` to count down.",
    ),
    (
        "endless_recursion",
        "a function without a way out",
        "On every path, the function calls itself, directly or through other functions, before it can \
         return. Such a function never returns, and its calls overflow the stack.",
    ),
    (
        "index_out_of_bounds",
        "an index that goes behind the end",
        "The variable of a loop is the index of an array or vector, and its range exceeds the length. A \
         frequent cause is `0..=n` in place of `0..n`.",
    ),
    (
        "missing_barrier",
        "work-group memory read with no barrier behind the store",
        "A work-item reads `shared` memory that a work-item of another wave has written, and there is no \
         barrier between the write and the read. The waves of a group run independently, so the value is \
         certain to be there only after all waves have executed a `barrier()`. The warning is given only \
         where all work-items store to different elements, one of them then reads an element that another \
         work-item has stored, and nothing between the store and the read orders memory. Within one wave \
         no barrier is needed; in that case, write `#[allow(missing_barrier)]`.",
    ),
    (
        "missing_restrict",
        "loads and stores apart for want of `restrict`",
        "The kernel could execute fewer memory operations if pointer parameters were `restrict`. Without \
         `restrict`, the compiler must assume that two parameters may point to the same memory, so it \
         cannot combine adjacent loads or stores, or move a load out of a loop, if the memory behind \
         another parameter is accessed in between. If the memory that is written through a parameter is \
         reached through no other parameter, declare the parameters as `*restrict global f32`. For a \
         `const` parameter whose memory nothing writes while the kernel runs, `restrict` on this parameter \
         is enough. The warning reports improvements that the optimiser would actually make. If the \
         parameters do point to the same memory, write `#[allow(missing_restrict)]`.",
    ),
    (
        "no_trap_handler",
        "a call of the debugger on a system without a trap handler",
        "`debug_trap()` calls the debugger through the trap handler. Only the runtimes of the system \
         `amdhsa` install a trap handler. For other systems, the call does nothing.",
    ),
    (
        "not_unrolled",
        "a loop with `#[unroll]` that stays a loop",
        "`#[unroll]` asks for a copy of the loop body for each iteration. For this, the number of \
         iterations must be a constant after inlining, of at most 4096, and all copies together may have \
         at most 20000 instructions. A loop that is not unrolled may keep the private arrays that it \
         indexes in memory. `#[unroll(n)]` makes `n` copies of the body of any loop. Without optimisation \
         (`-O0`), no loop is unrolled, and this warning is not given.",
    ),
    (
        "shift_count",
        "a shift by the width or more",
        "A shift uses its count modulo the width of the shifted value: a `u32` that is shifted by 32 does \
         not change, and a shift by 40 is a shift by 8. A literal has the type that its context requires, \
         or `i32` if the context requires no type, so `1 << 40` must be written `1u64 << 40`.",
    ),
    (
        "split_group_memory",
        "`shared` memory of a work-group that may be split",
        "With `-mtgsplit`, the waves of a work-group may run on several compute units. Each compute unit \
         has its own LDS, so a work-group cannot have `shared` memory.",
    ),
    (
        "truncating_conversion",
        "a conversion to fewer bits",
        "`as` truncates an integer to the low bits of a narrower type, and rounds a float to a narrower \
         type. This warning is off by default, because such conversions are usually intended.",
    ),
    (
        "uninitialized",
        "a variable without a value",
        "The variable is declared without a value, and is read on a path on which no assignment has given \
         it a value. The value that is read is unspecified.",
    ),
    (
        "unreachable_code",
        "code that is never reached",
        "The statement before this code ends with `return`, `break`, `continue` or `unreachable()` on \
         every path, so this code is never executed.",
    ),
    (
        "unused_function",
        "a function that nobody calls",
        "No call names the function. This warning is not given in files without a kernel and in files that \
         other files `use`, because such files are libraries. A name that begins with `_` avoids the \
         warning.",
    ),
    (
        "unused_parameter",
        "a parameter that is not read",
        "The kernel or function does not use the parameter. This warning is off by default, because the \
         code that launches a kernel may determine the kernel's parameters. A name that begins with `_` \
         avoids the warning.",
    ),
    (
        "unused_result",
        "a result that is not used",
        "The statement calls a built-in function that only computes a result, and does not use the result.",
    ),
    (
        "unused_variable",
        "a variable that is not read",
        "The variable is never read; assignments to it do not count. A name that begins with `_` avoids \
         the warning, and the variable of a loop may be unused.",
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
