//! A lab in the first domain of a Xen, which creates the other by itself. No machine that these tests run on is one, so one is made:
//! Xen under QEMU, with the image of `xen-dom0` and this program in it. Before that, domains there run a unikernel as their kernel.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use image::cpio::{Archive, Entry};

use crate::harness::{Lab, PROBE, programs, skipped, trials};
use crate::machines::{lacks_guests, monitor};
use crate::xen::lacks_xen;

/// Emulated, beside other tests.
const PATIENCE: Duration = Duration::from_secs(400);
/// What Xen's tools expect of the machine that they are installed on.
const FOLDERS: [&str; 7] =
    ["/run/xen", "/run/xenstored", "/run/lock", "/var/lib/xen", "/var/lib/xenstored", "/var/log/xen", "/tmp"];

/// What guests say is kept there.
const SAID: &str = "k/said";

/// The folder with the image that `environment` boots. It is there when its monitor is.
fn image_of(lab: &Lab, environment: &str) -> PathBuf {
    let mut run = lab.start(&["run", "syscall", "--wait", "--environment", environment]);
    let parent = run.pid();
    let folder = run.wait_for("a monitor", || {
        let monitor = monitor(parent)?;
        let words = fs::read(format!("/proc/{monitor}/cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        // One that is only asked for its version, or tries what works, boots nothing of ours.
        let kernel = words.split('\0').skip_while(|word| *word != "-kernel").nth(1)?;
        let folder = fs::read_link(format!("/proc/{monitor}/cwd")).ok()?.join(kernel).parent()?.to_owned();
        words.contains("chardev=lab").then_some(folder)
    });
    run.stopped_by(libc::SIGINT);
    folder
}

/// The content of a file of an archive.
fn content_of<'a>(archive: &'a [u8], path: &str) -> &'a [u8] {
    const HEADER: usize = 110;
    let name = format!("{path}\0");
    let at = archive.windows(name.len()).position(|bytes| bytes == name.as_bytes()).expect("it is in the archive");
    let size = std::str::from_utf8(&archive[at - HEADER + 54..at - HEADER + 62]).expect("a number");
    let begin = (at + name.len()).next_multiple_of(4);
    &archive[begin..begin + usize::from_str_radix(size, 16).expect("a number")]
}

/// The folder of Xen's tools in an archive.
fn tools_in(archive: &[u8]) -> String {
    let (begin, end) = (b"usr/lib/xen-", b"/bin/xl\0");
    let end = archive.windows(end.len()).position(|bytes| bytes == end).expect("the archive has xl") + "/bin".len();
    let begin =
        archive[..end].windows(begin.len()).rposition(|bytes| bytes == begin).expect("it is in a folder of Xen");
    String::from_utf8_lossy(&archive[begin..end]).into_owned()
}

/// Adds `file`, or all files in it, at `path`.
fn add(archive: &mut Archive, path: &str, file: &Path) {
    if file.is_dir() {
        for entry in fs::read_dir(file).expect("a folder").flatten() {
            add(archive, &format!("{path}/{}", entry.file_name().to_string_lossy()), &entry.path());
        }
    } else {
        let content = fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        archive.add(path, Entry::File { mode: 0o755, content }).expect("a path");
    }
}

/// A guest of the unikernel's. `None` if there is no command to build it with.
fn unikernel() -> Option<PathBuf> {
    let command = programs().join("unikernel");
    if !command.exists() {
        skipped("kizami: a unikernel in a domain of Xen: cargo build -p kizami-unikernel-command makes what builds it");
        return None;
    }
    let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../unikernel/guests");
    let mut command = Command::new(command);
    let built = command.args(["build", "--bin", "guest-plain", "--path"]).arg(guests).output().expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(String::from_utf8(built.stdout).expect("a path").trim().into())
}

/// Adds a domain whose kernel is the unikernel at `/k/guest`, with that line of text. What it says goes where all of the machine does.
fn add_domain(archive: &mut Archive, name: &str, line: &str) {
    let text = format!(
        "name = \"{name}\"\ntype = \"pvh\"\nkernel = \"/k/guest\"\nmemory = 32\nvcpus = 1\nextra = \"{line}\"\n\
         on_poweroff = \"destroy\"\non_crash = \"destroy\"\n"
    );
    archive.add(&format!("k/{name}.cfg"), Entry::File { mode: 0o644, content: text.into() }).expect("a path");
    let said = Entry::Link { target: "/dev/console".into() };
    archive.add(&format!("{SAID}/guest-{name}.log"), said).expect("a path");
}

/// The domain with the clock that Xen keeps for it knows what time it is, and the other panicked.
fn domains_ran_it(said: &str) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let is_now = |line: &str| line.trim().parse().is_ok_and(|told: u64| since.abs_diff(told) < PATIENCE.as_secs());
    assert!(said.lines().any(is_now), "{since}\n{said}");
    assert!(said.contains("as I was told: once") && said.contains("unikernel: ended with 101"), "{said}");
}

#[test]
fn a_lab_in_the_first_domain_of_xen_creates_the_other() {
    let lab = Lab::with_probe(&programs().join(PROBE));
    if lacks_xen("a lab in the first domain") || lacks_guests(&lab, "a lab in Xen's first domain") {
        return;
    }
    // Images are kept by what made them: in an archive, that is as old as all files there.
    let program = lab.path().join("programs/kizami");
    let opened = File::options().write(true).open(&program).expect("the program");
    opened.set_modified(SystemTime::UNIX_EPOCH).expect("its time is set");
    drop(opened);
    let [image, guest] = ["xen-dom0", "qemu"].map(|environment| image_of(&lab, environment));

    let first = fs::read(image.join("initramfs.cpio")).expect("the archive of dom0");
    let plan = String::from_utf8_lossy(content_of(&first, "etc/init.plan")).into_owned();
    let mut steps: Vec<String> = plan.lines().filter(|step| !step.starts_with("run ")).map(str::to_owned).collect();
    steps.extend(FOLDERS.iter().map(|folder| format!("mount tmpfs tmpfs {folder}")));
    let tools = tools_in(&first);
    let keeping = format!("xenconsoled --log=guest --log-dir=/{SAID}");
    steps.extend(["xenstored", "xen-init-dom0", &keeping].map(|tool| format!("run /{tools}/{tool}")));
    let mut more = Archive::default();
    let unikernel = unikernel();
    if let Some(guest) = &unikernel {
        add(&mut more, "k/guest", guest);
        for (name, line) in [("clock", "arg=time"), ("fault", "arg=panic arg=once")] {
            add_domain(&mut more, name, line);
            steps.push(format!("run /usr/sbin/xl create /k/{name}.cfg"));
        }
    }
    let measure = "run syscall --environment host,xen-dom0,xen-domu --trials 1 --set samples=500 --set batch=1";
    steps.push(format!("run /k/kizami {measure} --out /tmp/out"));
    steps.push("run /k/kizami show --json /tmp/out".to_owned());
    steps.push("run /usr/sbin/xl list".to_owned());

    add(&mut more, "k/kizami", &program);
    add(&mut more, "k/static", &lab.path().join("programs/static"));
    for package in fs::read_dir(programs().join("kernels")).expect("the kernels").flatten() {
        let name = package.file_name().to_string_lossy().into_owned();
        if name.contains("cloud-amd64") {
            add(&mut more, &format!("k/kernels/{name}"), &package.path());
        }
    }
    let name = guest.file_name().expect("it has a name").to_string_lossy().into_owned();
    add(&mut more, &format!(".cache/kizami/{name}"), &guest);
    add(&mut more, "lib/x86_64-linux-gnu/libm.so.6", Path::new("/lib/x86_64-linux-gnu/libm.so.6"));
    for (link, target) in
        [("usr/sbin/xl", format!("/{tools}/xl")), ("var/run", "/run".into()), ("var/lock", "/run/lock".into())]
    {
        more.add(link, Entry::Link { target }).expect("a path");
    }
    let file = |text: &str| Entry::File { mode: 0o644, content: text.into() };
    more.add("etc/xen/xl.conf", file("")).expect("a path");
    more.add("etc/init.plan", file(&steps.join("\n"))).expect("a path");
    // A kernel unpacks one archive after the other, each over what is there.
    let mut whole = first;
    more.write(&mut whole).expect("it is written");
    let archive = lab.path().join("dom0.cpio");
    fs::write(&archive, whole).expect("it is written");

    let said = said_by(&image, &archive, &lab.path().join("console"));
    if unikernel.is_some() {
        domains_ran_it(&said);
    }
    // The host is the first domain here.
    assert!(said.contains("that is what the environment host measures"), "{said}");
    let shown: Vec<_> = said.lines().skip_while(|line| *line != "{").collect();
    let end = shown.iter().position(|line| *line == "}").unwrap_or_else(|| panic!("no recording\n{said}"));
    let shown = serde_json::from_str(&shown[..=end].concat()).unwrap_or_else(|e| panic!("{e}\n{said}"));
    let trials = trials(&shown);
    assert_eq!(trials.len(), 2, "{shown}");
    assert!(trials.iter().all(|(_, _, outcome)| *outcome == "complete"), "{shown}");
    // It was removed when the run ended.
    let domains: Vec<_> = said.lines().skip_while(|line| !line.starts_with("Name ")).skip(1).collect();
    let others: Vec<_> = domains.iter().filter(|line| line.contains("kizami")).collect();
    assert!(domains.first().is_some_and(|line| line.starts_with("Domain-0 ")) && others.is_empty(), "{said}");
}

/// What the console of a machine says until it is off, which boots Xen and its first domain's kernel from `image`, with `archive`.
fn said_by(image: &Path, archive: &Path, console: &Path) -> String {
    let file = File::create(console).expect("a file");
    let words = "console=hvc0 quiet panic=-1 tsc=reliable clocksource=tsc";
    let mut command = Command::new("qemu-system-x86_64");
    command.current_dir(image).stdin(Stdio::null()).stderr(file.try_clone().expect("a file")).stdout(file);
    // Domains that are no paravirtualised ones need what AMD calls svm.
    command.args("-nodefaults -no-user-config -display none -no-reboot -machine pc -smp 2".split(' '));
    command.args(["-cpu", "qemu64,+svm,+npt"]);
    command.args("-accel tcg,thread=multi -m 2200M -serial stdio -kernel xen".split(' '));
    command.args(["-append", "console=com1 bootscrub=0 dom0_mem=1200M,max:1200M"]);
    command.args(["-initrd", &format!("vmlinux {words},{}", archive.display())]);
    let mut machine = command.spawn().expect("QEMU starts");
    let begun = Instant::now();
    while machine.try_wait().expect("our child").is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = machine.kill().and_then(|()| machine.wait());
            panic!("the machine is not off\n{}", String::from_utf8_lossy(&fs::read(console).unwrap_or_default()));
        }
        thread::sleep(Duration::from_millis(50));
    }
    let said = String::from_utf8_lossy(&fs::read(console).expect("a file")).replace('\r', "");
    // Xen says what it has to say in the middle of a line of others.
    let mut pieces = said.split("(XEN)");
    let others = pieces.next().into_iter().chain(pieces.filter_map(|piece| Some(piece.split_once('\n')?.1)));
    others.collect()
}
