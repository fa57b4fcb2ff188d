#!/usr/bin/env escript
%% Builds all.

main(Args) ->
    [build(Each) || Each <- Args].

build(Each) ->
    Each.
