//! A board, from its description to a prompt: the kernel is built (once), the flash put together, and QEMU boots it. One start serves all
//! that is asked there.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use image::board::{self, Board, FirstFiles, Flash, Kernels, Source};

/// The flash of the study's board, and what may be used of it.
const FLASH: usize = 1_600_000;
/// What has to be free of 8 MB, in kB.
const FREE: u64 = 3_400;
/// An emulator waits for its turn, too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Told at the end of `./x test`.
fn skipped(why: &str) {
    eprintln!("not run: {why}");
    if let Some(file) = std::env::var_os("KIZAMI_SKIPPED") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).expect("the list of what was not run");
        writeln!(file, "the board without an MMU: {why}").expect("written");
    }
}

fn boards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards")
}

/// The programs of a board, which `image/node/build` puts beside those of this build.
fn node() -> Result<PathBuf, String> {
    let this = std::env::current_exe().expect("the path of this program");
    let place = this.ancestors().skip(2).map(|folder| folder.join("board/node")).find(|path| path.exists());
    place.ok_or_else(|| "its programs are not built: image/node/build target/debug builds them".to_owned())
}

/// A board whose console is here.
struct Console {
    qemu: Child,
    keys: ChildStdin,
    said: Receiver<Vec<u8>>,
    all: String,
    /// Up to where that was looked at.
    at: usize,
}

impl Console {
    fn start(board: &Board, flash: &Path) -> Self {
        let mut command = Command::new(&board.qemu.program);
        command.args(&board.qemu.arguments).args(["-display", "none", "-monitor", "none", "-no-reboot"]);
        command.args(["-serial", "stdio", "-nic", "user", "-device"]);
        command.arg(format!("loader,file={},addr={:#x},force-raw=on", flash.display(), board.flash.address));
        let mut qemu = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("QEMU starts");
        let (keys, mut screen) = (qemu.stdin.take().expect("piped"), qemu.stdout.take().expect("piped"));
        let (sender, said) = channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = screen.read(&mut piece) {
                if sender.send(piece[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { qemu, keys, said, all: String::new(), at: 0 }
    }

    /// What is said up to `end`, behind what was looked at before.
    fn until(&mut self, end: &str) -> String {
        let begun = Instant::now();
        loop {
            if let Some(found) = self.all[self.at..].find(end) {
                let said = self.all[self.at..self.at + found].to_owned();
                self.at += found + end.len();
                return said;
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.said.recv_timeout(left) {
                Ok(piece) => self.all.push_str(&String::from_utf8_lossy(&piece)),
                Err(why) => panic!("no {end:?} came within {PATIENCE:?} ({why}):\n{}", self.all),
            }
        }
    }

    /// Types a line; what is said until the next prompt.
    fn line(&mut self, text: &str) -> String {
        self.keys.write_all(format!("{text}\n").as_bytes()).expect("typed");
        // The terminal echoes what is typed.
        self.until("\n");
        self.until("/ # ").replace('\r', "")
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

#[test]
fn the_board_boots_from_its_flash_to_a_prompt_with_a_network_and_ipsec() {
    let board = Board::read(&boards().join("mps2-an385")).expect("a board");
    let there = |name: &str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    let compiler = format!("{}gcc", board.kernel.compiler);
    if let Some(missing) =
        [compiler.as_str(), &board.qemu.program, "flex", "bison", "bc"].into_iter().find(|name| !there(name))
    {
        return skipped(&format!("{missing} is not installed"));
    }
    let (source, node) = match (Source::installed(), node()) {
        (Ok(source), Ok(node)) => (source, node),
        (Err(why), _) => return skipped(&why.to_string()),
        (_, Err(why)) => return skipped(&why),
    };
    let folder = board::kept();
    let kernels = Kernels { folder: &folder, tell: |sentence| eprintln!("{sentence}") };
    let kind = boards().join("common/none.config");
    let built = board::build(&board, &source, &kind, &kernels).expect("a kernel");
    let init = fs::read(boards().join("common/init")).expect("what it does first");
    let files = FirstFiles { node: &node, init: &init, more: &[] }.packed().expect("an archive");
    let flash = Flash::new(&board, &built, &files).expect("it fits");
    assert!(flash.used() <= FLASH, "{} bytes of flash", flash.used());
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("flash.bin");
    // A file more, behind the others.
    let more = board::one_more("etc/greeting", b"hello".to_vec()).expect("an archive");
    fs::write(&file, flash.with(&more).expect("there is room")).expect("written");

    let mut console = Console::start(&board, &file);
    console.until("/ # ");
    let memory = console.line("free");
    let free = memory.lines().find_map(|line| line.strip_prefix("MemFree:")?.trim().strip_suffix(" kB"));
    let free: u64 = free.expect("it says so").parse().expect("a number");
    assert!(free >= FREE, "{memory}");

    assert!(console.line("cat /etc/greeting").starts_with("hello"));
    assert!(console.line("nothing").contains("there is no such command"));
    assert!(console.line("echo $?").starts_with("127"));
    assert!(console.line("ls /bin | cat | hexdump /etc/greeting").contains("68 65 6c 6c 6f"));
    assert!(console.line("sleep 1000 & echo on").contains("on"));
    // Until it has had its turn.
    let processes = console.line("sleep 0.2; ps");
    assert!(processes.contains("sleep"), "{processes}");
    // Ctrl-C ends what is done within the shell, and nothing else.
    console.keys.write_all(b"sleep 1000\n").expect("typed");
    console.until("\n");
    thread::sleep(Duration::from_millis(500));
    console.keys.write_all(b"\x03").expect("typed");
    let interrupted = console.until("/ # ");
    assert!(interrupted.contains("sleep: interrupted"), "{interrupted}");
    let network = console.line("ip addr");
    assert!(network.contains("eth0 10.0.2.15/24") && network.contains("lo ::1/128"), "{network}");
    let answered = console.line("ping -c 1 10.0.2.2");
    assert!(answered.contains("1 answers to 1 questions"), "{answered}");

    // To itself, IPv4 is not protected unless that is asked for.
    for what in ["xfrm", "policy"] {
        console.line(&format!("echo 0 > /proc/sys/net/ipv4/conf/lo/disable_{what}"));
    }
    console.line("udp serve 7 &");
    for (name, cipher) in [
        (
            "cbc(aes)",
            "auth 'hmac(sha1)' 0x000102030405060708090a0b0c0d0e0f10111213 enc 'cbc(aes)' 0x000102030405060708090a0b0c0d0e0f",
        ),
        ("rfc4106(gcm(aes))", "aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f10111213 128"),
    ] {
        for (address, bits) in [("::1", 128), ("127.0.0.1", 32)] {
            let done = console
                .line(&format!("ip xfrm state add src {address} dst {address} proto esp spi 0x100 {cipher}; echo $?"));
            assert!(done.starts_with('0'), "{done}");
            for direction in ["out", "in"] {
                let ends = format!("src {address}/{bits} dst {address}/{bits}");
                console.line(&format!("ip xfrm policy add {ends} dir {direction} tmpl proto esp mode transport"));
            }
            let there = if bits == 32 { "127.0.0.1:7" } else { "[::1]:7" };
            let came = console.line(&format!("udp send -c 100 -s 1024 {there}"));
            assert!(came.contains("100 of 100 answered"), "{came}");
            let state = console.line("ip xfrm state");
            assert!(
                state.contains(name) && state.contains("400 packets") && state.contains(", 0 with a wrong check"),
                "{state}"
            );
            console.line("ip xfrm flush");
        }
    }
    let wrong = console.line("ip xfrm state add src ::1 dst ::1 proto esp spi 1 aead 'rfc4106(gcm(aes))' 0x00 128");
    assert!(wrong.contains("a key has a length"), "{wrong}");

    console.keys.write_all(b"poweroff\n").expect("typed");
    let begun = Instant::now();
    while console.qemu.try_wait().expect("asked").is_none() {
        assert!(begun.elapsed() < PATIENCE, "it does not end");
        thread::sleep(Duration::from_millis(50));
    }
}
