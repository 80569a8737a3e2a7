//! A figure: a drawing for any width, and the numbers that it shows.

use super::tone::Tone;

/// The width that a figure is laid out for, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width(pub f64);

impl Width {
    /// For a page on a desk.
    pub const WIDE: Width = Width(760.0);
    /// For a telephone.
    pub const NARROW: Width = Width(360.0);

    /// Whether there is no room for columns of text beside the plot.
    pub(crate) fn is_narrow(self) -> bool {
        self.0 < 520.0
    }
}

/// A drawing with the numbers behind it.
pub trait Figure {
    /// What it shows, in one line.
    fn title(&self) -> &str;

    /// A complete `<svg>` element whose colours come from [`super::theme::css`]; see [`super::theme::standalone`] for a
    /// file.
    fn render(&self, width: Width) -> String;

    /// The numbers that are drawn, in base units, with a header line.
    fn csv(&self) -> String;

    /// The same for a terminal `columns` wide, for those figures that have such a form; see [`super::terminal`].
    fn terminal(&self, _columns: usize) -> Option<String> {
        None
    }

    /// The names in it that have a colour, each with its colour. Those in the quiet grey are not among them.
    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        Vec::new()
    }

    /// Whether its names could not be told apart without their colours.
    fn tells_by_colour(&self) -> bool {
        false
    }

    /// Both widths, for a page that embeds [`super::theme::css`] and [`super::theme::page_css`].
    fn both_widths(&self) -> String {
        format!(
            "<div class=\"k-wide\">{}</div><div class=\"k-narrow\">{}</div>",
            self.render(Width::WIDE),
            self.render(Width::NARROW)
        )
    }
}
