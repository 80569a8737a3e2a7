//! The colours and type of every drawing, as one CSS text.
//!
//! Drawings carry classes, never colours. The page embeds [`css`] once; [`standalone`] puts the same text into a drawing
//! that is saved by itself, so that it follows the reader's light or dark scheme there too. Every rule names the light
//! colour first and the custom property second, so that a program that knows no custom properties (Inkscape,
//! LibreOffice) still draws the light form.
//!
//! Invariants, held by the tests below: text and every series colour have a contrast of at least 4.5:1 against the paper
//! of both schemes (WCAG 2.2, 1.4.3; marks alone would need 3:1), and the series colours stay apart for readers without
//! red or green cones (Machado, Oliveira and Fernandes 2009, severity 1.0, distances in OKLab).

use std::fmt::Write;

use super::svg::num;
use super::tone::SERIES;

/// A role, its colour on light paper, its colour on dark paper.
type Colour = (&'static str, &'static str, &'static str);

const COLOURS: [Colour; 16] = [
    ("paper", "#ffffff", "#15181c"),
    ("ink", "#1b1f24", "#e9ebee"),
    ("muted", "#5b636d", "#a3abb5"),
    ("axis", "#8c949e", "#78818b"),
    ("grid", "#e7eaee", "#2a3037"),
    ("band", "#eef1f5", "#21262d"),
    ("accent", "#b0274f", "#ff8fa6"),
    ("warn", "#b42318", "#ff8a75"),
    ("1", "#2367d8", "#74b0e4"),
    ("2", "#b85a00", "#f28a1e"),
    ("3", "#006a6f", "#9df0cc"),
    ("4", "#5a2391", "#9a70f5"),
    ("5", "#653f00", "#eadb3a"),
    ("6", "#c0229b", "#d4626f"),
    ("7", "#0f4a70", "#b4d2fa"),
    ("8", "#14835e", "#80c592"),
];

/// The font stack whose metrics [`super::text`] knows.
const FONT: &str = "Helvetica Neue,Helvetica,Arial,Liberation Sans,Arimo,Nimbus Sans,Roboto,sans-serif";

fn light(role: &str) -> &'static str {
    COLOURS.iter().find(|(name, ..)| *name == role).map_or("#000000", |(_, light, _)| light)
}

/// `property: colour` twice: once for programs without custom properties, once for those with.
fn paint(property: &str, role: &str) -> String {
    format!("{property}:{};{property}:var(--k-{role});", light(role))
}

/// The whole style sheet. It holds no rule that reaches outside the drawings but the custom properties themselves,
/// which a page may use for its own text.
pub fn css() -> String {
    let mut out = String::from(":root{color-scheme:light dark;");
    for (role, light, _) in COLOURS {
        let _ = write!(out, "--k-{role}:{light};");
    }
    out.push_str("}\n@media (prefers-color-scheme:dark){:root{");
    for (role, _, dark) in COLOURS {
        let _ = write!(out, "--k-{role}:{dark};");
    }
    out.push_str("}}\n");

    // Without any of the fonts a text is wider than its layout says, and may reach over the edge rather than be cut there.
    let _ = writeln!(out, ".k-fig{{{}overflow:visible;font-family:{FONT};}}", paint("background", "paper"));
    let _ = writeln!(out, ".k-fig text{{{}font-size:12px;}}", paint("fill", "ink"));
    let rules: [(&str, String); 33] = [
        (".k-h", "font-size:15px;font-weight:600;".into()),
        (".k-l", "font-size:13px;".into()),
        (".k-g", "font-size:13px;font-weight:600;".into()),
        (".k-s", paint("fill", "muted")),
        (".k-m", "text-anchor:middle;".into()),
        (".k-e", "text-anchor:end;".into()),
        // A rim in the colour of the paper keeps a label legible where it crosses a line.
        (".k-halo", format!("paint-order:stroke;{}stroke-width:4px;stroke-linejoin:round;", paint("stroke", "paper"))),
        (".k-grid", format!("{}stroke-width:1;fill:none;", paint("stroke", "grid"))),
        (".k-axis", format!("{}stroke-width:1;fill:none;", paint("stroke", "axis"))),
        (".k-rule", format!("{}stroke-width:1;stroke-dasharray:3 3;fill:none;", paint("stroke", "muted"))),
        (".k-deadline", format!("{}stroke-width:1.25;stroke-dasharray:5 3;fill:none;", paint("stroke", "warn"))),
        (".k-leader", format!("{}stroke-width:1;fill:none;", paint("stroke", "axis"))),
        (".k-band", paint("fill", "band")),
        (".k-ink", format!("{}stroke-width:1.25;fill:none;", paint("stroke", "ink"))),
        (".k-median", format!("{}stroke-width:2;fill:none;", paint("stroke", "ink"))),
        (".k-hollow", format!("{}{}stroke-width:1.25;", paint("fill", "paper"), paint("stroke", "ink"))),
        (".k-ref", format!("{}{}stroke-width:1.5;", paint("fill", "accent"), paint("stroke", "accent"))),
        (".k-edge", format!("{}stroke-width:1;fill:none;", paint("stroke", "paper"))),
        (".k-thin", "stroke-width:1.25;".into()),
        (".k-line", "fill:none;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round;".into()),
        (".k-dash", "stroke-dasharray:2 3;".into()),
        (".k-second", "stroke-dasharray:7 4;stroke-linecap:butt;".into()),
        (".k-box", "fill-opacity:.24;stroke-width:1.25;".into()),
        (".k-area", "stroke:none;fill-opacity:.16;".into()),
        (".k-stack", "stroke:none;fill-opacity:.62;".into()),
        (".k-dot", "fill:none;stroke-width:2.8;stroke-linecap:round;stroke-opacity:.58;".into()),
        (".k-speck", "fill:none;stroke-width:2.2;stroke-linecap:round;stroke-opacity:.6;".into()),
        (".k-few", "fill:none;stroke-width:5;stroke-linecap:round;stroke-opacity:.75;".into()),
        (".k-quiet", "stroke:none;fill-opacity:.22;".into()),
        (".k-open", "fill:none;".into()),
        (".k-point", format!("{}stroke-width:1.25;", paint("stroke", "paper"))),
        (".k-bar", "fill:none;stroke-width:1;stroke-opacity:.24;".into()),
        (".k-bar-wide", "fill:none;stroke-width:2;stroke-opacity:.24;".into()),
    ];
    for (selector, body) in rules {
        // Text rules must win over `.k-fig text`.
        let _ = writeln!(out, ".k-fig {selector}{selector}{{{body}}}");
    }
    for n in 1..=SERIES {
        let role = n.to_string();
        let _ = writeln!(out, ".k-fig .k-f{n}.k-f{n}{{{}}}", paint("fill", &role));
        let _ = writeln!(out, ".k-fig .k-c{n}.k-c{n}{{{}}}", paint("stroke", &role));
    }
    let _ =
        writeln!(out, ".k-fig .k-fw.k-fw{{{}}}.k-fig .k-cw.k-cw{{{}}}", paint("fill", "warn"), paint("stroke", "warn"));
    let _ = writeln!(out, ".k-fig .k-fr.k-fr{{{}}}", paint("fill", "accent"));
    let _ = writeln!(
        out,
        ".k-fig .k-fq.k-fq{{{}}}.k-fig .k-cq.k-cq{{{}}}",
        paint("fill", "muted"),
        paint("stroke", "muted")
    );
    out
}

/// What a page needs beside [`css`]: of the two forms of a figure it shows the one that fits.
pub fn page_css() -> &'static str {
    ".k-wide,.k-narrow{margin:0}.k-wide svg,.k-narrow svg{display:block;width:100%;height:auto}\
     .k-wide svg{max-width:840px}.k-narrow svg{max-width:460px}.k-narrow{display:none}\
     @media (max-width:600px){.k-wide{display:none}.k-narrow{display:block}}\n\
     .k-strip{display:inline-block;vertical-align:middle}\n"
}

/// A drawing that carries its own colours, for a file, with a margin around it.
pub fn standalone(svg: &str) -> String {
    const MARGIN: f64 = 16.0;
    let Some(end) = svg.find('>') else {
        return svg.to_owned();
    };
    let (head, rest) = (&svg[..=end], &svg[end + 1..]);
    let size = |name: &str| -> Option<(String, f64)> {
        let value = head.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0;
        Some((value.to_owned(), value.parse().ok()?))
    };
    let head = match (size("width"), size("height")) {
        (Some((w, width)), Some((h, height))) => {
            let (width, height) = (num(width + 2.0 * MARGIN), num(height + 2.0 * MARGIN));
            head.replace(
                &format!("viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\""),
                &format!("viewBox=\"-{MARGIN} -{MARGIN} {width} {height}\" width=\"{width}\" height=\"{height}\""),
            )
        }
        _ => head.to_owned(),
    };
    format!("{head}<style>{}</style>{rest}", css().replace('<', "&lt;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// Linear light of `#rrggbb`.
    fn linear(hex: &str) -> Rgb {
        [1, 3, 5].map(|i| {
            let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex| linear(hex).iter().zip([0.2126, 0.7152, 0.0722]).map(|(v, w)| v * w).sum::<f64>() + 0.05;
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    fn times(m: [Rgb; 3], v: Rgb) -> Rgb {
        m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    fn oklab(rgb: Rgb) -> Rgb {
        let lms = times(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            rgb,
        );
        times(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            lms.map(|v| v.max(0.0).cbrt()),
        )
    }

    /// Full colour vision, no red cones, no green cones.
    const EYES: [[Rgb; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ];

    #[test]
    fn text_and_series_stand_out_from_the_paper_in_both_schemes() {
        let paper = COLOURS[0];
        for (role, light, dark) in &COLOURS[1..] {
            let least = match *role {
                "grid" | "band" => 1.0,
                "axis" => 3.0,
                _ => 4.5,
            };
            assert!(contrast(light, paper.1) >= least, "{role} on light: {}", contrast(light, paper.1));
            assert!(contrast(dark, paper.2) >= least, "{role} on dark: {}", contrast(dark, paper.2));
        }
    }

    #[test]
    fn series_stay_apart_for_colour_blind_readers() {
        let series = &COLOURS[COLOURS.len() - SERIES..];
        for scheme in [series.iter().map(|c| c.1).collect::<Vec<_>>(), series.iter().map(|c| c.2).collect()] {
            for eye in EYES {
                for (i, a) in scheme.iter().enumerate() {
                    for b in &scheme[..i] {
                        let (x, y) = (oklab(times(eye, linear(a))), oklab(times(eye, linear(b))));
                        let distance = x.iter().zip(y).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
                        // 0.02 is about the smallest difference one can see in OKLab.
                        let least = if i < 6 { 0.09 } else { 0.065 };
                        assert!(distance >= least, "{a} and {b}: {distance:.3}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_saved_drawing_carries_both_schemes_and_a_margin() {
        let mut svg = super::super::svg::Svg::new(100.0);
        svg.text("k-t", 0.0, 10.0, "x");
        let out = standalone(&svg.finish(20.0, "t", "d"));
        super::super::svg::assert_well_formed(&out);
        assert!(out.contains("viewBox=\"-16 -16 132 52\" width=\"132\" height=\"52\""));
        assert!(out.contains("prefers-color-scheme:dark") && out.contains("<style>:root{"));
    }
}
