//! Where datagrams were lost: what the wire and the kernels counted, and what none of them did.

use crate::measure::Measure;
use crate::numbers::whole;
use crate::table::{RowKind, Table};

/// The facts of a trial that tell of a place, and what the place is called.
const PLACES: [(&str, &str); 7] = [
    ("lost_on_wire", "the wire's queue"),
    ("lost_in_device", "network device"),
    ("lost_in_queue", "queue of the processor"),
    ("lost_in_ipsec", "IPsec"),
    ("lost_by_checksum", "checksum"),
    ("lost_for_memory", "memory of sockets"),
    ("lost_in_socket", "buffer of the socket"),
];

/// The table of a section, if anything was lost.
pub(super) fn of(measures: &[Measure<'_, '_>]) -> Option<Table> {
    let headers: Vec<&str> =
        ["lost"].into_iter().chain(PLACES.iter().map(|(_, place)| *place)).chain(["elsewhere"]).collect();
    let mut table = Table::new(&["where datagrams were lost"], &headers);
    for measure in measures {
        let sum = |name: &str| -> u64 {
            measure.series().trials.iter().filter_map(|trial| trial.facts.get(name)).map(|count| *count as u64).sum()
        };
        let lost = sum("lost");
        if lost == 0 {
            continue;
        }
        let places = PLACES.map(|(fact, _)| sum(fact));
        let known = places.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let cell = |count: u64| if count == 0 { String::new() } else { whole(count) };
        let cells = places.into_iter().chain([lost.saturating_sub(known)]).map(cell);
        table.push(RowKind::Measured, [measure.row.label.clone(), whole(lost)].into_iter().chain(cells));
    }
    table.drop_empty_columns();
    table.note = "As the wire and the kernels of both ends count it, with what others lost there meanwhile. Elsewhere: in a network \
                  controller that has no room, before a kernel sees it, or still under way when the receiver was asked."
        .into();
    (!table.rows.is_empty()).then_some(table)
}
