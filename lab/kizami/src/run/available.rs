//! Availability: the jobs of a plan that can run on this machine. The others are left out, each with a sentence that
//! says why.

use std::sync::atomic::AtomicBool;

use kizami_environments::Environment;
use kizami_settings::{Root, system};
use kizami_studies::{Missing, Plan, Planned, Start};
use kizami_workloads::Part;

/// Takes out of `plan` what cannot run here, as far as that is seen without a start; gives a sentence for each reason.
pub fn keep_available(plan: &mut Plan, root: &Root) -> Vec<String> {
    keep(plan, |planned| obstacle(planned, root))
}

/// Takes out of `plan` what does not start here; `starting` is called before each environment is started for the first time.
pub fn keep_working(plan: &mut Plan, interrupt: &AtomicBool, starting: impl Fn(&dyn Environment)) -> Vec<String> {
    let mut known: Vec<(&str, Option<String>)> = Vec::new();
    keep(plan, |planned| {
        let environment = planned.job.environment;
        if let Some((_, obstacle)) = known.iter().find(|(name, _)| *name == environment.name()) {
            return obstacle.clone();
        }
        starting(environment);
        let tried = |()| environment.tried(&planned.job.settings, interrupt);
        let obstacle = environment.prepared().and_then(tried).err();
        let obstacle = obstacle.map(|why| format!("{} is not measured: {why}", environment.name()));
        known.push((environment.name(), obstacle.clone()));
        obstacle
    })
}

fn keep(plan: &mut Plan, mut obstacle: impl FnMut(&Planned) -> Option<String>) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut keep = Vec::with_capacity(plan.jobs.len());
    for planned in &plan.jobs {
        let obstacle = obstacle(planned);
        if let Some(sentence) = obstacle.clone().filter(|s| !sentences.contains(s)) {
            sentences.push(sentence);
        }
        keep.push(obstacle.is_none());
    }
    // Indices of what stays, after the others are gone.
    let index: Vec<Option<usize>> = keep
        .iter()
        .scan(0, |next, keep| {
            let index = keep.then_some(*next);
            *next += usize::from(*keep);
            Some(index)
        })
        .collect();
    let mut kept = keep.iter();
    plan.jobs.retain(|_| *kept.next().unwrap_or(&true));
    plan.order = plan.order.iter().filter_map(|s| Some(Start { job: index[s.job]?, trial: s.trial })).collect();
    sentences
}

/// Why a job cannot run here.
fn obstacle(planned: &Planned, root: &Root) -> Option<String> {
    let environment = planned.job.environment;
    if let Err(why) = environment.available() {
        return Some(format!("{} is not measured: {why}", environment.name()));
    }
    if let Some(sentence) = too_large(planned, root) {
        return Some(sentence);
    }
    if planned.missing == Missing::Run {
        return None;
    }
    let settings = planned.job.of_machine();
    let missing = settings.written().into_keys().find(|name| system::is_missing(root, name))?;
    Some(format!("this machine has no {missing}: what needs it is not measured"))
}

/// Says that the memory of this machine does not hold the samples of one trial: the lab keeps room for all of them, and
/// where that is more than there is, the kernel would end the run, or another program.
fn too_large(planned: &Planned, root: &Root) -> Option<String> {
    let meminfo = root.get("proc/meminfo")?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line.split_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024);
    let of_part = |part: &Part| part.rows.saturating_mul(part.columns.len() as u64 * 8);
    let needed = planned.parts.iter().map(of_part).fold(0, u64::saturating_add);
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    (needed > available).then(|| {
        format!(
            "{} is not measured: the samples of one trial take {} MiB, and {} MiB of memory are available; ask for fewer \
             samples in a trial, and for more --trials",
            title(planned),
            mib(needed),
            mib(available)
        )
    })
}

/// A few words for a job: its workload, and what was asked for beyond it.
pub fn title(planned: &Planned) -> String {
    let job = &planned.job;
    let mut words = vec![job.workload().name.to_owned()];
    if job.environment.name() != "host" {
        words.push(format!("in {}", job.environment.name()));
    }
    for (name, value) in job.requested() {
        words.push(format!("{name}={value}"));
    }
    let defaults = job.workload().params;
    for (name, value) in job.params.written() {
        let is_default = defaults
            .iter()
            .any(|p| p.name == name && p.kind.parse(p.default).map(|d| p.kind.write(d)) == Ok(value.clone()));
        let is_size =
            ["iterations", "cycles", "samples", "trips", "trials", "duration", "rounds"].contains(&name.as_str());
        if !is_default && !is_size {
            words.push(format!("{name}={value}"));
        }
    }
    words.join(" ")
}
