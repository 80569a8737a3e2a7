//! The package that a command is about, and its folders, as cargo knows them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use cargo_metadata::{CrateType, Metadata, Package, PackageId, Target, TargetKind};
use clap::Args;

use crate::say;

/// Which application, and how it is compiled; as cargo has it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct What {
    /// Path to the application's Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The package that is the application, in a workspace of several
    #[arg(short, long, value_name = "SPEC", help_heading = "Package selection")]
    pub(crate) package: Option<String>,
    /// Build with optimisations
    #[arg(short, long, conflicts_with = "profile", help_heading = "Compilation options")]
    pub(crate) release: bool,
    /// Build with this profile of Cargo.toml
    #[arg(long, value_name = "PROFILE", help_heading = "Compilation options")]
    pub(crate) profile: Option<String>,
    /// Features to turn on, with spaces or commas between them
    #[arg(short = 'F', long, value_name = "FEATURES", help_heading = "Feature selection")]
    features: Vec<String>,
    /// Turn all features on
    #[arg(long, help_heading = "Feature selection")]
    all_features: bool,
    /// Do not turn on the `default` feature
    #[arg(long, help_heading = "Feature selection")]
    no_default_features: bool,
    /// Folder for all that is built
    #[arg(long, value_name = "FOLDER", help_heading = "Compilation options")]
    target_dir: Option<PathBuf>,
    /// How many jobs run at once
    #[arg(short, long, value_name = "N", allow_hyphen_values = true, help_heading = "Compilation options")]
    jobs: Option<String>,
    /// Keep Cargo.lock as it is
    #[arg(long, help_heading = "Manifest options")]
    locked: bool,
    /// Do without the network
    #[arg(long, help_heading = "Manifest options")]
    offline: bool,
    /// Both --locked and --offline
    #[arg(long, help_heading = "Manifest options")]
    frozen: bool,
}

impl What {
    /// The folder of this profile, as cargo names it.
    pub(crate) fn profile_folder(&self) -> &str {
        match self.profile.as_deref() {
            None if self.release => "release",
            None | Some("dev" | "test") => "debug",
            Some("bench") => "release",
            Some(other) => other,
        }
    }

    /// The profile that cargo builds with.
    pub(crate) fn profile_name(&self) -> &str {
        self.profile.as_deref().unwrap_or(if self.release { "release" } else { "dev" })
    }

    /// A command of cargo's about these packages.
    fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.arg(subcommand);
        let flags = [("--locked", self.locked), ("--offline", self.offline), ("--frozen", self.frozen)];
        cargo.args(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| flag));
        cargo
    }

    /// A command of cargo's that compiles `project`.
    pub(crate) fn compile(&self, subcommand: &str, project: &Project) -> Command {
        let mut cargo = self.cargo(subcommand);
        cargo.arg("--manifest-path").arg(&project.manifest).args(["--package", &project.name]);
        cargo.arg("--target-dir").arg(&project.target);
        let flags = [("--all-features", self.all_features), ("--no-default-features", self.no_default_features)];
        cargo.args(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| flag));
        cargo.args(self.features.iter().flat_map(|features| ["--features", features]));
        if self.release {
            cargo.arg("--release");
        }
        for (flag, value) in [("--profile", &self.profile), ("--jobs", &self.jobs)] {
            if let Some(value) = value {
                cargo.args([flag, value]);
            }
        }
        let output = say::output();
        cargo.args((0..output.verbose).map(|_| "-v"));
        if output.quiet {
            cargo.arg("--quiet");
        }
        if let Some(colour) = output.color {
            cargo.args(["--color", &format!("{colour:?}").to_lowercase()]);
        }
        cargo
    }
}

/// The package that is the application.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) id: PackageId,
    pub(crate) version: String,
    pub(crate) manifest: PathBuf,
    /// The folder of the workspace, whose Cargo.toml has the profiles.
    pub(crate) workspace: PathBuf,
    /// What cargo calls the library: the package's name, with underscores only.
    pub(crate) library: String,
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
    /// The packages of the workspace that this one depends on, and that depend on `kizami-otp`: as they are named in Rust.
    pub(crate) behind: Vec<String>,
}

impl Project {
    /// # Errors
    /// When there is none, or more than one and nothing says which.
    pub(crate) fn find(what: &What) -> Result<Self> {
        let metadata = metadata(what)?;
        let package = choose(&metadata, what)?;
        let library = application(package).with_context(|| {
            let members = metadata.workspace_packages();
            let others =
                members.iter().filter(|one| application(one).is_some()).map(|one| format!("`-p {}`", one.name));
            let others: Vec<_> = others.collect();
            let meant =
                if others.is_empty() { String::new() } else { format!(", or {} is meant", others.join(" or ")) };
            format!(
                "`{}` makes no library for a VM: its Cargo.toml needs [lib] crate-type = [\"cdylib\"]{meant}",
                package.name
            )
        })?;
        let target = what.target_dir.clone().unwrap_or_else(|| metadata.target_directory.clone().into());
        Ok(Self {
            name: package.name.to_string(),
            id: package.id.clone(),
            version: package.version.to_string(),
            manifest: package.manifest_path.clone().into(),
            workspace: metadata.workspace_root.clone().into(),
            library: library.name.clone(),
            target: std::path::absolute(&target).with_context(|| format!("{} is no folder", target.display()))?,
            behind: behind(&metadata, package),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("."))
    }

    /// Where all that is made of the application lies.
    pub(crate) fn output(&self) -> PathBuf {
        self.target.join("otp")
    }
}

fn metadata(what: &What) -> Result<Metadata> {
    let mut cargo = what.cargo("metadata");
    cargo.args(["--no-deps", "--format-version", "1"]);
    if let Some(path) = &what.manifest_path {
        cargo.arg("--manifest-path").arg(path);
    }
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata says what is not understood")
}

/// The library that a VM can load.
fn application(package: &Package) -> Option<&Target> {
    package
        .targets
        .iter()
        .find(|target| target.crate_types.contains(&CrateType::CDyLib) && target.kind != [TargetKind::Example])
}

/// The package that was named, or the one whose folder this is, or the only application of the workspace.
fn choose<'a>(metadata: &'a Metadata, what: &What) -> Result<&'a Package> {
    let members = metadata.workspace_packages();
    let names = |packages: &[&Package]| packages.iter().map(|one| one.name.to_string()).collect::<Vec<_>>();
    if let Some(name) = &what.package {
        let named = members.iter().find(|package| package.name == name.as_str());
        return named.copied().ok_or_else(|| {
            let all = names(&members);
            anyhow!("there is no package `{name}` in this workspace{}", nearest(name, &all))
        });
    }
    let manifest = match &what.manifest_path {
        Some(path) => path.canonicalize().ok(),
        None => std::env::current_dir()?.ancestors().map(|one| one.join("Cargo.toml")).find(|one| one.is_file()),
    };
    let same = |package: &&&Package| Some(package.manifest_path.as_std_path()) == manifest.as_deref();
    if let Some(package) = members.iter().find(same) {
        return Ok(package);
    }
    let candidates: Vec<_> =
        metadata.workspace_default_packages().into_iter().filter(|package| application(package).is_some()).collect();
    match candidates.as_slice() {
        [one] => Ok(one),
        [] => bail!(
            "no package of this workspace is an application: the Cargo.toml of one needs\n\n    [lib]\n    \
             crate-type = [\"cdylib\"]\n\nand its lib.rs `otp::application!(root);`"
        ),
        several => bail!("which application is meant? Choose with -p one of: {}", names(several).join(", ")),
    }
}

/// The members of the workspace whose behaviours may be linked into this one.
fn behind(metadata: &Metadata, package: &Package) -> Vec<String> {
    let on_otp = |one: &&&Package| one.dependencies.iter().any(|dependency| dependency.name == "kizami-otp");
    let members = metadata.workspace_packages();
    let with_behaviours: Vec<_> = members.iter().filter(on_otp).collect();
    let wanted = package.dependencies.iter().filter(|dependency| {
        dependency.kind == cargo_metadata::DependencyKind::Normal
            && !dependency.optional
            && with_behaviours.iter().any(|one| one.name == dependency.name.as_str())
    });
    wanted.map(|one| one.rename.as_ref().unwrap_or(&one.name).replace('-', "_")).collect()
}

/// `: did you mean …?`, if one of `all` is near.
pub(crate) fn nearest(name: &str, all: &[impl AsRef<str>]) -> String {
    let near = all.iter().map(|one| (strsim::damerau_levenshtein(name, one.as_ref()), one.as_ref()));
    match near.filter(|(distance, one)| *distance <= 1 + one.len() / 4).min() {
        Some((_, near)) => format!(": did you mean `{near}`?"),
        None => String::new(),
    }
}
