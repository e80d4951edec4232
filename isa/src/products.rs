//! Product names of the processors.
//!
//! # Source
//! LLVM's AMDGPU guide, "Processors" (seed 000, line 31). For later products, the pages of the manufacturers.

/// For each processor, the names of products that contain it. The words `AMD`, `Radeon` and `Instinct` are
/// left out.
#[rustfmt::skip]
pub static PRODUCTS: [(&str, &[&str]); 27] = [
    ("gfx600", &["HD 7950", "HD 7970", "R9 280", "R9 280X"]),
    ("gfx601", &["HD 7750", "HD 7770", "HD 7850", "HD 7870", "R9 270", "R9 270X"]),
    ("gfx602", &["R7 240", "R7 250"]),
    ("gfx700", &["A10-7850K"]),
    ("gfx701", &["FirePro W8100", "FirePro W9100", "FirePro S9150", "FirePro S9170"]),
    ("gfx702", &["R9 290", "R9 290X", "R9 390", "R9 390X"]),
    ("gfx704", &["HD 7790", "HD 8770", "R7 260", "R7 260X"]),
    ("gfx802", &["R9 285", "R9 380", "R9 385"]),
    ("gfx803", &["RX 460", "RX 470", "RX 480", "RX 550", "RX 560", "RX 570", "RX 580", "RX 590", "R9 Nano", "R9 Fury", "R9 Fury X",
        "Pro Duo", "MI6", "MI8"]),
    ("gfx805", &["FirePro S7150", "FirePro W7100"]),
    ("gfx900", &["RX Vega 56", "RX Vega 64", "Vega Frontier Edition", "MI25"]),
    ("gfx902", &["Ryzen 3 2200G", "Ryzen 5 2400G"]),
    ("gfx904", &["Pro Vega 16", "Pro Vega 20"]),
    ("gfx906", &["VII", "Pro VII", "MI50", "MI60"]),
    ("gfx908", &["MI100"]),
    ("gfx90a", &["MI210", "MI250", "MI250X"]),
    ("gfx90c", &["Ryzen 7 4700G", "Ryzen 5 5600G", "Ryzen 7 5700G"]),
    ("gfx1010", &["RX 5600 XT", "RX 5700", "RX 5700 XT"]),
    ("gfx1011", &["Pro V520", "Pro 5600M"]),
    ("gfx1012", &["RX 5500", "RX 5500 XT"]),
    ("gfx1030", &["RX 6800", "RX 6800 XT", "RX 6900 XT", "RX 6950 XT", "Pro W6800", "Pro V620"]),
    ("gfx1031", &["RX 6700", "RX 6700 XT", "RX 6750 XT"]),
    ("gfx1032", &["RX 6600", "RX 6600 XT", "RX 6650 XT"]),
    ("gfx1033", &["Steam Deck"]),
    ("gfx1034", &["RX 6400", "RX 6500 XT"]),
    ("gfx1035", &["660M", "680M"]),
    ("gfx1036", &["Ryzen 5 7600", "Ryzen 7 7700X", "Ryzen 9 7950X"]),
];

/// Returns the product to which a name refers, and its processor. Case, blanks and the names of manufacturers
/// are ignored. The name of a series at the beginning may be omitted (`Vega 64`, `6800 XT`), if the rest
/// identifies one processor.
pub fn product(name: &str) -> Option<(&'static str, &'static str)> {
    let wanted = plain(name);
    let rows =
        || PRODUCTS.iter().flat_map(|&(processor, names)| names.iter().map(move |&name| (name, processor)));
    if let Some(found) = rows().find(|(product, _)| plain(product) == wanted) {
        return Some(found);
    }
    let mut ends = rows().filter(|(product, _)| wanted.len() >= 3 && plain(product).ends_with(&wanted));
    let first = ends.next()?;
    ends.all(|other| other.1 == first.1).then_some(first)
}

/// Returns whether a name is that of a product with a processor newer than GFX10.
pub fn is_later(name: &str) -> bool {
    let name = plain(name);
    ["rx7", "rx9", "mi3", "gfx94", "gfx95", "gfx11", "gfx12"].iter().any(|start| name.starts_with(start))
}

/// Returns the names of the products that contain a processor.
pub fn products(processor: &str) -> &'static [&'static str] {
    PRODUCTS.iter().find(|row| row.0 == processor).map_or(&[], |row| row.1)
}

/// Returns the letters and digits of a name in lower case. The names of manufacturers are removed.
fn plain(name: &str) -> String {
    let letters = |c: char| c.is_ascii_alphanumeric();
    let text: String = name.to_ascii_lowercase().chars().filter(|&c| letters(c)).collect();
    ["amd", "ati", "radeon", "instinct"].iter().fold(text, |text, maker| text.replace(maker, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    #[test]
    fn names_mean_one_processor() {
        let mut seen = std::collections::HashSet::new();
        for (processor, names) in &PRODUCTS {
            assert!(
                Target::by_name(processor).is_some_and(|target| target.name == *processor),
                "{processor}"
            );
            for name in *names {
                assert!(seen.insert(plain(name)), "{name} stands twice");
            }
        }
        for (name, processor) in [
            ("RX580", "gfx803"),
            ("AMD Radeon RX 580", "gfx803"),
            ("mi100", "gfx908"),
            ("Instinct MI250X", "gfx90a"),
            ("Radeon VII", "gfx906"),
            ("rx-6700-xt", "gfx1031"),
            ("Vega 64", "gfx900"),
            ("6800 XT", "gfx1030"),
            ("580", "gfx803"),
        ] {
            assert_eq!(product(name).map(|found| found.1), Some(processor), "{name}");
        }
        for name in ["RX 7900 XT", "XT", "", "x", "gfx906"] {
            assert_eq!(product(name), None, "{name}");
        }
        assert!(is_later("AMD Radeon RX 7900 XTX") && is_later("MI300X") && is_later("gfx1100"));
        assert!(!is_later("R9 290") && !is_later("RX 6900 XT") && !is_later("gfx1036"));
        assert!(products("gfx909").is_empty());
    }
}
