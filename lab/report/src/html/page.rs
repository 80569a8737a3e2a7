//! The frame of the page: its head and its style sheet.

use crate::plot::theme;

use super::parts::escape;

/// Type on a wide measure for figures and a narrow one for prose; colours are the figures' own.
const STYLE: &str = "
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:880px;padding:0 20px 80px;background:var(--k-paper);color:var(--k-ink);
 font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif}
h1{font-size:clamp(28px,5vw,42px);line-height:1.12;letter-spacing:-.02em;margin:.1em 0 .3em;text-wrap:balance}
h2{font-size:25px;line-height:1.2;letter-spacing:-.01em;margin:0 0 .5em}
h3{font-size:18px;line-height:1.3;margin:0 0 .4em}
p{margin:.5em 0;max-width:68ch}
a{color:inherit;text-decoration-color:var(--k-axis);text-underline-offset:3px}
a:hover{text-decoration-color:currentColor}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;background:var(--k-band);
 padding:.1em .4em;border-radius:4px;overflow-wrap:anywhere}
header{padding:48px 0 8px}
.brand{font-weight:650;letter-spacing:.02em;margin:0;color:var(--k-accent)}
.brand span{font-weight:400;opacity:.75;margin-left:.3em}
.lead{font-size:18px;margin:.2em 0}
.when,.note,.paper,.source,figcaption,.shown{color:var(--k-muted)}
.when,.note,figcaption,.shown,.source{font-size:13.5px}
.paper{font-style:italic}
.warning{border-left:3px solid var(--k-warn);padding:.2em 0 .2em 12px;font-size:14.5px}
.findings{margin:28px 0 8px}
.findings ol{list-style:none;counter-reset:f;margin:0;padding:0;display:grid;gap:14px;
 grid-template-columns:repeat(auto-fit,minmax(250px,1fr))}
.findings ol>li{counter-increment:f;border-top:3px solid var(--k-accent);padding:12px 2px 0}
.findings ol>li::before{content:counter(f);color:var(--k-accent);font-weight:650}
.findings h3{font-size:17px;margin:.2em 0 .4em}
.findings p{font-size:14.5px;margin:0;color:var(--k-muted)}
.findings details{margin-top:16px}
.also{padding-left:18px}.also h3{font-size:15px}.also li{margin:.6em 0}
nav{border-top:1px solid var(--k-grid);border-bottom:1px solid var(--k-grid);margin:28px 0;padding:14px 0;font-size:14.5px}
nav>ul{display:grid;gap:14px 28px;grid-template-columns:repeat(auto-fit,minmax(220px,1fr))}
nav ul{list-style:none;margin:0;padding:0}
nav>ul>li>a{font-weight:600;text-decoration:none}
nav ul ul a{color:var(--k-muted);text-decoration:none}
nav ul ul a:hover{text-decoration:underline}
.chapter{margin-top:56px}
.group{margin-top:44px}
.claims{margin:22px 0}
.claims ul{list-style:none;margin:0;padding:0}
.claims li{display:grid;grid-template-columns:118px 1fr;gap:10px;padding:8px 0;border-top:1px solid var(--k-grid);font-size:15px}
.verdict{font-size:13px;font-weight:650;padding-top:2px}
.holds .verdict::before{content:'✓ '}.fails .verdict::before{content:'✗ '}.open .verdict::before{content:'– '}
.holds .verdict{color:var(--k-8)}
.fails .verdict{color:var(--k-warn)}
.open .verdict{color:var(--k-muted)}
.decisions{margin:26px 0;padding:18px 20px 14px;border:1px solid var(--k-axis);border-radius:10px}
.decisions h2{font-size:20px;margin:0 0 .2em}.decisions h3{font-size:15px;margin:18px 0 .2em;color:var(--k-muted)}
.decisions ul{list-style:none;margin:10px 0 0;padding:0}
.decisions li{display:grid;grid-template-columns:140px 1fr;gap:10px;padding:8px 0;border-top:1px solid var(--k-grid);font-size:15px}
.required{margin:0;font-weight:600}.costs,.helps{font-size:13.5px}.helps{font-weight:600}.ask{color:var(--k-muted);font-size:14px}
.scroll{overflow-x:auto;margin:14px -20px;padding:0 20px;scrollbar-width:thin;
 background:linear-gradient(to right,var(--k-paper) 50%,transparent) 0 0/48px 100% no-repeat local,
 linear-gradient(to left,var(--k-paper) 50%,transparent) 100% 0/48px 100% no-repeat local,
 linear-gradient(to right,var(--k-axis),transparent) 0 0/20px 100% no-repeat scroll,
 linear-gradient(to left,var(--k-axis),transparent) 100% 0/20px 100% no-repeat scroll}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:5px 10px;text-align:left;vertical-align:baseline;white-space:nowrap}
th:first-child{padding-left:0}
.scroll tbody th:first-child{white-space:normal;min-width:10em}
thead th{font-size:12.5px;font-weight:600;color:var(--k-muted);border-bottom:1px solid var(--k-axis)}
tbody th{font-weight:500}
tbody tr{border-top:1px solid var(--k-grid)}
.n{text-align:right}
.published{border-top:0}
.published th,.published td{color:var(--k-muted);font-size:13px;padding-top:0;font-weight:400}
.published th:first-child{padding-left:14px}
.missing td{color:var(--k-muted);white-space:normal}
figure{margin:26px 0}
figcaption{margin-top:4px}
details{margin:12px 0}
summary{cursor:pointer;color:var(--k-muted);font-size:14.5px}
dl{display:grid;grid-template-columns:minmax(120px,auto) 1fr;gap:2px 18px;font-size:13.5px;margin:12px 0}
dt{color:var(--k-muted)}dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:72px;border-top:1px solid var(--k-grid);padding-top:28px;font-size:14.5px}
@media (max-width:600px){body{padding:0 16px 60px}header{padding-top:28px}.claims li,.decisions li{grid-template-columns:1fr;gap:0}
 .decisions{padding:14px 14px 10px}
 .scroll{margin:14px -16px;padding:0 16px}dl{grid-template-columns:1fr}dd{margin-bottom:6px}
 .scroll tbody th:first-child{min-width:104px}
 .wide,.wide thead,.wide tbody{display:block}.wide thead tr{display:block}.wide thead th:not(:first-child){display:none}
 .wide thead th{display:block}.wide tbody tr{display:grid;grid-template-columns:repeat(3,1fr);gap:7px 14px;padding:9px 0}
 .wide th,.wide td{padding:0}.wide tbody th{grid-column:1/-1;font-weight:600}.wide td{text-align:left}.wide td:empty{display:none}
 .wide td::before{content:attr(data-of);display:block;font-size:11.5px;line-height:1.3;color:var(--k-muted)}
 .wide tbody .published{display:flex;flex-wrap:wrap;justify-content:flex-end;gap:0 14px;padding:0 0 5px;border:0}
 .wide .published th{flex:1 1 60%;font-weight:400;padding-left:14px}.wide .published td::before{display:inline;margin-right:5px}
 .wide .missing td{grid-column:1/-1}.wide .missing td::before{display:none}}
@media print{nav,details{display:none}body{max-width:none}}
";

/// The page around `body`.
pub fn wrap(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"kizami\">\n<title>{}</title>\n<style>{}{}{STYLE}</style>\n</head>\n\
         <body>\n{body}\n</body>\n</html>\n",
        escape(title),
        theme::css(),
        theme::page_css(),
    )
}
