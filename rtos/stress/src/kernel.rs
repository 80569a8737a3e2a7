//! The kernel of the stress, on two threads of this machine.

use rtos::{InHandler, InTask, OverrunHandler, Pinned, Shared};
use rtos_host::Host;

use crate::step::{in_handler, janitor, overrun, own_worker, worker};
use crate::watch::PROCESSORS;

/// The size of a stack: signals' frames, and a message.
const STACK: usize = 128 * 1024;

type Cx = InTask<Shared>;
type Own<const P: usize> = InTask<Pinned<P>>;

rtos_stress::objects! {
    /// The kernel of the stress.
    pub struct App: Kernel<Port = Host, Model = rtos::Multi<PROCESSORS>>, last processor 1;
    tasks {
        P1: Shared = Task::create(|cx: Cx| worker::<App>(1, cx)).priority(4).stack(STACK).active();
        P2: Shared = Task::create(|cx: Cx| worker::<App>(2, cx)).priority(6).stack(STACK).active();
        P3: Shared = Task::create(|cx: Cx| worker::<App>(3, cx)).priority(8).stack(STACK).active();
        P4: Shared = Task::create(|cx: Cx| worker::<App>(4, cx)).priority(8).stack(STACK).active().no_queue();
        P5: Shared = Task::create(|cx: Cx| worker::<App>(5, cx)).priority(4).stack(STACK).active().on(1);
        P6: Shared = Task::create(|cx: Cx| worker::<App>(6, cx)).priority(6).stack(STACK).active().on(1);
        P7: Shared = Task::create(|cx: Cx| worker::<App>(7, cx)).priority(8).stack(STACK).active().on(1);
        P8: Shared = Task::create(|cx: Cx| worker::<App>(8, cx)).priority(8).stack(STACK).active().only_on(0b10);
        OWN0: Pinned<0> = Task::create(|cx: Own<0>| own_worker::<App, _>(9, cx)).priority(5).stack(STACK).active();
        OWN0_LOW: Pinned<0> = Task::create(|cx: Own<0>| own_worker::<App, _>(10, cx)).priority(9).stack(STACK).active();
        OWN1: Pinned<1> = Task::create(|cx: Own<1>| own_worker::<App, _>(11, cx)).priority(5).stack(STACK).active();
        OWN1_LOW: Pinned<1> = Task::create(|cx: Own<1>| own_worker::<App, _>(12, cx)).priority(9).stack(STACK).active();
        JANITOR0: Shared = Task::create(|cx: Cx| janitor::<App, _>(0, cx)).priority(1).stack(STACK).active();
        JANITOR1: Pinned<1> = Task::create(|cx: Own<1>| janitor::<App, _>(1, cx)).priority(1).stack(STACK).active();
    }
    cyclics {
        C1: Shared = Cyclic::create(700, |cx: InHandler<Shared>| in_handler::<App>(13, cx)).started();
        C2: Shared = Cyclic::create(900, |cx: InHandler<Shared>| in_handler::<App>(14, cx)).started().on(1);
    }
    alarms {
        A1: Shared = Alarm::create(|cx: InHandler<Shared>| in_handler::<App>(15, cx));
        A2: Shared = Alarm::create(|cx: InHandler<Shared>| in_handler::<App>(16, cx));
    }
    overrun OverrunHandler::new(overrun::<App>);
}
