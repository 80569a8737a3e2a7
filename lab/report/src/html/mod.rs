//! The report as one HTML file: no scripts, no external resources, readable in light and dark and on a telephone.

mod decisions;
mod page;
mod parts;

use crate::report::{Chapter, Report};
use crate::section::Section;

use parts::{claims, diagnoses, escape, facts, findings, footer, prose, table};

/// The whole page.
pub fn page(report: &Report) -> String {
    let mut body = String::new();
    body.push_str(&header(report));
    body.push_str(&decisions::boxes(report));
    body.push_str(&findings(report));
    body.push_str(&contents(report));
    body.push_str(&machine(report));
    for one in &report.chapters {
        body.push_str(&chapter(one));
    }
    body.push_str(&footer(report));
    page::wrap(&title(report), &body)
}

fn title(report: &Report) -> String {
    if report.is_imported() {
        let tools: Vec<String> =
            report.recording.tools.iter().map(|(name, version)| format!("{name} {version}")).collect();
        return if tools.is_empty() { "Imported samples".into() } else { format!("Samples of {}", tools.join(", ")) };
    }
    let host = report.recording.host.get("hostname").map_or("this machine", String::as_str);
    format!("How real-time is {host}?")
}

fn header(report: &Report) -> String {
    let recording = &report.recording;
    let machine: Vec<&str> = ["processor", "cpus", "kernel", "virtualisation"]
        .iter()
        .filter_map(|key| recording.host.get(*key).map(String::as_str))
        .collect();
    // The little that is known of an import's machine stands in its own section, and only there.
    let lead = match machine.is_empty() || report.is_imported() {
        true => String::new(),
        false => format!("<p class=\"lead\">{}</p>", escape(&machine.join(" · "))),
    };
    let mut warnings: Vec<String> = report.damage.clone();
    if recording.was_killed() {
        warnings.push("The run ended without saying so; what reached the disk is shown.".into());
    } else if recording.state == kizami_recording::folder::State::Interrupted {
        warnings.push("The run was interrupted; what was measured until then is shown.".into());
    }
    let warnings: String = warnings.iter().map(|w| format!("<p class=\"warning\">{}</p>", escape(w))).collect();
    format!(
        "<header><p class=\"brand\">kizami <span>a notch, a tick of the clock</span></p><h1>{}</h1>{lead}\
         <p class=\"when\">{} · {} · kizami {}</p>{warnings}</header>",
        escape(&title(report)),
        escape(&recording.studies.join(", ")),
        escape(&recording.started),
        escape(&recording.kizami_version),
    )
}

fn contents(report: &Report) -> String {
    let mut out = String::from("<nav aria-label=\"Contents\"><ul><li><a href=\"#machine\">The machine</a></li>");
    for chapter in &report.chapters {
        out.push_str(&format!("<li><a href=\"#{0}\">{1}</a><ul>", escape(&chapter.name), escape(&chapter.title)));
        // The only group of a workload without a study is what its chapter is.
        for section in chapter.sections.iter().filter(|section| section.title != chapter.title) {
            out.push_str(&format!("<li><a href=\"#{}\">{}</a></li>", escape(&section.id), escape(&section.title)));
        }
        out.push_str("</ul></li>");
    }
    out.push_str("</ul></nav>");
    out
}

fn machine(report: &Report) -> String {
    let host: Vec<(String, String)> =
        report.recording.host.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    if report.is_imported() {
        let known = match host.as_slice() {
            [] => "<p>The files that were imported say nothing of the machine.</p>".to_owned(),
            host => format!("<p>All that the imported files say of it:</p>{}", facts(host)),
        };
        return format!("<section id=\"machine\" class=\"chapter\"><h2>The machine</h2>{known}</section>");
    }
    format!(
        "<section id=\"machine\" class=\"chapter\"><h2>The machine</h2>{}<details><summary>Everything that is known of it\
         </summary>{}</details></section>",
        diagnoses(&report.diagnoses),
        facts(&host)
    )
}

fn chapter(chapter: &Chapter) -> String {
    let paper = match chapter.paper.as_str() {
        "" => String::new(),
        paper => format!("<p class=\"paper\">{}</p>", escape(paper)),
    };
    let sections: String = chapter.sections.iter().map(|one| section(one, chapter)).collect();
    format!(
        "<section id=\"{}\" class=\"chapter\"><h2>{}</h2>{paper}<p>{}</p>{}{sections}</section>",
        escape(&chapter.name),
        escape(&chapter.title),
        prose(&chapter.about),
        claims(&chapter.claims),
    )
}

fn section(section: &Section, chapter: &Chapter) -> String {
    let heading = match section.title == chapter.title {
        true => String::new(),
        false => format!("<h3>{}</h3>", escape(&section.title)),
    };
    let about = match section.about.is_empty() || section.about == chapter.about {
        true => String::new(),
        false => format!("<p>{}</p>", prose(&section.about)),
    };
    let tables: String = section.tables.iter().map(table).collect();
    let figures: String = section
        .figures
        .iter()
        .map(|drawn| {
            format!(
                "<figure id=\"{}\">{}<figcaption>{}</figcaption></figure>",
                escape(&drawn.name),
                drawn.figure.both_widths(),
                escape(&drawn.settings)
            )
        })
        .collect();
    let refused: String =
        section.refused.iter().map(|sentence| format!("<p class=\"warning\">{}</p>", prose(sentence))).collect();
    let each: Vec<(String, String)> =
        section.each.iter().filter(|(_, settings)| !settings.is_empty()).cloned().collect();
    let each = match each.as_slice() {
        [] => String::new(),
        each => format!("<details><summary>Settings in force for each series</summary>{}</details>", facts(each)),
    };
    format!(
        "<section id=\"{}\" class=\"group\">{heading}{about}{refused}{tables}{figures}{each}</section>",
        escape(&section.id),
    )
}
