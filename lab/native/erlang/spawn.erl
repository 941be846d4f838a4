%% Erlang's contestant: processes. See ../README.md for what the modes are.
-module(spawn).
-export([main/0]).

-define(STATUS_NO_SUCH_MODE, 8).
-define(STATUS_NO_MORE, 9).

main() ->
    #{impl := Impl, mode := Mode, work := Work, count := Count} = parse(init:get_plain_arguments()),
    Impl =:= "erlang" orelse usage("unknown -impl " ++ Impl),
    Work >= 1 andalso Count >= 1 orelse usage("-work and -count must be 1 or more"),
    try
        measure(Mode, Work, Count)
    catch
        error:system_limit ->
            Had = erlang:system_info(process_count),
            fail(?STATUS_NO_MORE, io_lib:format("the system gives no more than ~b processes", [Had]))
    end.

parse(Args) -> parse(Args, #{impl => "", mode => "", work => 10, count => 100000}).

parse([], Options) -> Options;
parse(["-impl", V | Rest], O) -> parse(Rest, O#{impl := V});
parse(["-mode", V | Rest], O) -> parse(Rest, O#{mode := V});
parse(["-work", V | Rest], O) -> parse(Rest, O#{work := number(V)});
parse(["-count", V | Rest], O) -> parse(Rest, O#{count := number(V)});
parse([Flag | _], _) -> usage("unknown flag, or no value: " ++ Flag).

number(Text) ->
    try list_to_integer(Text)
    catch error:badarg -> usage(Text ++ ": a number is needed")
    end.

-spec usage(string()) -> no_return().
usage(Text) -> fail(2, Text).

fail(Status, Text) ->
    io:format(standard_error, "~s~n", [Text]),
    erlang:halt(Status).

measure("each", Work, Count) -> timed("each", Work, Count, fun(N) -> each(N, Work) end);
measure("waiting", Work, Count) -> waiting(Work, Count);
measure(_, _, _) -> erlang:halt(?STATUS_NO_SUCH_MODE).

%% Runs once to warm up, then once by the clock, and prints the result.
timed(Mode, Work, Count, Run) ->
    Run(min(Count, 100000)),
    Cost = cost(fun() -> Run(Count) end),
    print(Mode, Work, Count, Cost, ""),
    erlang:halt(0).

cost(Run) ->
    {CPU, _} = statistics(runtime),
    Began = erlang:monotonic_time(nanosecond),
    Run(),
    Wall = erlang:monotonic_time(nanosecond) - Began,
    {After, _} = statistics(runtime),
    {Wall, (After - CPU) * 1000000}.

print(Mode, Work, Count, {Wall, CPU}, More) ->
    io:format("BenchmarkSpawn/impl=erlang/mode=~s/work=~b ~b ~.2f ns/op ~.2f cpu-ns/op~s~n",
              [Mode, Work, Count, Wall / Count, CPU / Count, More]).

%% Every process holds its result until it is asked for it, so all are there at once.
each(N, Work) ->
    Taker = self(),
    Pids = start(N, fun(I) ->
        Result = roots(Work, I),
        receive take -> Taker ! {result, Result} end
    end, []),
    lists:foreach(fun(P) -> P ! take end, Pids),
    true = is_float(take(N, 0.0)),
    erlang:garbage_collect().

start(0, _, Pids) -> Pids;
start(N, Body, Pids) -> start(N - 1, Body, [spawn(fun() -> Body(N) end) | Pids]).

take(0, Sum) -> Sum;
take(N, Sum) -> receive {result, R} -> take(N - 1, Sum + R) end.

waiting(Work, Count) ->
    stop(start(min(Count, 1000), fun wait/1, [])),
    erlang:garbage_collect(),
    Resident = resident(),
    Held = erlang:memory(processes),
    Self = self(),
    Keep = spawn(fun() -> cost_of_start(Self, Count) end),
    Cost = receive {Keep, Took} -> Took end,
    Settled = resident(),
    Stack = erlang:memory(processes) - Held,
    Bytes = case Resident of
        unknown -> "";
        _ -> io_lib:format(" ~.2f rss-B/op", [(Settled - Resident) / Count])
    end,
    print("waiting", Work, Count, Cost, [Bytes, io_lib:format(" ~.2f stack-B/op", [Stack / Count])]),
    erlang:halt(0).

%% Starts them from a process that keeps no list of them: a list is no part of what they
%% take. Each says that it is there by a counter, so that none is measured before it runs.
cost_of_start(Asker, Count) ->
    There = counters:new(1, [write_concurrency]),
    Cost = cost(fun() -> start_waiting(Count, There) end),
    all_there(Count, There),
    Asker ! {self(), Cost}.

start_waiting(0, _) -> ok;
start_waiting(N, There) ->
    spawn(fun() -> counters:add(There, 1, 1), wait(N) end),
    start_waiting(N - 1, There).

all_there(Count, There) ->
    case counters:get(There, 1) of
        Count -> ok;
        _ -> erlang:yield(), all_there(Count, There)
    end.

wait(_) -> receive stop -> ok end.

stop(Pids) ->
    [monitor(process, P) || P <- Pids],
    [P ! stop || P <- Pids],
    [receive {'DOWN', _, process, P, _} -> ok end || P <- Pids],
    ok.

%% This process's resident memory in bytes.
resident() ->
    case file:read_file("/proc/self/status") of
        {ok, Text} ->
            {match, [KiB]} = re:run(Text, "VmRSS:\\s+(\\d+) kB", [{capture, all_but_first, binary}]),
            binary_to_integer(KiB) * 1024;
        {error, _} -> unknown
    end.

%% Square roots that depend on one another, so that none can be left out.
roots(N, From) -> chain(N, float(From band 16#ff) + 2.0).

chain(0, X) -> X;
chain(N, X) -> chain(N - 1, math:sqrt(X) + 1.0).
