import Glibc
import JSON
import Testing

@testable import MatrixClient

/// What every store does alike. `Tests/StoreCases.json` has the cases as data; Tests/EndToEnd/test_store.py runs the same on the
/// page's IndexedDB.
struct StoreCase: Sendable, CustomTestStringConvertible {
  enum Step: Sendable {
    case write([StoreOperation])
    case read(StoreRange, expected: [String])
  }

  let name: String
  let steps: [Step]
  var testDescription: String { name }

  static let all: [StoreCase] = {
    let root = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    guard let bytes = FileBytes.read("/\(root)/StoreCases.json"), let json = try? JSON.parse(bytes) else { return [] }
    return json.elements.map { StoreCase($0) }
  }()

  private init(_ json: JSON) {
    name = json["name"]?.string ?? ""
    steps = json["steps"]?.elements.map { StoreCase.step($0) } ?? []
  }

  private static func step(_ json: JSON) -> Step {
    if let operations = json["write"] { return .write(operations.elements.map { operation($0) }) }
    let read = json["read"]
    let range = StoreRange(
      prefix: read?["prefix"]?.text ?? "", after: read?["after"]?.text, before: read?["before"]?.text,
      isDescending: read?["descending"]?.bool ?? false, limit: read?["limit"]?.integer.map { Int($0) })
    let expected = json["expect"]?.elements.map { $0.elements.map { $0.string ?? "" }.joined(separator: "=") } ?? []
    return .read(range, expected: expected)
  }

  private static func operation(_ json: JSON) -> StoreOperation {
    let words = json.elements.map { $0.text ?? "" }
    switch words[0].string {
    case "put": return .put(key: words[1], value: Array(words[2].utf8))
    case "delete": return .delete(key: words[1])
    default: return .deleteAll(prefix: words[1])
    }
  }
}

enum StoreKind: String, CaseIterable, Sendable {
  case memory, sqlite

  func make(in folder: TemporaryFolder) throws -> any Store {
    switch self {
    case .memory: MemoryStore()
    case .sqlite: try SQLiteStore(path: folder.path + "/store")
    }
  }
}

func texts(_ records: [StoreRecord]) -> [String] {
  records.map { "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))" }
}

@Suite struct StoreConformanceTests {
  @Test(arguments: StoreKind.allCases, StoreCase.all) func `a store does what the case says`(
    kind: StoreKind, example: StoreCase
  ) async throws {
    let folder = TemporaryFolder()
    let store = try kind.make(in: folder)
    #expect(!example.steps.isEmpty)
    for step in example.steps {
      switch step {
      case .write(let operations): try await store.write(operations)
      case .read(let range, let expected): #expect(texts(try await store.load(range)) == expected)
      }
    }
    await store.close()
  }

  @Test func `the cases are there`() { #expect(StoreCase.all.count >= 10) }

  /// Against the simplest thing that could work, and once more after the file was closed and opened.
  @Test(arguments: 0..<20) func `both stores do the same, whatever they are told`(seed: UInt64) async throws {
    var random = Words(state: seed &* 7919 &+ 1)
    let folder = TemporaryFolder()
    let memory: any Store = MemoryStore()
    var sqlite = try SQLiteStore(path: folder.path + "/store")
    for round in 0..<60 {
      let operations = (0..<Int(random.next(8))).map { _ in random.operation() }
      try await memory.write(operations)
      try await sqlite.write(operations)
      if round % 20 == 19 {
        await sqlite.close()
        sqlite = try SQLiteStore(path: folder.path + "/store")
      }
      for _ in 0..<4 {
        let range = random.range()
        #expect(texts(try await memory.load(range)) == texts(try await sqlite.load(range)), "\(range)")
      }
    }
  }

  struct Words {
    var state: UInt64

    mutating func next(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }

    mutating func key(_ length: UInt64 = 5) -> ByteString {
      ByteString(decoding: (0..<next(length)).map { _ in Array("ab/%~".utf8)[Int(next(5))] })
    }

    mutating func operation() -> StoreOperation {
      switch next(8) {
      case 0: .delete(key: key())
      case 1: .deleteAll(prefix: next(10) == 0 ? "" : ByteString("a" + key(3).string))
      default: .put(key: ByteString("a" + key().string), value: Array("\(next(1000))".utf8))
      }
    }

    mutating func range() -> StoreRange {
      StoreRange(
        prefix: key(3), after: next(2) == 0 ? nil : ByteString("a" + key().string),
        before: next(2) == 0 ? nil : ByteString("a" + key().string), isDescending: next(2) == 0,
        limit: next(2) == 0 ? nil : Int(next(5)) + 1)
    }
  }
}
