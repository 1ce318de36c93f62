import Glibc

exit(ThumbnailProgram.run(arguments: CommandLine.arguments).rawValue)
