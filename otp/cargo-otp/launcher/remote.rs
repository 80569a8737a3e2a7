//! Asks a running node to evaluate an expression: the flags of a second VM that does so and ends.
//!
//! `cargo otp console --eval` and a release's `eval` and `stop` have this in common.

/// What the second VM evaluates; the node and the expression are its plain arguments. Exit status 3 says that the node cannot be
/// reached, 1 that the expression is at fault.
///
/// The expression is taken apart here, so a mistake in it is told without asking the node, and evaluated there. What it
/// writes comes out here, as rpc gives the caller's group leader to what it starts.
const ASK: &str = "
    io:setopts([{encoding, unicode}]), io:setopts(standard_error, [{encoding, unicode}]),
    Fail = fun(Code, Form, Values) -> io:format(standard_error, \"error: \" ++ Form ++ \"~n\", Values), halt(Code) end,
    [Name, Text] = init:get_plain_arguments(),
    Node = list_to_atom(Name),
    Tokens = case erl_scan:string(string:trim(Text, trailing, \" .\\n\") ++ \".\") of
        {ok, Scanned, _} -> Scanned;
        {error, {_, _, Odd}, _} -> Fail(1, \"~ts\", [erl_scan:format_error(Odd)])
    end,
    Expressions = case erl_parse:parse_exprs(Tokens) of
        {ok, Parsed} -> Parsed;
        {error, {_, _, Wrong}} -> Fail(1, \"~ts\", [erl_parse:format_error(Wrong)])
    end,
    case net_kernel:connect_node(Node) of
        true -> ok;
        _ -> Fail(3, \"~ts cannot be reached: it does not run, or has another cookie\", [Name])
    end,
    case rpc:call(Node, erl_eval, exprs, [Expressions, []]) of
        {value, Value, _} -> io:format(\"~tp~n\", [Value]), halt();
        {badrpc, {'EXIT', {Why, _}}} -> Fail(1, \"~tp\", [Why]);
        {badrpc, Why} -> Fail(1, \"~tp\", [Why])
    end.";

/// The flags that make `erl` ask `node`, a node of that `kind` (`-name` or `-sname`), to evaluate `expression`.
pub fn flags<'a>(kind: &'a str, own: &'a str, node: &'a str, expression: &'a str) -> Vec<&'a str> {
    vec!["-noinput", "-hidden", "-dist_listen", "false", kind, own, "-eval", ASK, "-extra", node, expression]
}
