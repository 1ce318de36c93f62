import Glibc
import Shell

if TerminalProgram.endsOrderly(CommandLine.arguments) { StopSignal.install() }
exit(await TerminalProgram.run(CommandLine.arguments))
