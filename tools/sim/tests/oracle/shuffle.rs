//! DPP: which lane a lane reads ("Data parallel primitives" of the GCN3, Vega and RDNA ISA manuals), and how it is written.

/// A control of DPP with its masks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffle {
    /// What the lanes read.
    pub control: Control,
    /// A bit for each row of 16 lanes.
    pub row_mask: u8,
    /// A bit for each bank of four lanes in a row.
    pub bank_mask: u8,
    /// Lanes without a source read zero, and are written.
    pub bound: bool,
    /// Inactive lanes are read (GFX10).
    pub inactive: bool,
}

/// What the lanes read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Any of the four lanes around.
    Quad([u8; 4]),
    /// From this many lanes above, in the row.
    RowShl(u8),
    /// From this many lanes below, in the row.
    RowShr(u8),
    /// From this many lanes below, around in the row.
    RowRor(u8),
    /// One lane above.
    WaveShl,
    /// One lane above, around.
    WaveRol,
    /// One lane below.
    WaveShr,
    /// One lane below, around.
    WaveRor,
    /// Rows backwards.
    Mirror,
    /// Half rows backwards.
    HalfMirror,
    /// The last lane of a row goes to the next row.
    Bcast15,
    /// Lane 31 goes to the rows above.
    Bcast31,
    /// One lane of the row goes to all of it (gfx90a).
    NewBcast(u8),
    /// The same on GFX10.
    Share(u8),
    /// The lane with these bits of its number turned.
    Xmask(u8),
    /// Any of the eight lanes around (GFX10).
    Eight([u8; 8]),
}

use Control::*;

impl Shuffle {
    /// The control as it is written.
    pub fn text(&self) -> String {
        let list = |lanes: &[u8]| {
            let lanes: Vec<String> = lanes.iter().map(u8::to_string).collect();
            format!("[{}]", lanes.join(","))
        };
        let control = match &self.control {
            Quad(lanes) => format!("quad_perm:{}", list(lanes)),
            RowShl(n) => format!("row_shl:{n}"),
            RowShr(n) => format!("row_shr:{n}"),
            RowRor(n) => format!("row_ror:{n}"),
            WaveShl => "wave_shl:1".into(),
            WaveRol => "wave_rol:1".into(),
            WaveShr => "wave_shr:1".into(),
            WaveRor => "wave_ror:1".into(),
            Mirror => "row_mirror".into(),
            HalfMirror => "row_half_mirror".into(),
            Bcast15 => "row_bcast:15".into(),
            Bcast31 => "row_bcast:31".into(),
            NewBcast(n) => format!("row_newbcast:{n}"),
            Share(n) => format!("row_share:{n}"),
            Xmask(n) => format!("row_xmask:{n}"),
            Eight(lanes) => format!("dpp8:{}", list(lanes)),
        };
        let mut text = format!(" {control}");
        if !matches!(self.control, Eight(_)) {
            text += &format!(" row_mask:{:#x} bank_mask:{:#x}", self.row_mask, self.bank_mask);
            text += if self.bound { " bound_ctrl:0" } else { "" };
        }
        text + if self.inactive { " fi:1" } else { "" }
    }

    /// The lane that is named, if it exists.
    fn source(&self, lane: usize, lanes: usize) -> Option<usize> {
        let (first, place) = (lane / 16 * 16, lane % 16);
        let within = |place: i32| (0..16).contains(&place).then(|| first + place as usize);
        let at = place as i32;
        match self.control {
            Quad(from) => Some(lane / 4 * 4 + usize::from(from[lane % 4])),
            RowShl(n) => within(at + i32::from(n)),
            RowShr(n) => within(at - i32::from(n)),
            RowRor(n) => within((at - i32::from(n)).rem_euclid(16)),
            WaveShl => (lane + 1 < lanes).then_some(lane + 1),
            WaveRol => Some((lane + 1) % lanes),
            WaveShr => lane.checked_sub(1),
            WaveRor => Some((lane + lanes - 1) % lanes),
            Mirror => within(15 - at),
            HalfMirror => Some(lane / 8 * 8 + (7 - lane % 8)),
            Bcast15 => first.checked_sub(1),
            Bcast31 => (lane >= 32).then_some(31),
            NewBcast(n) | Share(n) => within(i32::from(n)),
            Xmask(n) => within(at ^ i32::from(n)),
            Eight(from) => Some(lane / 8 * 8 + usize::from(from[lane % 8])),
        }
    }

    /// The lane that is read, if it exists and is active or read nevertheless.
    pub fn readable(&self, lane: usize, lanes: usize, exec: u64) -> Option<usize> {
        self.source(lane, lanes).filter(|from| self.inactive || exec >> from & 1 != 0)
    }

    /// Whether an active lane is written.
    pub fn writes(&self, lane: usize, lanes: usize, exec: u64) -> bool {
        if matches!(self.control, Eight(_)) {
            return true;
        }
        let enabled = self.row_mask >> (lane / 16) & 1 != 0 && self.bank_mask >> (lane % 16 / 4) & 1 != 0;
        enabled && (self.bound || self.readable(lane, lanes, exec).is_some())
    }
}
