//! The parameter `via` of workloads whose sample is the time of calls to the kernel.

use crate::os::sys::Via;
use crate::spec::{Kind, Param, Params};

pub(super) const VIA: Param = Param {
    name: "via",
    about: "how the timed calls go to the kernel: through the C library, as those of a program do, or by the instruction \
            itself, without a function that returns",
    kind: Kind::Choice(&["libc", "direct"]),
    default: "libc",
};

pub(super) fn via(params: &Params) -> Via {
    if params.choice(VIA.name) == "direct" { Via::Direct } else { Via::Library }
}
