%% The measured functions, written in Erlang.
%%
%% Each takes one argument, which is the key `n` of the probe, or the atom `none` where no `n` was given. A function
%% that is exported here with arity 1 can be measured at once; its Elixir counterpart is in kizami_work.ex. The
%% functions are written as in the study and must not be improved: their cost is the result.
-module(kizami_work).

-export([nothing/1, sum/1, fib/1, sleep/1]).

%% Nothing: what remains is the cost of the call and of the two clock readings.
-spec nothing(term()) -> ok.
nothing(_) ->
    ok.

%% The sum of 1 to N, from a list that is built for it: works the local heap.
-spec sum(pos_integer()) -> pos_integer().
sum(N) ->
    lists:foldl(fun(X, Sum) -> X + Sum end, 0, lists:seq(1, N)).

%% The Nth Fibonacci number by naive double recursion: works the stack.
-spec fib(non_neg_integer()) -> non_neg_integer().
fib(0) ->
    0;
fib(1) ->
    1;
fib(N) ->
    fib(N - 1) + fib(N - 2).

%% Sleeps N milliseconds: works the VM's timer.
-spec sleep(non_neg_integer()) -> ok.
sleep(N) ->
    timer:sleep(N).
