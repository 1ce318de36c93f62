import Glibc

if CommandLine.arguments.dropFirst().first == "serve" { StopSignal.install() }
exit(await Program.run(CommandLine.arguments))
