//! `cargo otp upgrade`: takes a running application to a build of the sources as they are now.
//!
//! The new build does the upgrade itself (`otp_upgrade.erl`): a second VM, like the one of `console --eval`, has the node load
//! the upgrade module of the new build and calls it. The upgrade's report comes back as lines, each a word and a text.

use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use crate::build::{Built, build};
use crate::exit::FAILED;
use crate::node::{Naming, Node, full, must_run, own};
use crate::project::What;
use crate::{erlang, say};

/// Which node is upgraded, and how patiently.
#[derive(Args, Clone, Debug)]
pub(crate) struct Whom {
    #[command(flatten)]
    naming: Naming,
    /// How long callbacks that are under way may take to come to their end
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    timeout: u32,
    /// Upgrade only if every process goes over, and none stays in the build that it began in
    #[arg(long)]
    strict: bool,
}

/// What the second VM evaluates; its plain arguments are the node, the folder of the modules, the application, the module that
/// does it, how long it may take, and whether processes may stay in their build.
const ASK: &str = "
    io:setopts([{encoding, unicode}]),
    Say = fun(Word, Text) -> io:format(\"~ts\\t~ts~n\", [Word, re:replace(Text, \"\\n\", \"\\\\\\\\n\", [global, unicode, {return, list}])]) end,
    [Name, Ebin, Application, Half, Time, Mode] = init:get_plain_arguments(),
    [Node, Module] = [list_to_atom(Text) || Text <- [Name, Half]],
    Fail = fun(Form, Values) -> Say(\"error\", io_lib:format(Form, Values)), halt(1) end,
    case net_kernel:connect_node(Node) of
        true -> ok;
        _ -> Fail(\"~ts cannot be reached: it does not run, or has another cookie\", [Name])
    end,
    Call = fun(Where, Function, Arguments) ->
        case rpc:call(Node, Where, Function, Arguments) of
            {badrpc, Why} -> Fail(\"~ts gave no answer: ~tp\", [Name, Why]);
            Value -> Value
        end
    end,
    case Call(erlang, module_loaded, [Module]) orelse Call(code, load_abs, [filename:join(Ebin, Half)]) of
        true -> ok;
        {module, Module} -> ok;
        {error, Odd} -> Fail(\"~ts cannot load ~ts from ~ts: ~tp\", [Name, Module, Ebin, Odd])
    end,
    Options = #{application => list_to_atom(Application), ebin => Ebin, timeout => list_to_integer(Time) * 1000,
                mode => list_to_atom(Mode)},
    {Outcome, Lines} = Call(Module, main, [Options]),
    [Say(Word, Text) || {Word, Text} <- Lines],
    Outcome =:= ok orelse begin Call(code, delete, [Module]), Call(code, soft_purge, [Module]), halt(1) end,
    halt(0).";

pub(crate) fn upgrade(what: &What, whom: &Whom) -> Result<ExitCode> {
    // Built first: a mistake in the sources is told whether or not anything runs.
    let built = build(what)?;
    let Some(node) = Node::meant(&whom.naming, &built.config.vm, &built.name) else {
        bail!("otp.toml gives the node no name (name = false), so nothing can reach it");
    };
    let node = Node { name: full(&node), ..node };
    must_run(&node)?;
    say::step("Upgrading", format_args!("{} in {}", built.name, node.name));
    let lines = asked(&built, &node, whom)?;
    let (mut wrong, mut notes) = (Vec::new(), Vec::new());
    for (word, text) in &lines {
        match word.as_str() {
            "error" => wrong.push(text.as_str()),
            "warning" => say::warning(text),
            "note" => notes.push(text),
            word => say::step(word, text),
        }
    }
    if !wrong.is_empty() {
        let why = anyhow!("{}", wrong.join("\n"));
        say::error(&why.context(format!("{} goes on in the build before: nothing was changed", built.name)));
        notes.iter().for_each(say::note);
        return Ok(ExitCode::from(FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the new build says of its upgrade, as words and texts.
fn asked(built: &Built, node: &Node, whom: &Whom) -> Result<Vec<(String, String)>> {
    let mut erl = erlang::helper("erl")?;
    erl.args(["-boot", "no_dot_erlang", "-noinput", "-hidden", "-dist_listen", "false"]);
    erl.args([if node.short { "-sname" } else { "-name" }, &own(node)]);
    if let Some(cookie) = &node.cookie {
        erl.args(["-setcookie", cookie]);
    }
    erl.args(["-eval", ASK, "-extra", &node.name]).arg(built.ebin());
    erl.args([&built.name, &format!("{}_upgrade", built.native), &whom.timeout.to_string()]);
    erl.arg(if whom.strict { "strict" } else { "lenient" });
    say::command(&erl);
    let output = erl.stderr(Stdio::inherit()).output().context("cannot start erl")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let lines = said.lines().filter_map(|line| line.split_once('\t'));
    let lines: Vec<_> = lines.map(|(word, text)| (word.to_owned(), text.replace("\\n", "\n"))).collect();
    if lines.is_empty() {
        bail!("the VM that asks {} ended without a word: {said}", node.name);
    }
    Ok(lines)
}
