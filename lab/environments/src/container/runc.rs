//! runc: a container as the Open Container Initiative's runtime specification describes it, without a daemon.
//!
//! Its root file system is an empty folder, in which the file of the probe is mounted. A layer for files is an overlay that
//! is mounted in the container alone. A runc that is killed leaves its container, so a keeper deletes it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use kizami_protocol::Keep;
use serde_json::{Value, json};

use super::engine::{Asked, Below, Engine, Files, PROBE, Prepared, SCRATCH, SHARED, is_layer};
use crate::error::Error;
use crate::locate;

/// See the module.
pub(super) struct Runc;

impl Engine for Runc {
    fn name(&self) -> &'static str {
        "runc"
    }

    fn title(&self) -> &'static str {
        "a container of runc, which Docker and Kubernetes start theirs with"
    }

    fn package(&self) -> &'static str {
        "runc"
    }

    fn files(&self, scratch: &Path) -> Files {
        if is_layer(scratch) { Files::Bind } else { Files::Overlay }
    }

    fn has(&self, setting: &str) -> bool {
        ["files_on", "init", "cpu_limit", "cpuset", "cgroup_depth", "memory_limit"].contains(&setting)
    }

    fn starting(&self) -> f64 {
        0.15
    }

    fn versions(&self) -> Vec<(String, String)> {
        let program = locate::program(self.name(), self.package()).ok();
        let said = program.and_then(|path| locate::version(&path, &["--version"]));
        said.map(|version| (self.name().to_owned(), version)).into_iter().collect()
    }

    fn prepare(&self, asked: &Asked<'_>) -> Result<Prepared, Error> {
        let program = locate::program(self.name(), self.package()).map_err(Error::Unusable)?;
        let root = asked.folder.join("rootfs");
        let state = asked.folder.join("state");
        let layers = ["lower", "upper", "work"].map(|name| asked.folder.join(name));
        for folder in [&root, &state].into_iter().chain(&layers) {
            fs::create_dir_all(folder).map_err(Error::os(format!("make the folder {}", folder.display())))?;
        }
        if let Some(below) = asked.below {
            put(below, &layers[0])?;
        }
        let config = asked.folder.join("config.json");
        fs::write(&config, specification(asked)?.to_string())
            .map_err(Error::os(format!("write {}", config.display())))?;
        let mut command = Command::new(&program);
        command.arg("--root").arg(&state).arg("run").arg("--bundle").arg(asked.folder).arg(asked.name);
        let words = [&program, &state].map(|path| path.to_string_lossy().into_owned());
        let [program, state] = words;
        let delete = ["--root", &state, "delete", "--force", asked.name].map(str::to_owned);
        let run = vec![[vec![program], delete.to_vec()].concat()];
        // runc removes the innermost group, and leaves those above it.
        let keep = Keep { run, cgroup: Some(asked.name.to_owned()), ..Keep::default() };
        Ok(Prepared { command, keep: Some(keep) })
    }
}

/// Makes the files of the layer below.
fn put(below: Below, layer: &Path) -> Result<(), Error> {
    for path in below.paths() {
        let path = layer.join(path);
        let make = || -> io::Result<()> {
            fs::create_dir_all(path.parent().unwrap_or(layer))?;
            io::copy(&mut below.content(), &mut File::create(&path)?).map(drop)
        };
        make().map_err(Error::os(format!("make {}", path.display())))?;
    }
    Ok(())
}

/// The file config.json, see config.md and config-linux.md of the specification.
fn specification(asked: &Asked<'_>) -> Result<Value, Error> {
    let mount = |destination: &str, kind: &str, options: &[&str]| json!({ "destination": destination, "type": kind, "source": kind, "options": options });
    let bind = |destination: &str, source: &Path, options: &[&str]| json!({ "destination": destination, "type": "bind", "source": source, "options": options });
    let files = match asked.files {
        Files::Bind => bind(SCRATCH, asked.scratch, &["bind"]),
        Files::Tmpfs => mount(SCRATCH, "tmpfs", &["mode=1777"]),
        Files::Overlay if is_layer(asked.folder) => {
            let folder = asked.folder.display();
            return Err(Error::Unusable(format!(
                "{folder} lies on an overlay, and no other can be above it: choose a folder on a disk with --out, or files_on=bind"
            )));
        }
        Files::Overlay => {
            let folder = asked.folder.to_str().filter(|path| !path.contains([':', ',', '\\']));
            let folder = folder.ok_or_else(|| {
                let folder = asked.folder.display();
                Error::Unusable(format!(
                    "an overlay cannot be in {folder}, whose path has one of : , \\: choose another with --out"
                ))
            })?;
            let layers = [("lowerdir", "lower"), ("upperdir", "upper"), ("workdir", "work")];
            let layers = layers.map(|(option, name)| format!("{option}={folder}/{name}"));
            mount(SCRATCH, "overlay", &layers.each_ref().map(String::as_str))
        }
    };
    let capabilities: Vec<_> = ["AUDIT_WRITE", "KILL", "NET_BIND_SERVICE"].iter().chain(asked.capabilities).collect();
    let capabilities: Vec<_> = capabilities.into_iter().map(|name| format!("CAP_{name}")).collect();
    let mut resources = json!({ "devices": [{ "allow": false, "access": "rwm" }] });
    if let Some(bytes) = asked.memory {
        resources["memory"] = json!({ "limit": bytes, "swap": bytes });
    }
    if let Some(processors) = asked.cpu_limit {
        const PERIOD: u64 = 100_000;
        resources["cpu"]["period"] = json!(PERIOD);
        resources["cpu"]["quota"] = json!((processors * PERIOD as f64).round() as u64);
    }
    if let Some(microseconds) = asked.real_time {
        resources["cpu"]["realtimePeriod"] = json!(1_000_000);
        resources["cpu"]["realtimeRuntime"] = json!(microseconds);
    }
    if let Some(cpus) = asked.cpuset {
        resources["cpu"]["cpus"] = json!(cpus);
    }
    let namespaces = ["pid", "network", "ipc", "uts", "mount"].map(|kind| json!({ "type": kind }));
    let arguments: Vec<_> = asked.program().collect();
    Ok(json!({
        "ociVersion": "1.0.2",
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": arguments,
            "env": ["PATH=/"],
            "cwd": "/",
            "capabilities": { "bounding": capabilities, "effective": capabilities, "permitted": capabilities },
            "noNewPrivileges": true,
        },
        "root": { "path": "rootfs", "readonly": false },
        "hostname": "kizami",
        "mounts": [
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("/dev/shm", "tmpfs", &["nosuid", "noexec", "nodev", "mode=1777"]),
            mount("/dev/mqueue", "mqueue", &["nosuid", "noexec", "nodev"]),
            mount("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
            bind(PROBE, asked.probe, &["bind", "ro"]),
            bind(SHARED, asked.shared, &["bind"]),
            files,
        ],
        "linux": {
            "namespaces": namespaces,
            "resources": resources,
            "cgroupsPath": group(asked),
        },
    }))
}

/// The path of its control group. The outermost is named like the container.
fn group(asked: &Asked<'_>) -> String {
    (2..=asked.depth.unwrap_or(1)).fold(format!("/{}", asked.name), |path, depth| format!("{path}/{depth}"))
}
