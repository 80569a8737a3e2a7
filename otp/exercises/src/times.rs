//! Timers: a message that comes later, and one that was taken back.

use std::time::Duration;

use otp::time::{Timer, sleep, within};
use otp::{Init, gen_server};

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
