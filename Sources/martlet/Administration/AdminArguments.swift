import JSON
import MatrixModel

/// The words of a command line after the subcommand's name: operands, the subcommand's own options, settings.
struct AdminArguments: Sendable {
  private(set) var operands: [String] = []
  private(set) var settings: [String] = []
  private var values: [String: String] = [:]

  var isJSON: Bool { has("--json") }
  var isConfirmed: Bool { has("--yes") }

  /// Throws `usage` for what the command does not take.
  init(_ words: [String], for command: AdminCommand) throws(ConfigurationError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = command.allOptions.first(where: { $0.name == parts[0] }) else {
        // A setting: always with a value.
        settings.append(word)
        if parts.count == 1, let value = rest.popFirst() { settings.append(value) }
        continue
      }
      guard values[option.name] == nil else { throw .usage("\(option.name) is given twice") }
      if option.value == nil {
        guard parts.count == 1 else { throw .usage("\(option.name) takes no value") }
        values[option.name] = ""
      } else {
        guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
          throw .usage("\(option.name) needs a value: \(option.name) \(option.value ?? "")")
        }
        values[option.name] = value
      }
    }
    guard operands.count == command.operands.count else {
      throw .usage("it is: martlet \(command.usage)")
    }
  }

  func has(_ option: String) -> Bool { values[option] != nil }

  func text(_ option: String) -> String? { values[option] }

  /// Throws `usage` where it is not in the range.
  func integer(_ option: String, in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int64? {
    guard let text = values[option] else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw .usage("\(option) is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
