// martlet-benchmark json [FILE] | append | sync | relations [EVENTS] | send [COUNT]: one line of figures each; without a name all of them.

let names = Array(CommandLine.arguments.dropFirst())
let runsAll = names.isEmpty
if runsAll || names[0] == "json" { print(benchmarkJSON(file: names.dropFirst().first)) }
if runsAll || names[0] == "append" { print(await benchmarkAppend(seconds: 6)) }
if runsAll || names[0] == "sync" { print(await benchmarkSync()) }
if runsAll || names[0] == "send" { print(await benchmarkSends(count: names.dropFirst().first.flatMap { Int($0) } ?? 4_000)) }
let events = names.dropFirst().first.flatMap { Int($0) } ?? 20_000
if runsAll || names[0] == "relations" { print(await benchmarkRelations(events: events)) }
