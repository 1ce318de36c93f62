if CommandLine.arguments.contains("append") { print(await benchmarkAppend(seconds: 6)) }
if CommandLine.arguments.contains("sync") { print(await benchmarkSync()) }
