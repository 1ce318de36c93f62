/// What a subcommand is called and what it takes.
struct CommandSyntax: Sendable {
  struct Option: Sendable {
    let name: String
    /// What its value is called; nil for an option without.
    var value: String?
  }

  /// `user`, `lock`
  let words: [String]
  /// Those that may be left out stand in brackets, behind the others.
  let operands: [String]
  let options: [Option]
  /// Whether options that it does not know are settings of the server.
  let takesSettings: Bool

  var operandCount: ClosedRange<Int> { operands.count { !$0.hasPrefix("[") }...operands.count }

  /// `user lock USER`
  var usage: String {
    (words + operands + options.map { "[\($0.name)\($0.value.map { " " + $0 } ?? "")]" }).joined(separator: " ")
  }
}
