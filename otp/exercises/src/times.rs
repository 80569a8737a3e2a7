//! Timers: messages that come later, and timers that are cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use otp::time::{Interval, Tick, Ticker, Timer, sleep, within};
use otp::{Init, Server, Slice, Task, gen_server};

/// Counts what its timers bring.
pub struct Alarm {
    rung: Vec<u32>,
}

#[gen_server]
impl Alarm {
    fn init() -> Init<Self> {
        Ok(Alarm { rung: Vec::new() })
    }

    #[call]
    fn ring(&mut self, after: u64, number: u32, taken_back: bool) -> usize {
        let timer = Timer::after(Duration::from_millis(after), &number);
        if taken_back {
            timer.cancel();
        }
        self.rung.len()
    }

    #[call]
    fn rung(&mut self) -> Vec<u32> {
        self.rung.clone()
    }

    #[info]
    fn rang(&mut self, number: u32) {
        self.rung.push(number);
    }
}

#[otp::test]
async fn a_message_comes_later_unless_it_is_taken_back() {
    let alarm = Alarm::start_link().await.expect("it starts");
    for (after, number, taken_back) in [(600, 3, false), (300, 1, false), (400, 2, true), (0, 0, false)] {
        alarm.ring(after, number, taken_back).await.expect("an answer");
    }
    sleep(Duration::from_millis(700)).await;
    assert_eq!(alarm.rung().await, Ok(vec![0, 1, 3]));
}

#[otp::test]
async fn a_sleep_is_never_shorter_than_said() {
    for microseconds in [1, 900, 1000, 1100, 4999] {
        let (time, began) = (Duration::from_micros(microseconds), std::time::Instant::now());
        sleep(time).await;
        assert!(began.elapsed() >= time, "{:?} instead of {time:?}", began.elapsed());
    }
}

#[otp::test]
async fn a_limit_lets_through_what_ends_in_time() {
    assert_eq!(within(Duration::from_secs(5), async { 7 }).await, Ok(7));
    assert_eq!(within(Duration::from_secs(5), sleep(Duration::from_millis(1))).await, Ok(()));
    assert!(within(Duration::from_millis(1), std::future::pending::<()>()).await.is_err());
}

/// Counts its ticks.
pub struct Clock {
    ticker: Option<Ticker>,
    began: Instant,
    periods: u64,
    /// When the last of them was seen, in microseconds after the start.
    last: u64,
}

#[gen_server]
impl Clock {
    fn init(microseconds: u64) -> Init<Self> {
        let ticker = Ticker::every(Duration::from_micros(microseconds))?;
        Ok(Clock { ticker: Some(ticker), began: Instant::now(), periods: 0, last: 0 })
    }

    #[call]
    fn periods(&mut self) -> u64 {
        self.periods
    }

    #[call]
    fn stop(&mut self) -> (u64, u64) {
        self.ticker = None;
        (self.periods, self.last)
    }

    #[info]
    fn tick(&mut self, tick: Tick) {
        assert!(tick.periods > 0);
        self.periods += tick.periods;
        self.last = self.began.elapsed().as_micros() as u64;
    }
}

#[otp::test]
async fn a_ticker_does_not_drift_and_is_over_when_it_is_dropped() {
    let clock = Clock::start_link(500).await.expect("it starts");
    while clock.periods().await.expect("an answer") < 200 {
        sleep(Duration::from_millis(5)).await;
    }
    let periods = stopped(&clock).await;
    sleep(Duration::from_millis(10)).await;
    assert_eq!(clock.periods().await, Ok(periods));
}

/// Stops one of half a millisecond; how many periods it had.
async fn stopped(clock: &Server<Clock>) -> u64 {
    let (periods, last) = clock.stop().await.expect("an answer");
    // None is lost, however late they were seen; between the count and the look at the clock the thread may be held up.
    assert!(last + 1_000 >= periods * 500 && last <= periods * 500 + 100_000, "{periods} periods in {last} µs");
    periods
}

/// Their messages may come from those who compute, from the poll set, or from both.
#[otp::test]
async fn timers_go_off_while_all_schedulers_compute() {
    let over = Arc::new(AtomicBool::new(false));
    let compute = |over: Arc<AtomicBool>| async move {
        let mut slice = Slice::new();
        while !over.load(Ordering::Relaxed) {
            slice.check().await;
        }
    };
    let computing: Vec<_> = (0..4).map(|_| Task::spawn(compute(over.clone()))).collect();
    let clock = Clock::start_link(500).await.expect("it starts");
    let (began, mut interval) = (Instant::now(), Interval::every(Duration::from_micros(300)).expect("a timer"));
    let mut periods = 0;
    while periods < 1000 {
        let more = interval.tick().await;
        assert!(more > 0);
        periods += more;
    }
    assert!(began.elapsed() >= Duration::from_micros(300) * 1000, "{:?}", began.elapsed());
    assert!(stopped(&clock).await > 500);
    over.store(true, Ordering::Relaxed);
    for task in computing {
        task.await.expect("it ends");
    }
}

#[otp::test]
async fn an_interval_is_waited_for() {
    let (began, mut interval) = (Instant::now(), Interval::every(Duration::from_micros(300)).expect("a timer"));
    let mut periods = 0;
    while periods < 100 {
        periods += interval.tick().await;
    }
    assert!(began.elapsed() >= Duration::from_millis(30), "{:?}", began.elapsed());
    drop(interval);
}

#[otp::test]
async fn timers_of_processes_that_end_are_given_back() {
    let open = || std::fs::read_dir("/proc/self/fd").expect("a folder").count();
    let before = open();
    for _ in 0..200 {
        let clock = Clock::start_link(100).await.expect("it starts");
        clock.periods().await.expect("an answer");
        let pid: otp::Pid = otp::Any::of(&clock).get().expect("a process");
        otp::unlink(&pid);
        otp::kill(&pid);
    }
    // They are given back as the memory of the processes is.
    for _ in 0..100 {
        sleep(Duration::from_millis(20)).await;
        if open() < before + 50 {
            return;
        }
    }
    panic!("{} descriptors were {before} before", open());
}
