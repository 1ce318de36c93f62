/// What a subcommand is called and what it takes.
package struct CommandSyntax: Sendable {
  package struct Option: Sendable {
    package let name: String
    /// What its value is called; nil for an option without.
    package var value: String?
    /// Whether the usage names it.
    package var isListed: Bool

    package init(name: String, value: String? = nil, isListed: Bool = true) {
      self.name = name
      self.value = value
      self.isListed = isListed
    }
  }

  /// `user`, `lock`
  package let words: [String]
  /// Those that may be left out stand in brackets, behind the others.
  package let operands: [String]
  package let options: [Option]
  /// Whether options that it does not know are settings of the server.
  package let takesSettings: Bool

  package init(words: [String], operands: [String], options: [Option], takesSettings: Bool) {
    self.words = words
    self.operands = operands
    self.options = options
    self.takesSettings = takesSettings
  }

  var operandCount: ClosedRange<Int> { operands.count { !$0.hasPrefix("[") }...operands.count }

  /// `user lock USER`
  package var usage: String {
    (words + operands + options.filter(\.isListed).map { "[\($0.name)\($0.value.map { " " + $0 } ?? "")]" }).joined(
      separator: " ")
  }
}
