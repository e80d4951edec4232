//! Every role on every processor: an instruction the processor has, an expansion, or a reason.
//!
//! `cargo test -p kernc-isel --test isel roles:: -- --nocapture` prints the table.

use isa::table::{Family, Kind, OpSpec};
use isa::{Opcode, PROCESSORS, Subtarget, op};
use isel::roles::{Expansion, Resolution, Role, Roles};
use std::collections::BTreeMap;

/// Each processor in each of its wave sizes.
fn subtargets() -> impl Iterator<Item = Subtarget> {
    let sizes = |target| [32, 64].map(|lanes| Subtarget::new(target).with_wave_size(lanes));
    PROCESSORS.iter().flat_map(sizes).flatten()
}

fn word(resolution: Resolution) -> String {
    match resolution {
        Resolution::Opcode(op) => op.row().name.to_owned(),
        Resolution::Expansion(expansion) => format!("expansion {expansion:?}"),
        Resolution::Refused(reason) => format!("refused: {reason}"),
    }
}

/// Bar: 36 processors in their wave sizes; nothing but an instruction of the processor, an expansion or a
/// reason.
#[test]
fn every_role_is_played_or_refused_with_a_reason() {
    let all: Vec<(Subtarget, Roles)> =
        subtargets().map(|subtarget| (subtarget, Roles::new(&subtarget))).collect();
    assert_eq!(all.len(), 36 + 11, "GFX10 has both wave sizes");
    for &role in Role::ALL {
        let mut by_word: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (subtarget, roles) in &all {
            let resolution = roles.get(role);
            match resolution {
                Resolution::Opcode(op) => assert!(op.row().code(subtarget).is_some(), "{role:?} {subtarget}"),
                Resolution::Expansion(expansion) => {
                    for &part in expansion.needs() {
                        let refused = matches!(roles.get(part), Resolution::Refused(_));
                        assert!(!refused, "{role:?} on {subtarget} needs {part:?}");
                    }
                }
                Resolution::Refused(reason) => assert!(reason.len() > 10, "{role:?}: {reason:?}"),
            }
            by_word.entry(word(resolution)).or_default().push(subtarget.to_string());
        }
        for (word, names) in by_word {
            let names = if names.len() == all.len() { "all".to_owned() } else { names.join(" ") };
            println!("{:48} {word:40} {names}", role.name());
        }
    }
}

/// What is compiled for lacks little, and nothing else than this.
#[test]
fn compiled_processors_play_every_role_but_a_few() {
    for target in &isa::PROCESSORS {
        let roles = Roles::new(&Subtarget::new(target));
        for &role in Role::ALL {
            let refused = match roles.get(role) {
                // Something else is asked for there: `tests/processors.rs` compiles it.
                Resolution::Refused(reason) if reason.starts_with("it is done ") => continue,
                resolution => matches!(resolution, Resolution::Refused(_)),
            };
            assert_eq!(refused, lacks(target, role), "{role:?} on {}", target.name);
        }
    }
}

/// GFX6 and GFX7 have no clock of constant frequency, GFX6 no generic pointers. The shifts that take their
/// count last went with GFX8, where nobody asks for them.
fn lacks(target: &isa::Target, role: Role) -> bool {
    match role {
        Role::SMemrealtime => target.version.0 < 8,
        Role::VShlCountLastB64 | Role::VShrCountLastB64 | Role::VAshrCountLastI64 => target.version.0 >= 8,
        _ if role.candidates()[0].family() == Family::Flat => !target.has(isa::Feature::FLAT),
        _ => false,
    }
}

/// One role, one list of operands: who emits a role need not know which instruction it becomes. For device
/// memory FLAT stands in for GLOBAL, whose base there is no operand for.
#[test]
fn instructions_of_a_role_take_the_same_operands() {
    let shape = |specs: &[OpSpec]| {
        let shape = |spec: &OpSpec| (spec.role, spec.width);
        specs.iter().filter(|spec| spec.kind != Kind::Saddr).map(shape).collect::<Vec<_>>()
    };
    for &role in Role::ALL {
        let first = role.candidates()[0].row();
        for other in role.candidates().iter().filter(|other| other.family() == first.family) {
            assert_eq!(shape(first.ops), shape(other.row().ops), "{role:?}: {other:?}");
        }
    }
}

/// What buffer instructions load, store and operate with is what the others do, for device memory and for
/// private memory: the operand that is returned is the one with the data.
#[test]
fn buffer_instructions_move_as_much() {
    let data =
        |op: &Opcode| op.row().ops.iter().filter(|spec| spec.kind == Kind::Vgpr).map(|spec| spec.width).max();
    let buffers = Role::ALL.iter().filter_map(|role| {
        let [first, .., last] = role.candidates() else { return None };
        (last.family() == Family::Mubuf && first.family() != Family::Mubuf).then_some((first, last))
    });
    let mut count = 0;
    for (first, last) in buffers {
        assert_eq!(data(first), data(last), "{first:?} {last:?}");
        count += 1;
    }
    assert_eq!(count, 58, "30 atomic operations, and 8 loads and 6 stores of either memory");
}

/// No two roles are the same thing under two names, and every expansion is some role's.
#[test]
fn roles_and_expansions_are_distinct() {
    let mut names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let mut used: Vec<Expansion> = Vec::new();
    for subtarget in subtargets() {
        let roles = Roles::new(&subtarget);
        used.extend(Role::ALL.iter().filter_map(|&role| match roles.get(role) {
            Resolution::Expansion(expansion) => Some(expansion),
            _ => None,
        }));
    }
    for expansion in Expansion::ALL {
        assert!(used.contains(expansion), "{expansion:?} is nobody's");
    }
}

#[test]
fn what_generations_lack_is_expanded() {
    let on = |name: &str, role| Roles::new(&Subtarget::by_name(name).unwrap()).get(role);
    assert_eq!(on("gfx906", Role::VAddU32), Resolution::Opcode(op::V_ADD_U32));
    assert_eq!(on("gfx1010", Role::VAddU32), Resolution::Opcode(op::V_ADD_NC_U32));
    assert_eq!(on("gfx803", Role::VAddU32), Resolution::Expansion(Expansion::DropCarryOfAdd));
    assert_eq!(on("gfx803", Role::GlobalLoadB64), Resolution::Opcode(op::FLAT_LOAD_DWORDX2));
    assert_eq!(on("gfx600", Role::GlobalLoadB64), Resolution::Opcode(op::BUFFER_LOAD_DWORDX2));
    assert_eq!(on("gfx600", Role::LdsReadB128), Resolution::Expansion(Expansion::Split));
}
