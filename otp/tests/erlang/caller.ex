# The program of `caller.erl`, in Elixir.
defmodule Caller do
  @spec all() :: :ok
  def all do
    {:ok, station} = :station.start_link(settings())
    1 = :station.keep(station, reading(7))
    :ok = :station.note(station, %{reading(8) | value: 9})
    %{items: [%{value: 7}, %{value: 9}]} = :station.page(station, 0)
    %{quality: :good} = :station.last(station)
    {:ok, {:reading, 1, 7}} = :station.as_before(station, reading(7))
    inner = %{name: "in", groups: []}
    %{"in" => ^inner} = :station.regroup(station, %{name: "out", groups: [inner]})
    {:ok, valve} = :valve.start_link({:open, %{litres: 2}})
    :ok = :valve.close(valve)
    :closed = :valve.open(valve, %{litres: 3})
    3 = litres(:valve.later(valve))
    {:ok, manager} = :gen_event.start_link()
    :ok = :alarms.add_handler(manager, settings())
    :ok = :gen_event.sync_notify(manager, repaired())
    %{items: [%{limit: 10}]} = :alarms.limits(manager)
    0 = :alarms.delete_handler(manager)
    :ok
  end

  @spec settings() :: :station.settings()
  defp settings, do: %{limit: 10}

  @spec reading(integer()) :: :station.reading()
  defp reading(value), do: %{sensor: "1", value: value}

  @spec litres(:valve.state()) :: non_neg_integer()
  defp litres({:open, %{litres: litres}}), do: litres
  defp litres(:closed), do: 0

  @spec repaired() :: :alarms.event()
  defp repaired, do: :repaired
end
