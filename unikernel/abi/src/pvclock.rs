//! What a hypervisor writes of the time into memory of its guest's (pvclock, as KVM and Xen have it).

/// The clock at some moment, and how fast it goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Time {
    /// Odd while the rest is being written, and another when it has been.
    pub version: u32,
    pub _reserved: u32,
    /// The counter at some moment, and the nanoseconds of the clock then. Both are below 0 where that was before the machine was made:
    /// Xen looks at its own clock once in a second, and a domain may be made in less.
    pub ticks: u64,
    pub nanoseconds: i64,
    /// Ticks become nanoseconds by a shift (to the left, or to the right if it is less than 0) and this many 2⁻³²s.
    pub multiplier: u32,
    pub shift: i8,
    pub _flags: u8,
}

impl Time {
    /// The clock's nanoseconds when the counter is at `ticks`. A counter that was read a little too early is as far as the record.
    #[must_use]
    pub fn nanoseconds_at(&self, ticks: u64) -> i64 {
        let gone = ticks.wrapping_sub(self.ticks).cast_signed().max(0);
        let gone = u128::from(gone.unsigned_abs());
        let gone = if self.shift < 0 { gone >> -i32::from(self.shift) } else { gone << self.shift };
        self.nanoseconds.saturating_add(((gone * u128::from(self.multiplier)) >> 32) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two and a half ticks in a nanosecond.
    fn record(ticks: i64, nanoseconds: i64) -> Time {
        let multiplier = (1u64 << 32).div_euclid(5) as u32 * 4;
        let ticks = ticks.cast_unsigned();
        Time { version: 2, _reserved: 0, ticks, nanoseconds, multiplier, shift: -1, _flags: 0 }
    }

    fn near(told: i64, expected: i64) {
        assert!(told.abs_diff(expected) < 2, "{told} and not {expected}");
    }

    #[test]
    fn it_goes_on_from_what_was_written() {
        near(record(5_000, 2_000).nanoseconds_at(5_000), 2_000);
        near(record(5_000, 2_000).nanoseconds_at(7_500), 3_000);
        near(record(5_000, 2_000).nanoseconds_at(4_990), 2_000);
    }

    #[test]
    fn what_was_written_before_the_machine_was_made_is_below_0() {
        let before = record(-5_000, -2_000);
        near(before.nanoseconds_at(0), 0);
        near(before.nanoseconds_at(2_500), 1_000);
        assert!((0..1000).is_sorted_by_key(|ticks| before.nanoseconds_at(ticks * 10)));
    }
}
