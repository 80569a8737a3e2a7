//! The boards: Arm's MPS2 AN505 and Musca-B1, which have the same subsystem around their processors.

use crate::board::Board;
use crate::sse200;

/// Arm's MPS2 with the image AN505: one Cortex-M33 at 20 MHz.
pub struct Mps2An505;

/// Arm's Musca-B1: two Cortex-M33 at 40 MHz.
pub struct MuscaB1;

macro_rules! sse200_board {
    ($board:ty, $processors:literal processors, lines $own:expr, this is $processor:expr, $mhz:literal MHz) => {
        impl Board for $board {
            const PROCESSORS: usize = $processors;
            const OWN_LINES: &'static [u32] = &$own;

            #[inline(always)]
            fn processor() -> usize {
                $processor
            }

            fn start_processor(processor: usize) {
                sse200::start_processor(processor);
            }

            fn interrupt(processor: usize) {
                sse200::interrupt(processor);
            }

            fn now() -> u32 {
                sse200::now::<$mhz>(Self::processor)
            }

            fn alarm(after: u32) {
                sse200::alarm::<$mhz>(Self::processor(), after);
            }

            fn initialise(processor: usize) {
                sse200::initialise(processor, $processors);
            }

            fn is_timer(line: u32) -> bool {
                line == sse200::timer_line(Self::processor())
            }

            fn quiet_timer() {
                sse200::quiet_timer(Self::processor());
            }

            fn is_mailbox(line: u32) -> bool {
                line == sse200::MAILBOX
            }

            fn quiet_mailbox() {
                sse200::quiet_mailbox(Self::processor());
            }
        }
    };
}

sse200_board!(Mps2An505, 1 processors, lines [3], this is 0, 20 MHz);
sse200_board!(MuscaB1, 2 processors, lines [3, 4, 6], this is sse200::processor(), 40 MHz);
