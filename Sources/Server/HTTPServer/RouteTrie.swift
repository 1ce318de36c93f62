/// Routes by path segment. A node's literal children are sorted, so that a step is a binary search without hashing.
struct RouteTrie: Sendable {
  enum Segment: Sendable, Equatable {
    case literal([UInt8])
    case variable(String)
    case tail(String)

    var variableName: String? {
      switch self {
      case .literal: nil
      case .variable(let name), .tail(let name): name
      }
    }

    /// - Precondition: the pattern is well-formed; a wrong one is a mistake in the program.
    static func parse(_ pattern: String) -> [Segment] {
      let bytes = Array(pattern.utf8)
      precondition(bytes.first == UInt8(ascii: "/"), "a pattern begins with /: \(pattern)")
      let parts = bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      return parts.enumerated().map { index, part in
        guard part.first == UInt8(ascii: "{"), part.last == UInt8(ascii: "}") else {
          precondition(!part.contains(UInt8(ascii: "{")), "a variable is a whole segment: \(pattern)")
          return .literal(Array(part))
        }
        let name = part.dropFirst().dropLast()
        guard name.suffix(3).elementsEqual("...".utf8) else { return .variable(String(decoding: name, as: UTF8.self)) }
        precondition(index == parts.count - 1, "a tail is the last segment: \(pattern)")
        return .tail(String(decoding: name.dropLast(3), as: UTF8.self))
      }
    }
  }

  private struct Node: Sendable {
    var literals: [(segment: [UInt8], node: Int)] = []
    var variable: Int?
    var routes: [(method: Method, route: Router.Route)] = []
    var tails: [(method: Method, route: Router.Route)] = []
  }

  private var nodes = [Node()]

  mutating func insert(_ segments: [Segment], _ method: Method, _ route: Router.Route) {
    var node = 0
    for segment in segments {
      switch segment {
      case .literal(let bytes):
        node = literalChild(of: node, bytes)
      case .variable:
        if let child = nodes[node].variable {
          node = child
        } else {
          nodes.append(Node())
          nodes[node].variable = nodes.count - 1
          node = nodes.count - 1
        }
      case .tail:
        precondition(!nodes[node].tails.contains { $0.method == method }, "two routes for \(method) \(route.pattern)")
        nodes[node].tails.append((method, route))
        return
      }
    }
    precondition(!nodes[node].routes.contains { $0.method == method }, "two routes for \(method) \(route.pattern)")
    nodes[node].routes.append((method, route))
  }

  func match(_ method: Method, _ path: ArraySlice<UInt8>) -> Router.Match {
    guard path.first == UInt8(ascii: "/") else { return .notFound }
    var search = Search(method: method)
    visit(0, path.dropFirst(), &search)
    if search.isMalformed { return .malformed }
    if let route = search.found { return .route(route, parameters: search.values) }
    guard !search.allowed.isEmpty else { return .notFound }
    if search.allowed.contains(.get) { search.allowed.insert(.head) }
    return .methodNotAllowed(search.allowed.sorted { $0.rawValue < $1.rawValue })
  }

  private struct Search {
    let method: Method
    var values: [String] = []
    var found: Router.Route?
    var allowed: Set<Method> = []
    var isMalformed = false
  }

  /// Looks for the rest of the path below a node. `rest` is nil behind the last segment.
  private func visit(_ index: Int, _ rest: ArraySlice<UInt8>?, _ search: inout Search) {
    let node = nodes[index]
    guard let rest else {
      take(node.routes, &search)
      return
    }
    let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    let segment = rest[..<end]
    let after = end < rest.endIndex ? rest[(end + 1)...] : nil
    if let child = literal(in: node, segment) { visit(child, after, &search) }
    if search.found == nil, let child = node.variable, !segment.isEmpty {
      if let value = PercentCoding.decode(segment) {
        search.values.append(value)
        visit(child, after, &search)
        if search.found == nil { search.values.removeLast() }
      } else {
        search.isMalformed = true
      }
    }
    if search.found == nil, !node.tails.isEmpty {
      if let value = PercentCoding.decode(rest) {
        take(node.tails, &search)
        if search.found != nil { search.values.append(value) }
      } else {
        search.isMalformed = true
      }
    }
    if search.found != nil { search.isMalformed = false }
  }

  private func take(_ routes: [(method: Method, route: Router.Route)], _ search: inout Search) {
    for candidate in routes where candidate.method == search.method { search.found = candidate.route }
    if search.found == nil, search.method == .head {
      for candidate in routes where candidate.method == .get { search.found = candidate.route }
    }
    if search.found == nil { for candidate in routes { search.allowed.insert(candidate.method) } }
  }

  private func literal(in node: Node, _ segment: ArraySlice<UInt8>) -> Int? {
    guard segment.contains(UInt8(ascii: "%")) else { return search(node.literals, segment).found }
    guard let decoded = PercentCoding.decodedBytes(segment) else { return nil }
    return search(node.literals, decoded[...]).found
  }

  private mutating func literalChild(of node: Int, _ bytes: [UInt8]) -> Int {
    let (found, position) = search(nodes[node].literals, bytes[...])
    if let found { return found }
    nodes.append(Node())
    nodes[node].literals.insert((bytes, nodes.count - 1), at: position)
    return nodes.count - 1
  }

  private func search(
    _ literals: [(segment: [UInt8], node: Int)], _ segment: ArraySlice<UInt8>
  ) -> (found: Int?, position: Int) {
    var low = 0
    var high = literals.count
    while low < high {
      let middle = (low + high) / 2
      let order = Self.compare(literals[middle].segment, segment)
      if order == 0 { return (literals[middle].node, middle) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (nil, low)
  }

  /// By length first: most differ in it.
  private static func compare(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> Int {
    guard left.count == right.count else { return left.count - right.count }
    for (a, b) in zip(left, right) where a != b { return Int(a) - Int(b) }
    return 0
  }
}
