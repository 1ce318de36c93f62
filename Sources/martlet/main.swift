import Glibc
import Shell

if Program.endsOrderly(CommandLine.arguments) { StopSignal.install() }
exit(await Program.run(CommandLine.arguments))
