//! Sockets: reading and writing by awaiting or by messages, and closing.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use otp::net::{Filled, Handed, Lines, Outbox, Readable, TcpListener, TcpStream, Writable};
use otp::testing::evaluate;
use otp::time::{sleep, within};
use otp::{Any, Init, Next, Server, Task, gen_server};

fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Two ends of one connection.
async fn pair() -> (TcpStream, TcpStream) {
    let mut listener = TcpListener::bind(anywhere()).expect("a port");
    let here = TcpStream::connect(listener.local().expect("an address")).await.expect("somebody listens");
    let there = listener.accept().await.expect("a connection");
    assert_eq!(there.peer().expect("an address"), here.local().expect("an address"));
    (here, there)
}

async fn queued() -> u64 {
    evaluate("element(2, process_info(self(), message_queue_len))").await.expect("a value").get().expect("a number")
}

#[otp::test]
async fn bytes_go_both_ways_and_the_end_is_seen() {
    let (mut here, mut there) = pair().await;
    let echo = Task::spawn(async move {
        let mut room = [0; 1000];
        let mut total = 0;
        loop {
            match there.read(&mut room).await.expect("a connection") {
                0 => return total,
                read => there.write_all(&room[..read]).await.expect("a connection"),
            }
            total += 1;
        }
    });
    let mut room = [0; 5];
    for _ in 0..100 {
        here.write_all(b"hello").await.expect("a connection");
        let mut read = 0;
        while read < 5 {
            read += here.read(&mut room[read..]).await.expect("a connection");
        }
        assert_eq!(&room, b"hello");
    }
    here.shutdown_write().expect("a connection");
    assert!(echo.await.expect("it ends") >= 100);
    assert_eq!(here.read(&mut room).await.expect("the end"), 0);
}

#[otp::test]
async fn who_does_not_read_holds_up_who_writes_and_nothing_is_lost() {
    const BYTES: usize = 20_000_000;
    let (mut here, mut there) = pair().await;
    let writer = Task::spawn(async move {
        let bytes: Vec<u8> = (0..BYTES).map(|n| (n % 251) as u8).collect();
        here.write_all(&bytes).await.expect("a connection");
    });
    sleep(Duration::from_millis(20)).await;
    let (mut room, mut read) = (vec![0; 300_000], 0);
    loop {
        match there.read(&mut room).await.expect("a connection") {
            0 => break,
            got => {
                assert!(room[..got].iter().enumerate().all(|(n, byte)| *byte == ((read + n) % 251) as u8));
                read += got;
            }
        }
    }
    assert_eq!(read, BYTES);
    writer.await.expect("it ends");
}

#[otp::test]
async fn lines_are_awaited() {
    let (mut here, mut there) = pair().await;
    here.write_all(b"one\r\n").await.expect("a connection");
    let mut lines = Lines::of_at_most(10);
    assert_eq!(there.read_line(&mut lines).await.expect("a line"), Some(b"one".to_vec()));
    here.write_all(b"far too long a line\ntwo\nunfini").await.expect("a connection");
    assert_eq!(there.read_line(&mut lines).await.expect_err("too long").kind(), std::io::ErrorKind::InvalidData);
    assert_eq!(there.read_line(&mut lines).await.expect("a line"), Some(b"two".to_vec()));
    assert!(within(Duration::from_millis(20), there.read_line(&mut lines)).await.is_err());
    here.write_all(b"shed\n").await.expect("a connection");
    drop(here);
    assert_eq!(there.read_line(&mut lines).await.expect("a line"), Some(b"unfinished".to_vec()));
    assert_eq!(there.read_line(&mut lines).await.expect("the end"), None);
}

#[otp::test]
async fn what_is_given_up_waits_no_longer_and_leaves_nothing_behind() {
    let (mut here, mut there) = pair().await;
    let mut listener = TcpListener::bind(anywhere()).expect("a port");
    let mut room = [0; 10];
    for _ in 0..50 {
        assert!(within(Duration::from_millis(1), there.read(&mut room)).await.is_err());
        assert!(within(Duration::from_millis(1), listener.accept()).await.is_err());
    }
    // Nothing was lost, and no message of a wait that was given up lies in the queue or comes.
    here.write_all(b"late").await.expect("a connection");
    sleep(Duration::from_millis(20)).await;
    assert_eq!(queued().await, 0);
    assert_eq!(there.read(&mut room).await.expect("bytes"), 4);
    // Nor where the message had come when the other future of a race was ready first.
    for _ in 0..200 {
        here.write_all(b"x").await.expect("a connection");
        let raced = within(Duration::ZERO, async {
            sleep(Duration::from_millis(1)).await;
            there.read(&mut room).await
        })
        .await;
        // On a busy machine both times may be over before either is seen.
        let read = match raced {
            Ok(read) => read,
            Err(_) => there.read(&mut room).await,
        };
        assert_eq!(read.expect("bytes"), 1);
    }
    assert_eq!(queued().await, 0);
}

#[otp::test]
async fn nobody_who_listens_is_an_error() {
    let listener = TcpListener::bind(anywhere()).expect("a port");
    let address = listener.local().expect("an address");
    assert!(TcpListener::bind(address).is_err());
    drop(listener);
    // The poll set may let go of it a moment later.
    for _ in 0..100 {
        if let Err(error) = TcpStream::connect(address).await {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
            return;
        }
        sleep(Duration::from_millis(5)).await;
    }
    panic!("somebody listens at {address}");
}

/// Sends back what it reads, and answers calls.
pub struct Echo {
    stream: TcpStream,
    outbox: Outbox,
    read: usize,
}

#[gen_server]
impl Echo {
    fn init(stream: Handed) -> Init<Self> {
        let stream = stream.take().ok_or("the connection is gone")?;
        stream.notify_readable()?;
        Ok(Self { stream, outbox: Outbox::of_at_most(100_000), read: 0 })
    }

    #[call]
    fn read_until_now(&mut self) -> usize {
        self.read
    }

    #[cast]
    fn panic(&mut self) {
        panic!("as it was told");
    }

    #[info]
    fn readable(&mut self, message: Readable) -> Next {
        assert_eq!(message.socket, self.stream.number());
        let mut room = [0; 4096];
        let filled = self.stream.try_read(&mut room).expect("a connection");
        if let Filled::Some(read) = filled {
            self.read += read;
            if self.outbox.put(&room[..read]).is_err() {
                return Next::stop();
            }
            self.outbox.flush(&self.stream).expect("a connection");
        }
        if filled == Filled::End {
            return Next::stop();
        }
        self.stream.notify_readable().expect("a connection");
        Next::Wait
    }

    #[info]
    fn writable(&mut self, _message: Writable) {
        self.outbox.flush(&self.stream).expect("a connection");
    }
}

async fn an_echo() -> (TcpStream, Server<Echo>) {
    let (here, there) = pair().await;
    let echo = Echo::start_link(there.hand_over()).await.expect("it starts");
    otp::unlink(&Any::of(&echo).get().expect("a process"));
    (here, echo)
}

#[otp::test]
async fn a_server_reads_what_it_is_told_of_and_answers_calls_meanwhile() {
    let (mut here, echo) = an_echo().await;
    assert_eq!(echo.read_until_now().await, Ok(0));
    let mut room = [0; 100];
    for n in 1..=100 {
        here.write_all(b"hello").await.expect("a connection");
        let mut read = 0;
        while read < 5 {
            read += here.read(&mut room).await.expect("an echo");
        }
        assert_eq!(echo.read_until_now().await, Ok(5 * n));
    }
}

#[otp::test]
async fn the_end_of_a_process_closes_its_socket() {
    for panics in [false, true] {
        let (mut here, echo) = an_echo().await;
        if panics {
            echo.panic();
        } else {
            otp::kill(&Any::of(&echo).get().expect("a process"));
        }
        let end = within(Duration::from_secs(10), here.read(&mut [0; 10])).await.expect("the end in time");
        assert_eq!(end.expect("the end"), 0);
    }
}

#[otp::test]
async fn a_client_that_never_reads_is_let_go_of() {
    let (mut here, echo) = an_echo().await;
    let bytes = vec![7; 100_000];
    // Much more than the sockets and the outbox take; then the connection is reset.
    let sent = within(Duration::from_secs(30), async { while here.write_all(&bytes).await.is_ok() {} }).await;
    assert!(sent.is_ok(), "it goes on for ever");
    assert!(echo.read_until_now().await.is_err());
}

#[otp::test]
async fn a_connection_is_taken_once_and_closed_when_nobody_takes_it() {
    let (mut here, there) = pair().await;
    let handed = there.hand_over();
    let again = handed.clone();
    assert!(handed.take().is_some());
    assert!(again.take().is_none());
    assert_eq!(here.read(&mut [0; 1]).await.expect("the end"), 0);
    let (mut here, there) = pair().await;
    drop(there.hand_over());
    assert_eq!(here.read(&mut [0; 1]).await.expect("the end"), 0);
    // What is no connection is refused, or is none.
    assert!(Any::of(&5_u8).get::<Handed>().is_err());
    let forged = evaluate("{'$otp_handed', lists, make_ref()}").await.expect("a tuple");
    assert!(forged.get::<Handed>().expect("of its form").take().is_none());
}

#[otp::test]
async fn descriptors_are_given_back() {
    let open = || std::fs::read_dir("/proc/self/fd").expect("a folder").count();
    let before = open();
    for _ in 0..100 {
        let (mut here, echo) = an_echo().await;
        here.write_all(b"x").await.expect("a connection");
        let _ = here.read(&mut [0; 1]).await;
        otp::kill(&Any::of(&echo).get().expect("a process"));
    }
    for _ in 0..200 {
        sleep(Duration::from_millis(20)).await;
        if open() < before + 50 {
            return;
        }
    }
    panic!("{} descriptors were {before} before", open());
}
