//! References to values that are not terms: timers of the kernel and connections, which any process may send to any other.

use std::io;
use std::net;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use otp::net::{Filled, Handed, Readable, TcpStream};
use otp::time::{Interval, Tick, Ticker};
use otp::{Any, Bytes, Dirty, Init, Slice, gen_server, on_dirty_cpu, time};

/// Holds a few of them.
#[derive(Debug, Default)]
pub struct Handles {
    /// Who has one looks after the timers of others.
    slice: Slice,
    ticker: Option<Ticker>,
    ticks: u64,
    stream: Option<TcpStream>,
    readable: u64,
    others: u64,
}

/// Both ends of a connection, of which nobody needs to know that it is none over TCP.
fn pair() -> io::Result<[TcpStream; 2]> {
    let (one, other) = UnixStream::pair()?;
    let stream = |one| TcpStream::from_std(net::TcpStream::from(OwnedFd::from(one)));
    Ok([stream(one)?, stream(other)?])
}

#[gen_server(module = "handles")]
impl Handles {
    fn init() -> Init<Self> {
        Ok(Self::default())
    }

    /// Ticks from now on, and no more with the one before.
    #[call]
    fn tick_every(&mut self, time: Duration) -> Result<(), String> {
        let ticker = Ticker::every(time.clamp(Duration::from_millis(1), Duration::from_secs(1)));
        self.ticker = Some(ticker.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Has one end of a connection, and gives the other away.
    #[call]
    fn connection(&mut self) -> Result<Handed, String> {
        let [own, other] = pair().map_err(|error| error.to_string())?;
        own.notify_readable().map_err(|error| error.to_string())?;
        self.stream = Some(own);
        Ok(other.hand_over())
    }

    /// Takes it, if it is one and nobody has it; says something on it.
    #[call]
    fn take(&mut self, handed: Handed, text: Bytes) -> bool {
        let taken = handed.take();
        let said = taken.as_ref().is_some_and(|stream| stream.try_write(&text).is_ok());
        self.stream = taken.or(self.stream.take());
        said
    }

    /// Waits in every way that there is, a moment each.
    #[call]
    async fn wait(&mut self, number: u32) -> Result<u64, String> {
        let moment = Duration::from_millis(1);
        let ticks = match Interval::every(moment) {
            Ok(mut interval) => interval.tick().await,
            Err(error) => return Err(error.to_string()),
        };
        let squared: Dirty<u64> = on_dirty_cpu(move || u64::from(number) * u64::from(number));
        let squared = squared.await;
        self.slice.check().await;
        if let Some(stream) = &mut self.stream {
            let _ = time::within(moment, stream.read(&mut [0; 8])).await;
        }
        Ok(squared.saturating_add(ticks.min(1)))
    }

    /// What it was told until now.
    #[call]
    fn seen(&mut self) -> (u64, u64, u64) {
        (self.ticks, self.readable, self.others)
    }

    #[info]
    fn tick(&mut self, tick: Tick) {
        self.ticks = self.ticks.saturating_add(tick.periods);
    }

    #[info]
    fn readable(&mut self, readable: Readable) {
        self.readable = self.readable.wrapping_add(readable.socket);
        let stream = self.stream.as_mut().filter(|stream| stream.number() == readable.socket);
        if let Some(stream) = stream
            && let Ok(Filled::Some(_)) = stream.try_read(&mut [0; 64])
        {
            let _ = stream.notify_readable();
        }
    }

    #[info]
    fn other(&mut self, _other: Any) {
        self.others = self.others.saturating_add(1);
    }
}

/// For the native function that begins a test, and what can be done with one from outside.
#[otp::test]
async fn a_task_that_waits_twice() {
    time::sleep(Duration::from_millis(1)).await;
    let squared: Dirty<u64> = on_dirty_cpu(|| 4);
    assert_eq!(squared.await, 4);
}
