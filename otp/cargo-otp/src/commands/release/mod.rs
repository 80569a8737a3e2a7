//! Releases: a folder that holds everything that runs the application, `target/otp/releases/APP-VERSION`.
//!
//! ```text
//! bin/APP            the program that starts it and reaches it (see launcher/)
//! erts-13.1.5/bin    the VM
//! lib/APP-0.1.0 …    the applications, only those that are needed
//! native             the libraries that the VM is linked with, but for those of libc
//! releases/0.1.0     start.boot, vm.args, sys.config
//! releases/COOKIE    the secret, made anew for each release and kept when the same is made again
//! ```

mod archive;
mod launcher;
mod native;

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::build::{Built, build, replace};
use crate::config::Config;
use crate::erlang::{self, Erlang};
use crate::node::{Naming, Node};
use crate::project::{Project, What};
use crate::say;

/// The form that a release has.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Form {
    /// Make one compressed file of it, too
    #[arg(long)]
    tar: bool,
    /// The folder to make, instead of target/otp/releases/APP-VERSION
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// The programs of the runtime system that a node needs; the others are for building and for terminals.
const PROGRAMS: [&str; 6] = ["beam.smp", "erlexec", "erl_child_setup", "inet_gethost", "epmd", "heart"];

pub(crate) fn release(mut what: What, form: &Form) -> Result<()> {
    // As cargo install has it: what is shipped is optimised unless it is said otherwise.
    what.release |= what.profile.is_none();
    can_be(&what)?;
    let built = build(&what)?;
    let version = built.project.version.clone();
    let usual = || built.project.output().join("releases").join(format!("{}-{version}", built.name));
    let folder = form.out.clone().unwrap_or_else(usual);
    say::step("Releasing", format_args!("{} v{version}", built.name));
    let erlang = Erlang::asked()?;
    let cookie = built.config.vm.cookie.clone().map_or_else(|| cookie(&folder), Ok)?;
    // It is made beside the older one, which stays until this is whole.
    must_be_ours(&folder)?;
    let fresh = folder.with_file_name(format!(".{}-{version}.new", built.name));
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir_all(&fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    applications(&built, &fresh)?;
    if built.config.release.include_erts {
        runtime(&erlang, &fresh)?;
    }
    settings(&built, &fresh, &erlang, &cookie).with_context(|| format!("cannot write into {}", fresh.display()))?;
    launcher::compile(&built.project.output().join("launcher"), &fresh.join("bin").join(&built.name))?;
    native::gather(&fresh)?;
    replace(&fresh, &folder)?;
    let told = format!("{}; it is started with bin/{} foreground", folder.display(), built.name);
    say::step("Released", told);
    if form.tar {
        let file = archive::archive(&folder)?;
        say::step("Packed", file.display());
    }
    Ok(())
}

/// Before anything is compiled, which may take minutes.
///
/// # Errors
/// When the settings ask for what no release has.
fn can_be(what: &What) -> Result<()> {
    let config = Config::read(Project::find(what)?.folder())?;
    if config.vm.tls.is_some() {
        // What starts and asks a release does not know the settings, and where the certificates are is the machine's matter.
        bail!(
            "a release takes no `tls` of otp.toml: give its nodes -proto_dist inet_tls and -ssl_dist_optfile by [release] \
             vm_args, and ssl by extra_applications"
        );
    }
    Ok(())
}

/// # Errors
/// When the folder is there and is something else than an older release.
fn must_be_ours(folder: &Path) -> Result<()> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !folder.join("releases/launch").is_file() {
        bail!("{} is there and is no release: remove it, or choose another with --out", folder.display());
    }
    Ok(())
}

/// The secret of the release that was there before, or a new one.
fn cookie(folder: &Path) -> Result<String> {
    if let Ok(before) = fs::read_to_string(folder.join("releases/COOKIE")) {
        return Ok(before.trim().to_owned());
    }
    let mut random = [0; 20];
    let mut source = fs::File::open("/dev/urandom").context("cannot make a secret: no /dev/urandom")?;
    source.read_exact(&mut random).context("cannot make a secret")?;
    Ok(random.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// `lib` and the boot file, which Erlang's own tools make.
fn applications(built: &Built, folder: &Path) -> Result<()> {
    let asked = &built.config.release;
    let script = tempfile::Builder::new().suffix(".erl").tempfile().context("cannot write a script")?;
    fs::write(script.path(), include_str!("assemble.erl")).context("cannot write a script")?;
    let mut escript = erlang::helper("escript")?;
    escript.arg(script.path()).arg(folder).args([&built.name, &built.project.version]).arg(built.ebin());
    escript.args([if asked.include_erts { "erts" } else { "no_erts" }, if asked.strip { "strip" } else { "keep" }]);
    escript.args(&asked.extra_applications);
    let output = erlang::run(&mut escript)?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        let (out, why) = (String::from_utf8_lossy(&output.stdout), why.trim());
        let lacks = why.contains("is not in this Erlang/OTP");
        let help = if lacks { " (Debian has one package for each: apt-get install erlang-NAME)" } else { "" };
        bail!("cannot put the applications of the release together: {why}{help}{out}");
    }
    Ok(())
}

/// The runtime system.
fn runtime(erlang: &Erlang, folder: &Path) -> Result<()> {
    let own = format!("erts-{}/bin", erlang.erts);
    let (from, to) = (erlang.root.join(&own), folder.join(&own));
    fs::create_dir_all(&to).with_context(|| format!("cannot make {}", to.display()))?;
    for name in PROGRAMS {
        // Links are followed: the release stands alone.
        let program = from.join(name);
        fs::copy(&program, to.join(name)).with_context(|| format!("cannot copy {}", program.display()))?;
    }
    Ok(())
}

/// What the VM reads when it starts, and what the launcher reads.
fn settings(built: &Built, folder: &Path, erlang: &Erlang, cookie: &str) -> Result<()> {
    let Config { vm, realtime, release, test: _ } = &built.config;
    let version = &built.project.version;
    let own = folder.join("releases").join(version);
    let clean = erlang.root.join("bin/no_dot_erlang.boot");
    fs::copy(&clean, own.join("start_clean.boot")).with_context(|| format!("cannot copy {}", clean.display()))?;
    match &vm.config {
        Some(file) => drop(fs::copy(file, own.join("sys.config"))?),
        None => fs::write(
            own.join("sys.config"),
            "%% Parameters of applications: [{application, [{parameter, value}]}].\n[].\n",
        )?,
    }
    let flags: String = vm.all_flags().iter().map(|flag| format!("{}\n", in_args_file(flag))).collect();
    let more = release.vm_args.as_ref().map(fs::read_to_string).transpose()?.unwrap_or_default();
    fs::write(own.join("vm.args"), format!("# Flags of the VM, see erl(1).\n{flags}{more}"))?;
    let secret = folder.join("releases/COOKIE");
    fs::write(&secret, cookie)?;
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600))?;
    let mut launch = format!("name {}\nversion {version}\n", built.name);
    if release.include_erts {
        let _ = writeln!(launch, "erts {}", erlang.erts);
    }
    if let Some(node) = Node::meant(&Naming::default(), vm, &built.name) {
        let _ = writeln!(launch, "node {}", node.name);
    }
    if let Some(realtime) = realtime {
        let _ = writeln!(launch, "realtime {}|{}", realtime.flags().join(" "), realtime.passed_on());
    }
    fs::write(folder.join("releases/launch"), launch)?;
    Ok(())
}

/// A flag as one word of an arguments file, where quotes and spaces have a meaning.
fn in_args_file(flag: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "+-_.,:/@=".contains(letter);
    if !flag.is_empty() && flag.chars().all(plain) {
        return flag.to_owned();
    }
    format!("\"{}\"", flag.replace('\\', "\\\\").replace('"', "\\\""))
}
