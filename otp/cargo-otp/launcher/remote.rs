//! Evaluating an expression in a running node: the flags of a second VM that asks the node and ends.
//!
//! `cargo otp console --eval` shares this file with a release's `eval` and `stop`.

/// What the second VM evaluates; the node and the expression are its plain arguments. Exit status 3 says that the node cannot be
/// reached, 1 that the expression is at fault.
///
/// The expression is taken apart here, so a mistake in it is told without asking the node, and evaluated there. What it
/// writes comes out here, as erpc gives the caller's group leader to what it starts. What it raises is told as a shell does, from
/// its own code on.
const ASK: &str = "
    io:setopts([{encoding, unicode}]), io:setopts(standard_error, [{encoding, unicode}]),
    Fail = fun(Code, Form, Values) -> io:format(standard_error, \"error: \" ++ Form ++ \"~n\", Values), halt(Code) end,
    [Name, Text] = init:get_plain_arguments(),
    Node = list_to_atom(Name),
    Tokens = case erl_scan:string(string:trim(Text, trailing, \" .\\n\") ++ \".\") of
        {ok, [_], _} -> Fail(1, \"there is nothing to evaluate\", []);
        {ok, Scanned, _} -> Scanned;
        {error, {_, _, Strange}, _} -> Fail(1, \"~ts\", [erl_scan:format_error(Strange)])
    end,
    Expressions = case erl_parse:parse_exprs(Tokens) of
        {ok, Parsed} -> Parsed;
        {error, {_, _, Wrong}} -> Fail(1, \"~ts\", [erl_parse:format_error(Wrong)])
    end,
    case net_kernel:connect_node(Node) of
        true -> ok;
        _ -> Fail(3, \"~ts cannot be reached: it does not run, or has another cookie\", [Name])
    end,
    Odd = fun(Class, Why, Stack) ->
        Own = fun(Module, _, _) -> lists:member(Module, [erl_eval, erpc, rpc]) end,
        Told = erl_error:format_exception(Class, Why, Stack, #{stack_trim_fun => Own, encoding => unicode}),
        Fail(1, \"~ts\", [re:replace(Told, \"^exception error: \", \"\", [unicode])])
    end,
    try erpc:call(Node, erl_eval, exprs, [Expressions, []]) of
        {value, Value, _} -> io:format(\"~tp~n\", [Value]), halt()
    catch
        throw:Thrown -> Odd(throw, Thrown, []);
        exit:{exception, Reason} -> Odd(exit, Reason, []);
        exit:{signal, Signal} -> Odd(exit, Signal, []);
        error:{exception, Reason, Trace} -> Odd(error, Reason, Trace);
        error:{erpc, noconnection} -> Fail(1, \"the connection to ~ts was lost before there was a result\", [Name]);
        error:Else -> Fail(1, \"~tp\", [Else])
    end.";

/// The flags that make `erl` ask `node`, a node of that `kind` (`-name` or `-sname`), to evaluate `expression`.
pub fn flags<'a>(kind: &'a str, own: &'a str, node: &'a str, expression: &'a str) -> Vec<&'a str> {
    vec!["-noinput", "+Bd", "-hidden", "-dist_listen", "false", kind, own, "-eval", ASK, "-extra", node, expression]
}
