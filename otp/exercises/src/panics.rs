//! Panics under supervision, as many as `KIZAMI_PANICS` says (50,000 unless it is set): the VM goes on, no other process is lost,
//! and the memory stays as it was.

use std::time::{Duration, Instant};

use otp::testing::evaluate;
use otp::time::{sleep, within};
use otp::{Any, Init, Name, Server, Tree, gen_server, one_for_one, pool, supervisor, worker};

/// Panics when it is told to, and has some memory that a lost state would hold.
pub struct Doomed {
    memory: Vec<u8>,
}

#[gen_server]
impl Doomed {
    fn init() -> Init<Self> {
        Ok(Doomed { memory: vec![1; 4096] })
    }

    #[call]
    fn size(&mut self) -> usize {
        self.memory.len()
    }

    #[cast]
    fn die(&mut self, how: u64) {
        // Panics of several kinds: of the library, with a text that is made, without one.
        match how % 4 {
            0 => self.memory.swap(0, 4096 + how as usize),
            1 => panic!("number {how}"),
            2 => std::panic::panic_any(how),
            _ => self.memory[0] = *self.memory.get(usize::MAX).expect("so much memory"),
        }
    }

    /// The same within an async callback that has waited.
    #[cast]
    async fn die_later(&mut self) {
        otp::yield_now().await;
        panic!("after a while");
    }
}

/// Lives beside them and counts.
pub struct Bystander {
    count: u64,
}

#[gen_server]
impl Bystander {
    fn init() -> Init<Self> {
        Ok(Bystander { count: 0 })
    }

    #[call]
    fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
}

const DOOMED: usize = 16;
const BYSTANDERS: usize = 8;
/// More than can be within the time.
const OFTEN: u32 = 1_000_000_000;

/// Doomeds under a supervisor of OTP, doomed_ones in a pool, and bystanders under the same supervisor.
#[supervisor]
pub fn doomed_ones(children: usize) -> Tree {
    // OTP's supervisor remembers each restart of a period, so that is short, and the intensity more than can be within it.
    let mut tree = one_for_one()
        .intensity(OFTEN, Duration::from_secs(1))
        .child(pool::<Doomed>().name("pool_of_doomed_ones").permanent().intensity(1000, Duration::from_millis(0)));
    for n in 0..children {
        tree = tree.child(worker::<Doomed>(()).name(format!("doomed_{n}")));
    }
    for n in 0..BYSTANDERS {
        tree = tree.child(worker::<Bystander>(()).name(format!("bystander_{n}")));
    }
    tree
}

/// What the VM takes, after it was told to collect.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// In bytes, what is allocated of the C library and not freed: what Rust has, and little else.
    allocated: u64,
    /// In bytes, as the VM counts.
    total: u64,
    atoms: u64,
    processes: u64,
}

async fn memory() -> Memory {
    evaluate("[erlang:garbage_collect(P) || P <- processes()]").await.expect("a collection");
    let number =
        async |expression: &str| -> u64 { evaluate(expression).await.expect("a value").get().expect("a number") };
    // SAFETY: it only reads the counters of the C library.
    let heap = unsafe { libc::mallinfo2() };
    Memory {
        allocated: (heap.uordblks + heap.hblkhd) as u64,
        total: number("erlang:memory(total)").await,
        atoms: number("erlang:system_info(atom_count)").await,
        processes: number("erlang:system_info(process_count)").await,
    }
}

/// Tells all of these to end, and waits until they have.
async fn ended(watched: Vec<Server<Doomed>>, tell: impl Fn(usize, &Server<Doomed>)) {
    for (n, doomed) in watched.iter().enumerate() {
        tell(n, doomed);
    }
    for doomed in &watched {
        // It is told of the end, or answered by the next one.
        let _ = doomed.size().without_limit().await;
    }
}

#[otp::test]
#[ignore = "it looks at the memory, so it runs in a VM of its own"]
async fn panics_under_supervision_take_nothing_else_with_them() {
    let wanted: u64 = std::env::var("KIZAMI_PANICS").map_or(50_000, |number| number.parse().expect("a number"));
    otp::erlang::apply::<Any>("erlang", "process_flag", (Name::from(otp::atom!("trap_exit")), true))
        .await
        .expect("a flag");
    let tree: Result<otp::Pid, Any> =
        otp::erlang::apply("exercises_doomed_ones", "start_link", (DOOMED,)).await.expect("a supervisor");
    let tree = tree.expect("it starts");
    let pool = otp::Pool::<Doomed>::named("pool_of_doomed_ones");
    for started in pool.start_all([(); DOOMED]).await.expect("a pool") {
        started.expect("it starts");
    }
    let named: Vec<Server<Doomed>> = (0..DOOMED).map(|n| Server::named(&format!("doomed_{n}"))).collect();
    let bystanders: Vec<Server<Bystander>> =
        (0..BYSTANDERS).map(|n| Server::named(&format!("bystander_{n}"))).collect();
    let births: Vec<Any> = bystanders_are(&bystanders).await;
    let (mut panics, mut rounds, mut marks) = (0, 0, Vec::new());
    let began = Instant::now();
    while panics < wanted {
        // Half of them in the pool, half under OTP's supervisor; each kind of panic in turn, the async one now and then.
        let pooled = pool.children().await.expect("a list");
        let how = panics;
        let all: Vec<Server<Doomed>> = pooled.into_iter().chain(named.iter().cloned()).collect();
        panics += all.len() as u64;
        ended(all, |n, doomed| if n % 8 == 7 { doomed.die_later() } else { doomed.die(how + n as u64) }).await;
        all_are_there(&pool, &named).await;
        rounds += 1;
        for bystander in &bystanders {
            assert_eq!(bystander.count().await, Ok(rounds), "after {panics} panics");
        }
        if panics * 10 / wanted > marks.len() as u64 {
            marks.push((panics, memory().await));
        }
    }
    let took = began.elapsed();
    assert_eq!(births, bystanders_are(&bystanders).await, "a bystander was started anew");
    let (first, last) = (marks[0], marks[marks.len() - 1]);
    for (panics, memory) in &marks {
        println!("{panics:>8} panics: {memory:?}");
    }
    let span = (last.0 - first.0) as f64;
    let allocated = grown(&marks, |memory| memory.allocated);
    let total = grown(&marks, |memory| memory.total);
    println!(
        "{panics} panics in {took:.1?}, {:.0} a second; from 10 % to the end what is allocated {:+.0} KiB ({:+.2} bytes a panic), the VM's {:+.0} KiB",
        panics as f64 / took.as_secs_f64(),
        allocated / 1024.0,
        allocated / span,
        total / 1024.0,
    );
    // A lost state would be 4 KiB, a lost reason some hundred bytes a panic.
    const MIB: f64 = 1024.0 * 1024.0;
    assert!(allocated < MIB + 16.0 * span, "{marks:?}");
    assert!(total < MIB + 16.0 * span, "{marks:?}");
    assert!(last.1.atoms < first.1.atoms + 100 && last.1.processes <= first.1.processes + 10, "{marks:?}");
    otp::exit(&tree, &otp::Reason::Shutdown);
}

/// All children live again and answer.
async fn all_are_there(pool: &otp::Pool<Doomed>, named: &[Server<Doomed>]) {
    let there = within(Duration::from_secs(60), async {
        while pool.count().await != Ok(DOOMED) {
            otp::yield_now().await;
        }
        for doomed in named {
            while doomed.size().await != Ok(4096) {
                sleep(Duration::ZERO).await;
            }
        }
    });
    there.await.expect("all are started anew in time");
}

/// The processes behind the names.
async fn bystanders_are(bystanders: &[Server<Bystander>]) -> Vec<Any> {
    let mut found = Vec::new();
    for n in 0..bystanders.len() {
        found.push(evaluate(&format!("whereis(bystander_{n})")).await.expect("a process"));
    }
    found
}

/// By how many bytes memory grew from the first mark to the last: along the median of the slopes between any two of them
/// (Theil and Sen), because single marks are some MiB off whenever an allocator has just taken or returned a piece.
fn grown(marks: &[(u64, Memory)], of: impl Fn(&Memory) -> u64) -> f64 {
    let slope = |a: &(u64, Memory), b: &(u64, Memory)| (of(&b.1) as f64 - of(&a.1) as f64) / (b.0 - a.0) as f64;
    let mut slopes: Vec<f64> =
        marks.iter().enumerate().flat_map(|(n, a)| marks[n + 1..].iter().map(move |b| slope(a, b))).collect();
    slopes.sort_by(f64::total_cmp);
    let median = slopes.get(slopes.len() / 2).copied().expect("two marks at least");
    median * (marks[marks.len() - 1].0 - marks[0].0) as f64
}
