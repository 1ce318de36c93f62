import Glibc

StopSignal.block()
exit(await Program.run(CommandLine.arguments))
