defmodule KizamiWork do
  @moduledoc """
  The measured functions, written in Elixir.

  Each takes one argument, which is the key `n` of the probe, or the atom `:none` where no `n` was given. A function
  that is exported here with arity 1 can be measured at once; its Erlang counterpart is in kizami_work.erl. The
  functions are written as in the study and must not be improved: their cost is the result.
  """

  @doc "Nothing: what remains is the cost of the call and of the two clock readings."
  def nothing(_), do: :ok

  @doc "The sum of 1 to `n`, over an enumerable."
  def sum(n) do
    1..n
    |> Enum.reduce(fn x, acc -> x + acc end)
  end

  @doc "The `n`th Fibonacci number by naive double recursion: works the stack."
  def fib(0), do: 0
  def fib(1), do: 1
  def fib(n), do: fib(n - 1) + fib(n - 2)

  @doc "Sleeps `n` milliseconds: works the VM's timer."
  def sleep(n), do: :timer.sleep(n)
end
