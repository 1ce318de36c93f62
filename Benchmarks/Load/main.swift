import Glibc

exit(LoadProgram.run(Array(CommandLine.arguments.dropFirst())))
