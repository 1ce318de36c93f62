/// What all nodes must have alike: settings that users see, and keys. The row of a node has them, as hashes by their names.
package struct NodeTerms: Sendable, Equatable {
  /// Neither names nor hashes have spaces or line feeds.
  private let keys, settings: [String: String]

  /// - Parameters:
  ///   - keys: hashes of keys, by the names of their files. Two nodes can compare them whatever they have.
  ///   - settings: hashes of settings, by names. They can be compared by nodes of the same keys.
  package init(keys: [String: String], settings: [String: String]) {
    self.keys = keys
    self.settings = settings
  }

  private static let keyMark = "key", settingMark = "setting"

  /// Reads what `text` has written. Other lines are passed over.
  init(text: String) {
    let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }.filter { $0.count == 3 }
    func marked(_ mark: String) -> [String: String] {
      Dictionary(lines.filter { $0[0] == mark }.map { ($0[1], $0[2]) }) { $1 }
    }
    self.init(keys: marked(Self.keyMark), settings: marked(Self.settingMark))
  }

  var text: String {
    func lines(_ mark: String, _ hashes: [String: String]) -> String {
      hashes.sorted { $0.key < $1.key }.map { "\(mark) \($0.key) \($0.value)\n" }.joined()
    }
    return lines(Self.keyMark, keys) + lines(Self.settingMark, settings)
  }

  /// The names of what two nodes have differently. What only one of them has is of a newer program and does not count. Where keys differ, they alone
  /// are named: hashes of settings are made with one of them.
  package func different(from other: NodeTerms) -> [String] {
    func names(_ own: [String: String], _ others: [String: String]) -> [String] {
      own.keys.filter { name in others[name].map { $0 != own[name] } ?? false }.sorted()
    }
    let different = names(keys, other.keys)
    return different.isEmpty ? names(settings, other.settings) : different
  }
}
