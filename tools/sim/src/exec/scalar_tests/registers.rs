//! Tests of special and hardware registers, constants, registers relative to M0, and modes.

use super::{refusal, run, run_lanes};
use crate::fault::Trap;
use crate::op::Code;
use crate::wave::{Wave, reg};
use isa::Target;

#[test]
fn special_registers() {
    for (processor, first) in [("gfx700", 104), ("gfx803", 102), ("gfx906", 102)] {
        let text = "s_mov_b64 flat_scratch, s[4:5]\ns_mov_b64 s[0:1], flat_scratch";
        let wave = run(processor, text, |wave| wave.set_pair(4, 0x1234_5678_9abc_def0));
        assert_eq!(
            (wave.flat_scratch(), wave.pair(first), wave.pair(0)),
            (0x1234_5678_9abc_def0, wave.pair(4), wave.pair(4))
        );
    }
    let wave = run("gfx906", "s_mov_b64 xnack_mask, -1\ns_mov_b64 s[0:1], xnack_mask", |_| {});
    assert_eq!((wave.pair(0), wave.pair(104)), (!0, !0));
    // On these processors they are numbered registers.
    let wave = run("gfx600", "s_mov_b64 s[102:103], -1\ns_mov_b64 s[0:1], s[102:103]", |_| {});
    assert_eq!(wave.pair(0), !0);
    let wave = run("gfx1010", "s_mov_b64 s[104:105], -1\ns_mov_b64 s[0:1], s[104:105]", |_| {});
    assert_eq!((wave.pair(0), wave.flat_scratch()), (!0, 0));
    for processor in super::PROCESSORS {
        let text = "s_mov_b64 vcc, s[4:5]\ns_mov_b32 m0, s6\ns_add_u32 s0, vcc_hi, m0";
        let wave = run(processor, text, |wave| {
            wave.set_pair(4, 0x7_0000_0001);
            wave.sgpr[6] = 5;
        });
        assert_eq!((wave.sgpr[0], wave.vcc()), (12, 0x7_0000_0001), "{processor}");
        // The trap handler's registers cannot be accessed.
        let wave = run(
            processor,
            "s_mov_b32 ttmp4, -1\ns_mov_b32 s0, ttmp4\ns_mov_b64 ttmp[10:11], -1\ns_mov_b64 s[2:3], ttmp[10:11]",
            |wave| wave.sgpr[0] = 9,
        );
        assert_eq!((wave.sgpr[0], wave.pair(2)), (0, 0), "{processor}");
    }
    for processor in ["gfx600", "gfx803"] {
        let wave = run(
            processor,
            "s_mov_b64 tba, -1\ns_mov_b64 s[0:1], tba\ns_mov_b64 tma, -1\ns_mov_b64 s[2:3], tma",
            |_| {},
        );
        assert_eq!((wave.pair(0), wave.pair(2)), (0, 0), "{processor}");
    }
}

#[test]
fn status_bits_as_sources() {
    for processor in super::PROCESSORS {
        for (vcc, exec, scc) in [(0, 0, false), (1, 0, true), (0, 1, true), (1 << 40, 1 << 40, false)] {
            let text = "s_mov_b32 s0, src_vccz\ns_mov_b32 s1, src_execz\ns_mov_b32 s2, src_scc";
            let wave = run(processor, text, |wave| {
                wave.set_pair(reg::VCC, vcc);
                wave.set_pair(reg::EXEC, exec);
                wave.scc = scc;
            });
            let expected = [u32::from(vcc == 0), u32::from(exec == 0), u32::from(scc)];
            assert_eq!(wave.sgpr[..3], expected, "{processor}: {vcc:#x}, {exec:#x}");
        }
    }
    let wave = run_lanes("gfx1010", 32, "s_mov_b32 s0, src_vccz\ns_mov_b32 s1, src_execz", |wave| {
        wave.set_pair(reg::VCC, 1 << 40);
        wave.set_pair(reg::EXEC, 1 << 40);
    });
    assert_eq!(wave.sgpr[..2], [1, 1], "halves that a wave of 32 lanes does not have");
}

#[test]
fn apertures() {
    let text = "s_mov_b64 s[0:1], src_shared_base\ns_mov_b64 s[2:3], src_shared_limit\n\
                s_mov_b64 s[4:5], src_private_base\ns_mov_b64 s[6:7], src_private_limit\ns_mov_b32 s8, src_private_base\n\
                s_getreg_b32 s9, hwreg(HW_REG_SH_MEM_BASES, 16, 16)\ns_getreg_b32 s10, hwreg(HW_REG_SH_MEM_BASES, 0, 16)";
    for processor in ["gfx906", "gfx1010", "gfx1030"] {
        let wave = run(processor, text, |_| {});
        let [shared, private] = [0x0001_0000u64 << 32, 0x0002_0000u64 << 32];
        assert_eq!(
            [0, 2, 4, 6].map(|at| wave.pair(at)),
            [shared, shared | 0xffff_ffff, private, private | 0xffff_ffff]
        );
        assert_eq!(wave.sgpr[8], 0, "the lower half");
        // Code from clang shifts this value left by 16 to get the upper half of an aperture's address.
        assert_eq!([wave.sgpr[9] << 16, wave.sgpr[10] << 16], [0x0001_0000, 0x0002_0000]);
    }
}

#[test]
fn constants() {
    for processor in super::PROCESSORS {
        for (text, value) in [
            ("0", 0),
            ("64", 64),
            ("-16", !15),
            ("-1", !0),
            ("0.5", 0x3fe0_0000_0000_0000),
            ("-4.0", 0xc010_0000_0000_0000),
        ] {
            let wave = run(processor, &format!("s_mov_b64 s[0:1], {text}"), |_| {});
            assert_eq!(wave.pair(0), value, "{processor}: {text}");
        }
        for (text, value) in
            [("1.0", 0x3f80_0000), ("-2.0", 0xc000_0000), ("0x12345678", 0x1234_5678), ("-17", !16)]
        {
            let wave = run(processor, &format!("s_mov_b32 s0, {text}"), |_| {});
            assert_eq!(wave.sgpr[0], value, "{processor}: {text}");
        }
        let wave = run(processor, "s_and_b64 s[0:1], s[4:5], 0x87654321", |wave| wave.set_pair(4, !0));
        assert_eq!(wave.pair(0), 0x8765_4321, "{processor}: a literal of bits has no sign");
    }
    // The constant 1 / (2 pi) exists from GFX8 on.
    for (processor, known) in [("gfx700", false), ("gfx803", true), ("gfx906", true), ("gfx1010", true)] {
        let target = Target::by_name(processor).and_then(|target| target.with_wave_size(64)).expect("known");
        let mov = isa::op::S_MOV_B32.row().code(target).expect("a move") as u32;
        let code = Code::new(target, 0, 0, vec![0xbe80_00f8 | mov << 8]);
        assert_eq!(code.ops[0].src[0] == crate::op::Src::K(0x3e22_f983), known, "{processor}");
    }
}

fn m0(value: u32) -> impl Fn(&mut Wave) {
    move |wave| {
        for at in 0..40 {
            wave.sgpr[at] = 100 + at as u32;
        }
        wave.sgpr[reg::M0] = value;
    }
}

#[test]
fn relative_moves() {
    for processor in super::PROCESSORS {
        let wave = run(processor, "s_movrels_b32 s0, s4", m0(3));
        assert_eq!(wave.sgpr[0], 107, "{processor}");
        let wave = run(processor, "s_movrels_b32 s0, s4", m0(-2i32 as u32));
        assert_eq!(wave.sgpr[0], 102, "{processor}: M0 may be negative");
        let wave = run(processor, "s_movrels_b64 s[0:1], s[4:5]", m0(6));
        assert_eq!(wave.sgpr[..2], [110, 111], "{processor}");
        let wave = run(processor, "s_movreld_b32 s4, s1", m0(9));
        assert_eq!(wave.sgpr[12..15], [112, 101, 114], "{processor}");
        let wave = run(processor, "s_movreld_b64 s[4:5], s[0:1]", m0(8));
        assert_eq!(wave.sgpr[11..15], [111, 100, 101, 114], "{processor}");
        let wave = run(processor, "s_movreld_b64 s[4:5], -3", m0(8));
        assert_eq!(wave.pair(12), -3i64 as u64, "{processor}");
        let beyond: u32 = Target::by_name(processor).map_or(0, Target::numbered_sgprs).into();
        for text in ["s_movrels_b32 s0, s4", "s_movreld_b32 s4, s0", "s_movrels_b64 s[0:1], s[4:5]"] {
            for index in [beyond - 4, 1 << 20, -5i32 as u32] {
                let trap = refusal(processor, 64, text, m0(index));
                assert!(matches!(trap, Trap::Register(_)), "{processor}: {text}: {trap:?}");
            }
        }
        let trap = refusal(processor, 64, "s_movrels_b64 s[0:1], s[4:5]", m0(3));
        assert!(matches!(trap, Trap::Refused(_)), "{processor}: an odd pair: {trap:?}");
    }
    let wave = run("gfx1010", "s_movrelsd_2_b32 s0, s4", m0(7 << 16 | 3));
    assert_eq!((wave.sgpr[0], wave.sgpr[7]), (100, 107));
    let wave = run("gfx1010", "s_movreld_b32 null, s4", m0(7));
    assert_eq!(wave.sgpr[7], 107, "null stays null");
}

#[test]
fn gpr_indexing() {
    for processor in ["gfx803", "gfx906"] {
        let vgprs = |wave: &mut Wave| {
            for at in 0..8 {
                wave.vgpr[at] = [200 + at as u32; 64];
            }
            wave.sgpr[4] = 0xff03;
            wave.sgpr[reg::M0] = 0x0a00_0a00;
        };
        let wave = run(processor, "s_set_gpr_idx_on s4, 1", vgprs);
        assert_eq!((wave.sgpr[reg::M0], wave.mode() >> 27 & 1), (0x0a00_1a03, 1), "{processor}");
        let text = "s_set_gpr_idx_on s4, 1\nv_mov_b32 v0, v1\ns_set_gpr_idx_idx 5\nv_mov_b32 v1, v1\n\
                    s_set_gpr_idx_mode 8\nv_mov_b32 v2, v0\ns_set_gpr_idx_off\nv_mov_b32 v3, v0";
        let wave = run(processor, text, vgprs);
        // v0 = v[1 + 3], v1 = v[1 + 5], v[2 + 5] = v0, v3 = v0.
        assert_eq!([0, 1, 7, 3].map(|at| wave.vgpr[at][9]), [204, 206, 204, 204], "{processor}");
        assert_eq!((wave.mode() >> 27 & 1, wave.sgpr[reg::M0]), (0, 0x0a00_8a05), "{processor}");
        let trap = refusal(processor, 64, "s_set_gpr_idx_on s4, 1\nv_mov_b32 v0, v30", vgprs);
        assert!(matches!(trap, Trap::Register(_)), "{processor}: {trap:?}");
    }
}

#[test]
fn skipped_vector_instructions() {
    for processor in ["gfx600", "gfx700", "gfx803", "gfx906"] {
        let text = "s_setvskip s4, 3\nv_mov_b32 v0, 1\ns_mov_b32 s0, 1\ns_setvskip 0, 0\nv_mov_b32 v1, 1";
        for (bits, skipped) in [(8, true), (7, false)] {
            let wave = run(processor, text, |wave| wave.sgpr[4] = bits);
            assert_eq!((wave.vgpr[0][0] == 0, wave.sgpr[0], wave.vgpr[1][0]), (skipped, 1, 1), "{processor}");
        }
    }
    // On GFX10 this bit has another meaning.
    let wave = run("gfx1010", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 2), 3\nv_mov_b32 v0, 1", |_| {});
    assert_eq!(wave.vgpr[0][0], 1);
}

#[test]
fn modes() {
    for processor in super::PROCESSORS {
        let text = "s_getreg_b32 s0, hwreg(HW_REG_MODE)\ns_setreg_b32 hwreg(HW_REG_MODE, 8, 2), s4\n\
                    s_getreg_b32 s1, hwreg(HW_REG_MODE, 8, 2)\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0x15\n\
                    s_getreg_b32 s2, hwreg(HW_REG_MODE)";
        let wave = run(processor, text, |wave| wave.sgpr[4] = 0xfe);
        assert_eq!(wave.sgpr[..3], [0x3f0, 2, 0x250], "{processor}");
        assert_eq!((wave.ieee, wave.dx10_clamp), (true, false), "{processor}");
        // For f32 and for f64, denormals are kept in sources and flushed in results.
        assert_eq!((wave.flush32, wave.flush64), ((false, true), (false, true)), "{processor}");
        let trap = refusal(processor, 64, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 1), 1", |_| {});
        assert!(matches!(trap, Trap::Refused(_)), "{processor}: {trap:?}");
    }
    // The value 13 means rounding up for f32, and rounding towards zero for f16 and f64.
    for text in ["s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 13", "s_round_mode 13"] {
        let wave = run("gfx1010", &format!("{text}\nv_add_f32 v1, v0, v2"), |wave| {
            wave.vgpr[0] = [0x3f80_0000; 64];
            wave.vgpr[2] = [1; 64];
        });
        assert_eq!((wave.mode() & 0xff, wave.vgpr[1][0]), (0xfd, 0x3f80_0001), "{text}");
    }
    let wave = run("gfx1010", "s_denorm_mode 0x9", |_| {});
    assert_eq!((wave.mode() & 0xff, wave.flush32, wave.flush64), (0x90, (false, true), (true, false)));
    for (processor, overflow) in [("gfx803", false), ("gfx906", true), ("gfx1010", true)] {
        let wave = run(processor, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1", |_| {});
        assert_eq!(wave.fp16_overflow, overflow, "{processor}");
    }
}

#[test]
fn hardware_registers() {
    for processor in super::PROCESSORS {
        let text = "s_setprio 2\ns_getreg_b32 s0, hwreg(HW_REG_STATUS)\ns_getreg_b32 s1, hwreg(HW_REG_IB_STS)\n\
                    s_getreg_b32 s2, hwreg(HW_REG_LDS_ALLOC, 12, 9)\ns_getreg_b32 s3, hwreg(HW_REG_TRAPSTS, 8, 1)";
        let wave = run(processor, text, |wave| {
            wave.scc = true;
            wave.set_exec(0);
            wave.set_pair(reg::VCC, 1);
            wave.group_waves = 2;
        });
        // The expected bits of STATUS are SCC, priority 2, TRAP_EN, EXECZ, IN_TG and VALID. The group has 512
        // bytes of LDS.
        assert_eq!(
            wave.sgpr[..4],
            [1 | 2 << 3 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 16, 0, 2, 0],
            "{processor}"
        );
        let trap = refusal(processor, 64, "s_getreg_b32 s0, hwreg(HW_REG_TRAPSTS)", |_| {});
        assert!(matches!(trap, Trap::Refused("floating-point exceptions are not recorded")), "{trap:?}");
        for text in ["s_setreg_imm32_b32 hwreg(HW_REG_STATUS), 0", "s_getreg_b32 s0, hwreg(63)"] {
            let trap = refusal(processor, 64, text, |_| {});
            assert!(matches!(trap, Trap::Refused(_)), "{processor}: {text}: {trap:?}");
        }
        // 6 granules of VGPRs, according to the descriptor.
        let wave = run(processor, "s_getreg_b32 s0, hwreg(HW_REG_GPR_ALLOC, 8, 6)", |_| {});
        assert_eq!(wave.sgpr[0], 5, "{processor}");
    }
    for (processor, sgprs) in [("gfx600", 12), ("gfx906", 6)] {
        // 104 SGPRs in units of eight, 102 in units of sixteen.
        let wave = run(processor, "s_getreg_b32 s0, hwreg(HW_REG_GPR_ALLOC, 24, 4)", |_| {});
        assert_eq!(wave.sgpr[0], sgprs, "{processor}");
    }
    let text = "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s4\ns_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s5\n\
                s_getreg_b32 s0, hwreg(HW_REG_FLAT_SCR_LO, 4, 8)";
    for processor in ["gfx1010", "gfx1030"] {
        let wave = run(processor, text, |wave| wave.set_pair(4, 0x1234_5678_9abc_def0));
        assert_eq!((wave.flat_scratch(), wave.sgpr[0]), (0x1234_5678_9abc_def0, 0xef), "{processor}");
        let text = "s_getreg_b32 s0, hwreg(HW_REG_HW_ID1, 8, 2)\ns_getreg_b32 s1, hwreg(HW_REG_HW_ID1, 0, 5)";
        for (wgp_mode, place) in [(false, [0, 3]), (true, [2, 1])] {
            let wave = run(processor, text, |wave| (wave.id, wave.wgp_mode) = (6, wgp_mode));
            assert_eq!(wave.sgpr[..2], place, "{processor}: SIMD and wave");
        }
    }
    let wave = run("gfx906", "s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 4, 2)", |wave| wave.id = 6);
    assert_eq!(wave.sgpr[0], 2, "SIMD");
    let wave = run("gfx1030", "s_getreg_b32 s0, hwreg(HW_REG_SHADER_CYCLES)", |_| {});
    assert_eq!(wave.sgpr[0], 0x4_5678, "20 bits of the clock");
    let text = "s_setreg_b32 hwreg(HW_REG_XNACK_MASK), s4\ns_getreg_b32 s0, hwreg(HW_REG_XNACK_MASK)";
    assert_eq!(run("gfx1010", text, |wave| wave.sgpr[4] = 77).sgpr[0], 77);
}

#[test]
fn values_of_lds() {
    // Type and address in M0, and the expected value.
    let cases = [
        (1, 0x33),
        (6, 0x99),
        (4 << 16 | 7, 0xffff_ff88),
        (4 << 16 | 2, 0x22),
        (1 << 16 | 4, 0xaabb),
        (5 << 16 | 8, 0xffff_8001),
        (5 << 16 | 10, 0x7fff),
        (2 << 16 | 12, 0xdead_beef),
    ];
    for processor in super::PROCESSORS {
        for (m0, value) in cases {
            let text = "v_mov_b32 v0, src_lds_direct\nv_xor_b32 v1, src_lds_direct, v2";
            let wave = run(processor, text, |wave| {
                wave.sgpr[reg::M0] = m0;
                wave.vgpr[2] = std::array::from_fn(|lane| lane as u32);
            });
            assert_eq!((wave.vgpr[0][5], wave.vgpr[1][9]), (value, value ^ 9), "{processor}: {m0:#x}");
        }
        for m0 in [3 << 16, 2 << 16 | 16] {
            let prepare = |wave: &mut Wave| wave.sgpr[reg::M0] = m0;
            let trap = refusal(processor, 64, "v_mov_b32 v0, src_lds_direct", prepare);
            assert!(matches!(trap, Trap::Refused(_) | Trap::Memory { .. }), "{processor}: {trap:?}");
        }
    }
}

/// Checks the number of registers that a wave needs for an instruction.
#[test]
fn registers_that_are_named() {
    let named = |processor: &str, text: &str| {
        let program = super::Program::new(processor, 64, text);
        let op = &program.code[0].ops[0];
        (op.vgprs, op.agprs, op.sgprs)
    };
    assert_eq!(named("gfx906", "s_mov_b64 s[20:21], s[6:7]"), (0, 0, 22));
    assert_eq!(named("gfx906", "s_mov_b64 vcc, flat_scratch"), (0, 0, 0));
    assert_eq!(named("gfx906", "v_add_f32 v7, s9, v8"), (9, 0, 10));
    assert_eq!(named("gfx1010", "s_mov_b32 s105, 0"), (0, 0, 106));
    assert_eq!(named("gfx906", "s_load_dwordx4 s[8:11], s[2:3], 0x0"), (0, 0, 12));
}
