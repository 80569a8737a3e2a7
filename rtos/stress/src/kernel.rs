//! The kernel of the stress, on two threads.

use rtos::{InHandler, InTask, OverrunHandler, Pinned, Shared};
use rtos_host::Host;

use crate::step::{in_handler, janitor, overrun, own_worker, worker};

/// The size of a stack: signals' frames, and a message.
const STACK: usize = 128 * 1024;

/// How many shared tasks play.
pub const PLAYERS: usize = 8;

/// How many tasks play, shared or not.
pub const TASKS: i32 = 12;

/// How many processors there are.
pub const PROCESSORS: usize = <<App as rtos::Kernel>::Model as rtos::Model>::PROCESSORS;

type Cx = InTask<Shared>;

rtos_stress::objects! {
    /// The kernel of the stress.
    pub struct App: Kernel<Port = Host, Model = rtos::Multi<2>>, last processor 1;
    tasks {
        P1: Shared = Task::create(|cx: Cx| worker(1, cx)).priority(4).stack(STACK).active();
        P2: Shared = Task::create(|cx: Cx| worker(2, cx)).priority(6).stack(STACK).active();
        P3: Shared = Task::create(|cx: Cx| worker(3, cx)).priority(8).stack(STACK).active();
        P4: Shared = Task::create(|cx: Cx| worker(4, cx)).priority(8).stack(STACK).active().no_queue();
        P5: Shared = Task::create(|cx: Cx| worker(5, cx)).priority(4).stack(STACK).active().on(1);
        P6: Shared = Task::create(|cx: Cx| worker(6, cx)).priority(6).stack(STACK).active().on(1);
        P7: Shared = Task::create(|cx: Cx| worker(7, cx)).priority(8).stack(STACK).active().on(1);
        P8: Shared = Task::create(|cx: Cx| worker(8, cx)).priority(8).stack(STACK).active().only_on(0b10);
        OWN0: Pinned<0> = Task::create(|cx: InTask<Pinned<0>>| own_worker(9, cx)).priority(5).stack(STACK).active();
        OWN0_LOW: Pinned<0> = Task::create(|cx: InTask<Pinned<0>>| own_worker(10, cx)).priority(9).stack(STACK).active();
        OWN1: Pinned<1> = Task::create(|cx: InTask<Pinned<1>>| own_worker(11, cx)).priority(5).stack(STACK).active();
        OWN1_LOW: Pinned<1> = Task::create(|cx: InTask<Pinned<1>>| own_worker(12, cx)).priority(9).stack(STACK).active();
        JANITOR0: Shared = Task::create(|cx: Cx| janitor(0, cx)).priority(1).stack(STACK).active();
        JANITOR1: Pinned<1> = Task::create(|cx: InTask<Pinned<1>>| janitor(1, cx)).priority(1).stack(STACK).active();
    }
    cyclics {
        C1: Shared = Cyclic::create(700, |cx: InHandler<Shared>| in_handler(13, cx)).started();
        C2: Shared = Cyclic::create(900, |cx: InHandler<Shared>| in_handler(14, cx)).started().on(1);
    }
    alarms {
        A1: Shared = Alarm::create(|cx: InHandler<Shared>| in_handler(15, cx));
        A2: Shared = Alarm::create(|cx: InHandler<Shared>| in_handler(16, cx));
    }
    overrun OverrunHandler::new(overrun);
}
