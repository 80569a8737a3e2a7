%% The probe's reports to the lab: JSON lines on file descriptor 3.
%%
%% A line is written in one blocking call that returns when the kernel has all of it. So no line is pending when the VM
%% halts, a slow reader slows only the process that reports, and a reader that has ended causes an error of the write.
-module(kizami_report).

-export([open/0, write/2]).
-export([ready/0, done/0, failed/1, effective/4, rows/1, rows/2, fact/2, encode/1]).

-export_type([stream/0, line/0, json/0]).

-type stream() :: file:fd().
-opaque line() :: {object, [{atom(), json()}]}.
-type json() :: boolean() | integer() | binary() | [json()] | {object, [{atom(), json()}]}.

-define(DESCRIPTOR, "/dev/fd/3").

%% The stream of the lab. It is opened anew by its name in /dev/fd, which gives a descriptor whose flags are its own,
%% and appends, in case someone trying things by hand has put a file there.
-spec open() -> {ok, stream()} | {error, string()}.
open() ->
    case file:read_link(?DESCRIPTOR) of
        %% With -noinput the VM itself may have opened this one in the place of a descriptor that was not there.
        {ok, "/dev/null"} ->
            {error, "file descriptor 3 is not open or leads to /dev/null; give it a pipe"};
        {ok, _} ->
            case file:open(?DESCRIPTOR, [append, raw, binary]) of
                {ok, Stream} -> {ok, Stream};
                {error, Why} -> {error, "cannot write to file descriptor 3: " ++ file:format_error(Why)}
            end;
        {error, _} ->
            {error, "file descriptor 3 is not open; give it a pipe"}
    end.

%% Writes the line, and returns when the kernel has taken it.
-spec write(stream(), line()) -> ok | {error, string()}.
write(Stream, Line) ->
    case file:write(Stream, [encode(Line), $\n]) of
        ok -> ok;
        {error, Why} -> {error, "cannot write to file descriptor 3: " ++ file:format_error(Why)}
    end.

-spec ready() -> line().
ready() ->
    object(ready, []).

-spec done() -> line().
done() ->
    object(done, []).

-spec failed(iodata()) -> line().
failed(Why) ->
    object(failed, [{why, text(Why)}]).

-spec effective(atom(), iodata(), boolean(), iodata()) -> line().
effective(Setting, Value, AsRequested, Why) ->
    object(effective, [
        {setting, text(atom_to_list(Setting))},
        {value, text(Value)},
        {as_requested, AsRequested},
        {why, text(Why)}
    ]).

%% A row is [nanoseconds, words of heap, minor collections].
-spec rows([[integer()]]) -> line().
rows(Rows) ->
    rows(0, Rows).

%% Rows of a part of the workload, which are numbered from 0.
-spec rows(non_neg_integer(), [[integer()]]) -> line().
rows(Part, Rows) ->
    object(rows, [{part, Part}, {rows, Rows}]).

-spec fact(atom(), integer()) -> line().
fact(Name, Value) ->
    object(fact, [{name, text(atom_to_list(Name))}, {value, Value}]).

object(Kind, Fields) ->
    {object, [{Kind, {object, Fields}}]}.

text(Text) ->
    case unicode:characters_to_binary(Text) of
        Binary when is_binary(Binary) -> Binary;
        %% A character that UTF-8 cannot hold (half of a surrogate pair): show the term instead of losing the text.
        _ -> iolist_to_binary(io_lib:format("~w", [Text]))
    end.

-spec encode(json()) -> iodata().
encode(true) ->
    "true";
encode(false) ->
    "false";
encode(Number) when is_integer(Number) ->
    integer_to_binary(Number);
encode(Text) when is_binary(Text) ->
    [$", [escape(Character) || <<Character/utf8>> <= Text], $"];
encode({object, Fields}) ->
    [
        ${,
        lists:join($,, [[encode(atom_to_binary(Key)), $:, encode(Value)] || {Key, Value} <- Fields]),
        $}
    ];
encode(List) when is_list(List) ->
    [$[, lists:join($,, [encode(Element) || Element <- List]), $]].

escape($") -> "\\\"";
escape($\\) -> "\\\\";
escape(Control) when Control < 16#20 -> io_lib:format("\\u~4.16.0b", [Control]);
escape(Character) -> <<Character/utf8>>.
