// Replaced by the program.
