//! Releases: a release runs where there is nothing but the release and the C library.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{InTime, Running, User, said, skipped, target};

/// A container that holds one folder, as /app, and the libraries of libc.
struct Container {
    folder: PathBuf,
    libraries: BTreeSet<String>,
    port: String,
}

impl Container {
    /// `None` where this machine does not let one be made.
    fn new(folder: &Path, user: &User) -> Option<Self> {
        let tried = Command::new("bwrap").args(["--unshare-all", "--ro-bind", "/", "/", "true"]).output();
        match tried {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                skipped(&format!("cargo-otp: a release in a container: bwrap: {}", said(&output).trim()));
                return None;
            }
            Err(error) => {
                skipped(&format!("cargo-otp: a release in a container: no bwrap: {error}"));
                return None;
            }
        }
        // The VM is linked with libc, so what ldd says of it is where libc is.
        let vm = fs::read_dir(folder).expect("the release").flatten().map(|entry| entry.path().join("bin/beam.smp"));
        let vm = vm.into_iter().find(|vm| vm.is_file()).expect("the VM");
        let output = Command::new("ldd").arg(vm).output_in_time();
        let paths = said(&output);
        let paths = paths.split_whitespace().filter(|word| word.starts_with('/'));
        let of_libc = |path: &&str| {
            ["libc.", "libm.", "ld-linux", "libdl.", "libpthread.", "librt."].iter().any(|one| path.contains(one))
        };
        let libraries: BTreeSet<_> = paths.filter(of_libc).map(str::to_owned).collect();
        assert!((2..=6).contains(&libraries.len()), "{libraries:?}");
        Some(Self { folder: folder.to_owned(), libraries, port: user.epmd.port.clone() })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut bwrap = Command::new("bwrap");
        bwrap.args([
            "--unshare-all",
            "--share-net",
            "--die-with-parent",
            "--clearenv",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
        ]);
        bwrap.args(["--setenv", "ERL_EPMD_PORT", &self.port, "--ro-bind"]).arg(&self.folder).arg("/app");
        for library in &self.libraries {
            bwrap.args(["--ro-bind", library, library]);
        }
        bwrap.args(arguments);
        bwrap
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output_in_time();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        said(&output)
    }
}

#[test]
fn a_release_runs_where_there_is_nothing_else() {
    let user = User::new();
    let path = user.application("boxed_one", "minimal");
    let out = user.folder.path().join("out/boxed");
    let place = out.display().to_string();
    let told = user.done(&path, &["release", "--tar", "--out", &place]);
    assert!(told.contains("Released") && told.contains("release` profile"), "{told}");
    // What is shipped is the archive.
    let archive = told.lines().find_map(|line| line.trim().strip_prefix("Packed ")).expect("an archive");
    let device = user.folder.path().join("device");
    fs::create_dir(&device).expect("a folder");
    let unpacked = Command::new("tar").arg("-xzf").arg(archive).current_dir(&device).status().expect("start tar");
    assert!(unpacked.success());
    let device = device.join("boxed");
    let names: BTreeSet<_> =
        fs::read_dir(device.join("lib")).expect("lib").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 3, "only what is needed: {names:?}");
    let holds = fs::read(device.join("releases/0.1.0/start.boot")).expect("the boot file");
    assert!(
        !String::from_utf8_lossy(&holds).contains(user.folder.path().to_str().expect("a text")),
        "no path of this machine"
    );

    let Some(container) = Container::new(&device, &user) else { return };
    assert!(container.command(&["/bin/sh"]).output().is_ok_and(|output| !output.status.success()), "there is no shell");
    let app = "/app/bin/boxed_one";
    assert_eq!(container.says(&[app, "version"]), "boxed_one 0.1.0\n");
    let mut running = Running::start(&mut container.command(&[app, "foreground", "--", "an argument"]));
    running.says("the greeter is there");
    let greeting = container.says(&[app, "eval", "boxed_one_greeter:greet(boxed_one_greeter, <<\"you\">>)"]);
    assert_eq!(greeting, "<<\"Hello, you! You are number 1.\">>\n");
    assert_eq!(container.says(&[app, "eval", "init:get_plain_arguments()"]), "[\"an argument\"]\n");
    assert!(container.says(&[app, "pid"]).trim().parse::<u32>().is_ok());
    assert_eq!(container.says(&[app, "stop"]), "");
    assert_eq!(running.ends(), Some(0), "it ended in order");
    let none = container.command(&[app, "stop"]).output_in_time();
    assert!(!none.status.success() && said(&none).contains("does not run here"), "{}", said(&none));
}

#[test]
fn a_release_may_be_made_for_an_erlang_that_is_there() {
    let user = User::new();
    let path = user.application("lean_one", "minimal");
    fs::write(path.join("sys.config"), "[{lean_one, [{greeting, \"hi there\"}]}].\n").expect("parameters");
    fs::write(path.join("vm.args"), "+P 65536\n").expect("flags");
    let settings = "[vm]\nflags = [\"-env\", \"LEAN\", \"a b\"]\nconfig = \"sys.config\"\n\
                    [release]\ninclude_erts = false\nstrip = false\nvm_args = \"vm.args\"\nextra_applications = [\"sasl\"]\n";
    fs::write(path.join("otp.toml"), settings).expect("settings");
    user.done(&path, &["release", "--profile", "dev"]);
    let release = target().join("otp/releases/lean_one-0.1.0");
    assert!(
        fs::read_dir(&release)
            .expect("the release")
            .flatten()
            .all(|entry| !entry.file_name().to_string_lossy().starts_with("erts"))
    );
    let lean = |arguments: &[&str]| {
        let mut command = Command::new(release.join("bin/lean_one"));
        command.args(arguments).env("ERL_EPMD_PORT", &user.epmd.port);
        command
    };
    let mut running = Running::start(&mut lean(&["foreground"]));
    running.says("the greeter is there");
    let ask = "{application:get_env(lean_one, greeting), os:getenv(\"LEAN\"), erlang:system_info(process_limit), \
               lists:keymember(sasl, 1, application:which_applications())}";
    let second = lean(&["foreground"]).output_in_time();
    assert!(said(&second).contains("lean_one@127.0.0.1 runs here already"), "{}", said(&second));
    let output = lean(&["eval", ask]).output_in_time();
    assert_eq!(said(&output), "{{ok,\"hi there\"},\"a b\",65536,true}\n");
    assert!(lean(&["stop"]).status().expect("start it").success());
    assert_eq!(running.ends(), Some(0));
}

#[test]
fn what_a_release_needs_and_is_not_here_is_named_and_what_is_there_is_kept() {
    let user = User::new();
    let path = user.application("poor_one", "minimal");
    let mine = user.folder.path().join("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("letter"), "dear").expect("a file");
    let said = user.refused(&path, &["release", "--profile", "dev", "--out", &mine.display().to_string()]);
    assert!(said.contains("is there and is no release") && mine.join("letter").is_file(), "{said}");
    fs::write(path.join("otp.toml"), "[release]\nextra_applications = [\"nosuch\"]\n").expect("settings");
    let said = user.refused(&path, &["release", "--profile", "dev"]);
    assert!(said.contains("the application nosuch is needed and is not in this Erlang/OTP"), "{said}");
}
