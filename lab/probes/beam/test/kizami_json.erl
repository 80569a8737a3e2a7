%% A JSON reader for the lines of kizami_report, written independently of it: objects as maps, text as binaries. Input
%% that is not JSON crashes the reader, which fails the check.
-module(kizami_json).

-export([decode/1]).

-spec decode(binary()) -> term().
decode(Text) ->
    {Value, <<>>} = value(Text),
    Value.

value(<<"true", Rest/binary>>) -> {true, Rest};
value(<<"false", Rest/binary>>) -> {false, Rest};
value(<<"{}", Rest/binary>>) -> {#{}, Rest};
value(<<"[]", Rest/binary>>) -> {[], Rest};
value(<<${, Rest/binary>>) -> fields(Rest, #{});
value(<<$[, Rest/binary>>) -> elements(Rest, []);
value(<<$", Rest/binary>>) -> text(Rest, <<>>);
value(Text) -> string:to_integer(Text).

fields(Text, Map) ->
    {Key, <<$:, Rest/binary>>} = value(Text),
    true = is_binary(Key),
    {Value, More} = value(Rest),
    case More of
        <<$,, Next/binary>> -> fields(Next, Map#{Key => Value});
        <<$}, Next/binary>> -> {Map#{Key => Value}, Next}
    end.

elements(Text, List) ->
    {Value, More} = value(Text),
    case More of
        <<$,, Next/binary>> -> elements(Next, [Value | List]);
        <<$], Next/binary>> -> {lists:reverse(List, [Value]), Next}
    end.

text(<<$", Rest/binary>>, Text) -> {Text, Rest};
text(<<"\\\"", Rest/binary>>, Text) -> text(Rest, <<Text/binary, $">>);
text(<<"\\\\", Rest/binary>>, Text) -> text(Rest, <<Text/binary, $\\>>);
text(<<"\\u", Hex:4/binary, Rest/binary>>, Text) -> text(Rest, <<Text/binary, (binary_to_integer(Hex, 16))/utf8>>);
text(<<Character/utf8, Rest/binary>>, Text) when Character >= 16#20, Character =/= $\\ ->
    text(Rest, <<Text/binary, Character/utf8>>).
