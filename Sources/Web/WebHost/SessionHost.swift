import CallCore
import JSON

/// A session of calls in a browser: carries out what `CallSession` says, by sockets, timers and the browser's media.
public final class SessionHost {
  public private(set) var session: CallSession
  /// Something that is shown is different. What is asked for meanwhile is done afterwards.
  public var onChange: (SessionChange) -> Void = { _ in }
  /// A track of a stream has arrived; under that name the browser shows and plays it.
  public var onTrack: (_ stream: ByteString, _ name: String) -> Void = { _, _ in }
  /// What the browser's media tell beyond the session.
  public var onMedia: (JSON) -> Void = { _ in }
  /// Carries an effect on the network out; replaced in tests.
  public var connect: (_ effect: SessionEffect) -> Void = { _ in }
  /// How the last capture failed that did.
  public private(set) var captureFailure = CaptureFailure.failed
  public private(set) var media: MediaPort?
  /// Of the call server's socket, `wss://…`; known before the session connects.
  public var address: String
  private var socket: (id: SocketID, port: SocketPort)?
  private var timer: HostTask?
  private var inputs: [SessionInput] = []
  private var isHandling = false

  public init(address: String = "", subscribesToAll: Bool) {
    self.address = address
    var seed: UInt64 = 0
    for byte in Host.randomBytes(8) { seed = seed << 8 | UInt64(byte) }
    session = CallSession(randomSeed: seed, subscribesToAll: subscribesToAll)
    media = MediaPort { [self] in heard($0) }
    connect = { [self] in carryOut($0) }
  }

  public func perform(_ command: SessionCommand, id: CommandID = 0) { handle(.command(command, id: id)) }

  public func handle(_ input: SessionInput) {
    inputs.append(input)
    guard !isHandling else { return }
    isHandling = true
    while !inputs.isEmpty {
      for effect in session.handle(inputs.removeFirst(), now: Int64(Host.monotonicMilliseconds())) {
        switch effect {
        case .media(let effect): carryOut(effect)
        case .change(let change):
          if case .session = change { chooseLayers() }
          onChange(change)
        default: connect(effect)
        }
      }
    }
    isHandling = false
    if case .ended = session.state { close() }
  }

  /// Only a router chooses among several sizes of a picture; a peer would get the smallest.
  private func chooseLayers() {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("do", "layers" as ByteString)
      writer.member("on", !session.isRelayed)
    }
    media?.post(writer.bytes)
  }

  private func carryOut(_ effect: MediaEffect) {
    media?.post(effect.message)
    if case .attach(let peer, _, let stream) = effect { onTrack(stream, "\(peer)/" + stream.string) }
  }

  private func carryOut(_ effect: SessionEffect) {
    switch effect {
    case .openSocket(let id):
      socket = (
        id,
        SocketPort(address) { [self] event in
          switch event {
          case .opened: handle(.socketOpened(id))
          case .text(let bytes): handle(.text(id, bytes))
          case .closed: handle(.socketClosed(id))
          }
        }
      )
    case .sendText(let id, let text): if let socket, socket.id == id { socket.port.send(text.bytes) }
    case .closeSocket(let id): if let socket, socket.id == id { self.socket = nil }
    case .wake(let time):
      timer?.cancel()
      timer = time.map { Host.at(milliseconds: $0) { [self] in handle(.time) } }
    case .media, .change: break
    }
  }

  private func heard(_ json: JSON) {
    guard let input = MediaInput(json) else { return onMedia(json) }
    if case .captureFailed = input {
      captureFailure = CaptureFailure(rawValue: UInt8(clamping: json.integer("reason") ?? 0)) ?? .failed
    }
    handle(.media(input))
  }

  /// The browser's objects hold this one as long as they are there.
  private func close() {
    timer?.cancel()
    timer = nil
    socket = nil
    media = nil
  }
}

/// Why there is no picture or sound of this machine.
public enum CaptureFailure: UInt8, Sendable {
  case failed
  /// The person, the browser or the page around it does not allow it.
  case refused
  /// There is no such device.
  case missing
}
