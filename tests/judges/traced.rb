# Notes which methods of CALLS_ROOT call which, while a program runs: ruby -r ./traced.rb PROGRAM. Written to CALLS_OUT is
# a list of calls: the caller's file, the line that it is at, the name that it is called by, file and first line of what runs.
require "json"
require "set"

root = File.realpath(ENV.fetch("CALLS_ROOT")) + "/"
calls = Set.new
own = Hash.new do |known, path|
  real = path && File.exist?(path) ? File.realpath(path) : ""
  known[path] = real.start_with?(root) ? real.delete_prefix(root) : nil
end
trace = TracePoint.new(:call) do |at|
  caller = own[at.path] && caller_locations(2, 1)&.first
  from = caller && own[caller.absolute_path]
  calls.add([from, caller.lineno, at.callee_id, own[at.path], at.lineno]) if from
end
at_exit do
  trace.disable
  File.write(ENV.fetch("CALLS_OUT"), JSON.generate(calls.to_a))
end
trace.enable
