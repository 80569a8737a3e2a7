//! A small writer of SVG: rectangles, lines, circles, paths and text, all coloured by class.
//!
//! Invariants: every string that comes from outside is escaped on its way in; every number is finite and has at most
//! two decimals; no element carries a colour or an `id` of its own (colours are the theme's business, and two drawings
//! in one page must not collide).

use std::fmt::Write;

use super::text::escape;

/// A number as it is written into a drawing.
pub fn num(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let rounded = (value * 100.0).round() / 100.0;
    // Negative zero would be written with its sign.
    if rounded == 0.0 { "0".to_owned() } else { format!("{rounded}") }
}

/// A position in half pixels, the resolution at which two marks are the same mark.
pub fn half_pixel(position: f64) -> i64 {
    (position * 2.0).round() as i64
}

/// The `d` of a path.
#[derive(Default)]
pub struct Path(String);

impl Path {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn move_to(&mut self, x: f64, y: f64) -> &mut Self {
        let _ = write!(self.0, "M{} {}", num(x), num(y));
        self
    }

    pub fn line_to(&mut self, x: f64, y: f64) -> &mut Self {
        let _ = write!(self.0, "L{} {}", num(x), num(y));
        self
    }

    pub fn across(&mut self, x: f64) -> &mut Self {
        let _ = write!(self.0, "H{}", num(x));
        self
    }

    pub fn down(&mut self, y: f64) -> &mut Self {
        let _ = write!(self.0, "V{}", num(y));
        self
    }

    /// A dot: a segment without length, which a round line cap turns into a disc.
    pub fn dot(&mut self, x: f64, y: f64) -> &mut Self {
        let _ = write!(self.0, "M{} {}h0", num(x), num(y));
        self
    }

    pub fn close(&mut self) -> &mut Self {
        self.0.push('Z');
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The polyline through `points`.
    pub fn through(points: &[(f64, f64)]) -> Self {
        let mut path = Self::new();
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 {
                path.move_to(x, y);
            } else {
                path.line_to(x, y);
            }
        }
        path
    }
}

/// A drawing in the making. The y axis points down, units are CSS pixels at natural size.
pub struct Svg {
    width: f64,
    body: String,
}

impl Svg {
    pub fn new(width: f64) -> Self {
        Self { width, body: String::new() }
    }

    pub fn width(&self) -> f64 {
        self.width
    }

    pub fn line(&mut self, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) {
        let (x1, y1, x2, y2) = (num(x1), num(y1), num(x2), num(y2));
        let _ = writeln!(self.body, r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#);
    }

    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let (x, y, width, height) = (num(x), num(y), num(width.max(0.0)), num(height.max(0.0)));
        let _ = writeln!(self.body, r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#);
    }

    pub fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        let (x, y, radius) = (num(x), num(y), num(radius));
        let _ = writeln!(self.body, r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#);
    }

    pub fn path(&mut self, class: &str, path: &Path) {
        if !path.is_empty() {
            let _ = writeln!(self.body, r#"<path class="{class}" d="{}"/>"#, path.0);
        }
    }

    /// Text whose baseline is at `y`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y, text) = (num(x), num(y), escape(text));
        let _ = writeln!(self.body, r#"<text class="{class}" x="{x}" y="{y}">{text}</text>"#);
    }

    /// Text with a fuller form that shows when the pointer rests on it.
    pub fn text_with_title(&mut self, class: &str, x: f64, y: f64, text: &str, full: &str) {
        if text == full {
            return self.text(class, x, y, text);
        }
        let (x, y, text, full) = (num(x), num(y), escape(text), escape(full));
        let _ = writeln!(self.body, r#"<text class="{class}" x="{x}" y="{y}"><title>{full}</title>{text}</text>"#);
    }

    /// Puts everything that was drawn into `other` on top.
    pub fn append(&mut self, other: Svg) {
        self.body.push_str(&other.body);
    }

    /// Opens a group whose `title` shows when the pointer rests on anything in it.
    pub fn open(&mut self, title: &str) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(title));
    }

    pub fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The complete drawing, `height` units high. `title` and `description` are what a screen reader says.
    pub fn finish(self, height: f64, title: &str, description: &str) -> String {
        let (w, h) = (num(self.width), num(height.ceil()));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"k-fig\" role=\"img\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\"><title>{}</title><desc>{}</desc>\n{}</svg>\n",
            escape(title),
            escape(description),
            self.body
        )
    }
}

/// Reads a drawing back far enough to know that it is well-formed XML without numbers that are none. Tests only.
#[cfg(test)]
pub fn assert_well_formed(svg: &str) {
    for bad in ["NaN", "inf", "\"-0\""] {
        assert!(!svg.contains(bad), "{bad} in {svg}");
    }
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg.trim();
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>'), "bare > in {text:?}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap_or("");
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "unknown entity {name:?}");
        }
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing tag");
        } else {
            let name = tag.split([' ', '/']).next().unwrap_or("");
            assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "tag {tag:?}");
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes in {tag:?}");
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    assert!(rest.is_empty(), "text after the end: {rest:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_is_well_formed_whatever_its_texts_are() {
        let mut svg = Svg::new(100.0);
        svg.open("a < b & \"c\"");
        svg.text("k-t", 1.0, f64::NAN, "</svg>");
        svg.text_with_title("k-t", 1.0, 2.0, "ab…", "ab'c<");
        svg.rect("k-f1", 0.0, 0.0, -3.0, f64::INFINITY);
        svg.close();
        let out = svg.finish(20.0, "x > y", "d & e");
        assert_well_formed(&out);
        assert!(out.contains("role=\"img\"") && out.contains("<desc>d &amp; e</desc>"));
    }

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(num(1.0 / 3.0), "0.33");
        assert_eq!(num(-0.001), "0");
        assert_eq!(num(12.0), "12");
        assert_eq!(num(f64::NEG_INFINITY), "0");
    }
}
