import JSON
import MatrixModel

/// What the server of this session announces, as far as it was asked.
struct KnownExtensions: Sendable {
  /// nil until the server has said.
  var offered: ServerExtensions?
  /// Commands that want to know, while the server is being asked.
  var waiting: [(command: Command, id: CommandID)] = []
  /// nil until a direct chat was made.
  var wishes: EncryptionWishes?
}

extension Client {
  /// What the server announces; nil until something wanted to know.
  public var offeredExtensions: ServerExtensions? { extensions.offered }

  /// Carries the command out once it is known what the server offers.
  mutating func learnExtensions(for command: Command, _ id: CommandID) {
    extensions.waiting.append((command, id))
    guard extensions.waiting.count == 1 else { return }
    request(.getCapabilities, Endpoint.getCapabilities.path(), for: .capabilities)
  }

  mutating func capabilitiesAnswered(_ answer: Answer) {
    let waiting = extensions.waiting
    extensions.waiting = []
    switch answer {
    case .success(let json): extensions.offered = json["capabilities"].map { ServerExtensions($0) } ?? []
    case .refused where !answer.isTransient: extensions.offered = []
    default:
      for (_, id) in waiting { finish(id, .failed(answer.error ?? .badAnswer)) }
      return
    }
    for (command, id) in waiting { handle(command, id) }
  }

  /// Lets a command wait no longer. Returns false if no command with this ID waited.
  mutating func stopLearning(for id: CommandID) -> Bool {
    guard let i = extensions.waiting.firstIndex(where: { $0.id == id }) else { return false }
    extensions.waiting.remove(at: i)
    finish(id, .failed(.cancelled))
    return true
  }

  mutating func endLearning() {
    let waiting = extensions.waiting
    extensions = KnownExtensions()
    for (_, id) in waiting { finish(id, .failed(.notSignedIn)) }
  }
}
