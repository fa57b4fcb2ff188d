# A store.
defmodule Shop.Store do
  @moduledoc """
  Keeps things.
  """
  use GenServer
  alias Shop.{Item, Price}
  alias Shop.Money, as: M
  import Ecto.Query, only: [from: 2]
  require Logger

  @timeout 5_000
  @behaviour Shop.Behaviour
  @type t :: %__MODULE__{
          name: String.t()
        }
  @typep key :: atom
  @callback fetch(key) :: {:ok, term} | :error
  defstruct [:name, items: []]

  @doc "Starts it."
  @spec start(keyword) :: term
  def start(opts \\ []) do
    Enum.map(opts, fn {k, v} -> if v, do: k, else: nil end)
    case opts do
      [] -> "end #{"do"}"
      _ -> ?"
    end
  end

  @doc ~S'''
  Gets one.
  '''
  def get(store, key) when is_atom(key), do: Map.get(store, key)
  @doc since: "1.8.0"
  def get(_store, _key),
    do: nil
  defp hidden?(x), do: x in [:end, :do]
  defmacro log(message) do
    quote do
      Logger.info(unquote(message), end: 1)
    end
  end
  @doc false
  def hidden, do: 1
  defguardp is_key(x) when is_atom(x)
  defdelegate size(map), to: Map
  def left ~> right, do: {left, right}
  def unquote(name)(), do: 1

  defmodule Inner do
    def f, do: ~r/do|"end/
  end
end

defprotocol Shop.Sized do
  def size(data)
end

defimpl Shop.Sized, for: Map do
  def size(map), do: map_size(map)
end

defimpl Shop.Sized, for: [Shop.Item, List] do
  def size(one), do: 1
end

defmodule Shop.Box do
  defimpl Shop.Sized do
    def size(_box), do: 1
  end
end
