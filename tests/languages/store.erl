%% A store.
-module(store).
-behaviour(gen_server).
-include("store.hrl").
-include_lib("kernel/include/file.hrl").
-import(lists, [map/2, foldl/3]).
-export([start/1, get/2]).

-define(LIMIT, 10).
-define(ADD(A, B), A + B).
-record(state, {name :: string(), count = 0.5 :: float()}).
-type key() :: atom() | binary().
-opaque handle() :: #state{}.
-callback fetch(key()) -> {ok, term()} | error.
-spec start(list()) -> pid().

%% @doc Starts it.
start([]) -> start([{name, "a. b"}]); % no
start(Options) when is_list(Options) ->
    F = fun(X) -> X * 1.5 end,
    case Options of [$. | _] -> ok; _ -> F(1) end.

get(Key, #state{}) -> '-> .', Key.
'odd name'() -> ok.
