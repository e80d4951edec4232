//! What can be taken away from an object.

use isa::decode::Decoder;
use isa::{MachInst, Operand, Reg, Target};
use object::{Object, ObjectSection};
use sim::idle_waits::Change;

/// One change to an object.
pub struct Mutation {
    /// Place in the file.
    at: usize,
    /// What stands there then.
    words: Vec<u32>,
    /// Address of the instruction.
    pub address: u64,
    pub kind: String,
    pub text: String,
    /// What it does to the order of memory; none where it is about registers only.
    pub order: Option<Change>,
    /// The instruction has to vanish: its room cannot be left to another one.
    pub vanishes: bool,
}

const NOP: u32 = 0xbf80_0000;
const WAITCNT: u32 = 0xbf8c_0000;

/// All changes to be tried.
pub fn mutations(object: &[u8], target: &'static Target) -> Vec<Mutation> {
    let file = object::File::parse(object).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    let (start, size) = text.file_range().expect("in the file");
    let code: Vec<u32> = object[start as usize..(start + size) as usize]
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let decoder = Decoder::new(target).expect("a known processor");
    let mut found = Vec::new();
    let mut index = 0;
    while index < code.len() {
        let Ok((inst, len)) = decoder.decode(&code[index..]) else {
            index += 1;
            continue;
        };
        let mut place = Place {
            target,
            decoder: &decoder,
            at: start as usize + index * 4,
            len,
            address: text.address() + index as u64 * 4,
            found: &mut found,
        };
        place.variants(&inst);
        index += len;
    }
    found
}

struct Place<'a> {
    target: &'static Target,
    decoder: &'a Decoder,
    at: usize,
    len: usize,
    address: u64,
    found: &'a mut Vec<Mutation>,
}

impl Place<'_> {
    fn push(&mut self, word: u32, kind: String, what: &str, order: Option<Change>) {
        let mut words = vec![NOP; self.len];
        words[0] = word;
        let text = format!("{:#x}: {what}", self.address);
        let (at, address) = (self.at, self.address);
        self.found.push(Mutation { at, words, address, kind, text, order, vanishes: false });
    }

    /// Another wait in its place.
    fn wait(&mut self, word: u32, kind: String, what: &str) {
        let (inst, _) = self.decoder.decode(&[word]).expect("a wait");
        let waits = check::Effects::from_inst(self.target, &inst).waits;
        // `expcnt` is about registers only.
        let order = (!kind.starts_with("expcnt")).then_some(Change::Waits(waits));
        self.push(word, kind, what, order);
    }

    fn variants(&mut self, inst: &MachInst) {
        let imm = inst.operands().iter().find_map(|operand| match operand {
            Operand::Imm(value) => Some(*value as u32),
            _ => None,
        });
        let name = inst.op.row().name;
        match (name, imm) {
            ("s_waitcnt", Some(mask)) => self.waitcnt(mask as u16),
            ("s_waitcnt_vscnt", Some(count)) => {
                self.wait(NOP, "vscnt deleted".into(), &format!("vscnt({count}) deleted"));
            }
            ("s_waitcnt_depctr", _) => self.push(NOP, "depctr deleted".into(), name, None),
            ("s_nop", Some(states)) => {
                self.push(NOP, "s_nop deleted".into(), &format!("s_nop {states} deleted"), None);
                if let Some(last) = self.found.last_mut() {
                    last.vanishes = true;
                }
                if states > 0 {
                    let what = format!("s_nop {states} one less");
                    self.push(NOP | (states - 1), "s_nop one less".into(), &what, None);
                }
            }
            ("s_mov_b32", _) if matches!(inst.ops[0], Operand::Reg(to) if to.first == Reg(125)) => {
                self.push(NOP, "s_mov_b32 null deleted".into(), name, None);
            }
            _ if name.contains("wbinvl1") || name.ends_with("_inv") || name.ends_with("_inv_vol") => {
                self.push(NOP, format!("{name} deleted"), name, Some(Change::KeepCaches));
            }
            _ => {}
        }
    }

    /// A wait without one of its counters, and with each one higher.
    fn waitcnt(&mut self, mask: u16) {
        let target = self.target;
        let counts = target.unpack_waitcnt(mask);
        let fields = [
            ("vmcnt", counts.vm, target.max_vmcnt),
            ("expcnt", counts.exp, target.max_expcnt),
            ("lgkmcnt", counts.lgkm, target.max_lgkmcnt),
        ];
        for (at, (name, count, max)) in
            fields.into_iter().enumerate().filter(|(_, (_, count, max))| count < max)
        {
            let with = |value: u8| {
                let mut values = [counts.vm, counts.exp, counts.lgkm];
                values[at] = value;
                WAITCNT | u32::from(target.waitcnt(values[0], values[1], values[2]))
            };
            self.wait(with(max), format!("{name} deleted"), &format!("{name}({count}) deleted"));
            if count + 1 < max {
                self.wait(with(count + 1), format!("{name} one more"), &format!("{name}({count}) + 1"));
            }
        }
    }
}

impl Mutation {
    /// The changed object; none where nothing can stand in the instruction's place.
    pub fn apply(&self, object: &[u8]) -> Option<Vec<u8>> {
        if self.vanishes {
            return None;
        }
        let mut bytes = object.to_vec();
        for (at, word) in self.words.iter().enumerate() {
            bytes[self.at + at * 4..self.at + at * 4 + 4].copy_from_slice(&word.to_le_bytes());
        }
        Some(bytes)
    }
}
