/// What all nodes must have alike: settings that users see, and keys. The row of a node has them, as hashes by their names.
package struct NodeTerms: Sendable, Equatable {
  private static let keyName = "signing.key"

  /// Neither names nor hashes have spaces or line feeds.
  private let hashes: [String: String]

  /// - Parameters:
  ///   - key: says which signing key the server has.
  ///   - hashes: by names; made with that key.
  package init(key: String, _ hashes: [String: String]) {
    self.hashes = hashes.merging([Self.keyName: key]) { $1 }
  }

  /// Reads what `text` has written. Other lines are passed over.
  init(text: String) {
    let pairs = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.count == 2 }
    hashes = Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { $1 }
  }

  var text: String { hashes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined() }

  /// The names of what two nodes have differently. What only one of them has is of a newer program and does not count. Under another key all
  /// hashes are others, so then it alone is named.
  package func different(from other: NodeTerms) -> [String] {
    if hashes[Self.keyName] != other.hashes[Self.keyName] { return [Self.keyName] }
    return hashes.keys.filter { name in other.hashes[name].map { $0 != hashes[name] } ?? false }.sorted()
  }
}
