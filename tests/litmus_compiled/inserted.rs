//! Waits and cache operations in compiled code: why each is there, and the same object without it.

use kernc::Subtarget;
use kernc::isa::decode::Decoder;
use kernc::isa::wait::{Counter, Counts};
use kernc::isa::{MachInst, Opcode, Operand, encode, op};
use kernc::mir::{MachFunc, Note};
use object::{Object, ObjectSection};

/// An inserted instruction, or one counter of a wait.
pub struct Inserted {
    /// How many there are before it in the code.
    number: usize,
    counter: Option<Counter>,
    /// Its mnemonic.
    pub instruction: &'static str,
    /// Why it is there: a row of the memory model's table, or the instruction that uses a register and the one that writes it.
    pub reason: String,
    /// Whether it keeps a register from being touched too early, and not accesses in order.
    pub guards_register: bool,
}

const CACHES: [Opcode; 6] = [
    op::BUFFER_WBINVL1,
    op::BUFFER_WBINVL1_VOL,
    op::BUFFER_GL0_INV,
    op::BUFFER_GL1_INV,
    op::BUFFER_INVL2,
    op::BUFFER_WBL2,
];

fn is_inserted(target: &Subtarget, inst: &MachInst) -> bool {
    target.is_wait(inst.op) || CACHES.contains(&inst.op)
}

/// All of a function. What mends a hazard is none of them: schedules do not show hazards.
pub fn inserted(target: &Subtarget, func: &MachFunc) -> Vec<Inserted> {
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    let mut all = Vec::new();
    for (number, inst) in insts.filter(|inst| is_inserted(target, inst)).enumerate() {
        let instruction = inst.op.row().name;
        let notes = &func.notes[inst.note.index().unwrap_or(func.notes.len())..];
        if CACHES.contains(&inst.op) {
            let Some(Note::Coherence(row)) = notes.first() else { panic!("{instruction} without a reason") };
            let reason = format!("{instruction}: {row}");
            all.push(Inserted { number, counter: None, instruction, reason, guards_register: false });
            continue;
        }
        let waited = target.waited(inst).expect("a wait");
        let counters = Counter::ALL.into_iter().filter(|counter| waited.count(*counter) != Counts::ANY);
        for (counter, note) in counters.zip(notes) {
            let Note::Wait { counter: name, producer, reg, consumer } = note else { break };
            assert_eq!(*name, counter.name());
            let reason = match reg {
                None => format!("{name}: {consumer}"),
                Some(_) => format!("{name}: {consumer} after {producer}"),
            };
            let guards_register = reg.is_some();
            all.push(Inserted { number, counter: Some(counter), instruction, reason, guards_register });
        }
    }
    all
}

/// An object without an instruction, or without one counter of it.
pub fn without(target: &Subtarget, object: &[u8], which: &Inserted) -> Vec<u8> {
    let file = object::File::parse(object).expect("an ELF file");
    let (start, length) = file.section_by_name(".text").and_then(|text| text.file_range()).expect("code");
    let text = object[start as usize..(start + length) as usize].chunks_exact(4);
    let words: Vec<u32> = text.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let decoder = Decoder::new(target.target).expect("a decoder");
    let (mut at, mut before) = (0, 0);
    loop {
        let (inst, length) = decoder.decode(&words[at..]).expect("an instruction");
        if is_inserted(target, &inst) {
            if before == which.number {
                let mut bytes = object.to_vec();
                for (number, word) in less(target, &inst, which.counter, length).into_iter().enumerate() {
                    bytes[start as usize + (at + number) * 4..][..4].copy_from_slice(&word.to_le_bytes());
                }
                return bytes;
            }
            before += 1;
        }
        at += length;
    }
}

/// The words of an instruction that does not wait for a counter; `s_nop` where nothing is left.
fn less(target: &Subtarget, inst: &MachInst, counter: Option<Counter>, length: usize) -> Vec<u32> {
    let rest = counter.and_then(|counter| {
        let mut counts = target.waited(inst).expect("a wait");
        counts.0[counter as usize] = Counts::ANY;
        let wait = target.wait_instructions().iter().find(|wait| wait.op == inst.op).expect("a wait");
        wait.inst(target, counts)
    });
    let inst = rest.unwrap_or(MachInst::new(op::S_NOP, &[Operand::Imm(0)]));
    let mut words = Vec::new();
    while words.len() < length {
        encode(target.target, &inst, &mut words).expect("it can be encoded");
    }
    words
}
