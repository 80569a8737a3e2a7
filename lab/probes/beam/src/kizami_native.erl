%% Native functions of the probe. Their code is in the folder native.
-module(kizami_native).

-export([load/1, lock_memory/0]).

%% Loads the library at Path, which is given without its suffix .so.
-spec load(file:filename()) -> ok | {error, {atom(), string()}}.
load(Path) ->
    erlang:load_nif(Path, 0).

%% Locks what this VM has mapped and will map, as mlockall(2) does; the text of an error is the kernel's.
-spec lock_memory() -> ok | {error, string()}.
lock_memory() ->
    erlang:nif_error(not_loaded).
