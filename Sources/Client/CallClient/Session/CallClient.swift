@_exported public import CallCore
@_exported public import JSON

/// A participant of a session of a Martlet server, without a page: it publishes what a source gives, and hands what others publish to sinks.
///
///     let call = try CallClient(url: "https://example.org", session: session, token: token, engine: GStreamerEngine())
///     let events = await call.events()
///     try await call.connect()
///     try await call.publish(video: TestPattern(), audio: TestTone(), name: "Ana")
///     for await event in events {
///       if case .streamCreated(let stream) = event { try await call.subscribe(to: stream, video: window, audio: speaker) }
///     }
///
/// Names, data and signals are what other people wrote. A call connects once; it is left where this object goes.
public final class CallClient: Sendable {
  let host: CallHost

  /// Asks nobody yet.
  /// - Parameters:
  ///   - url: of the server (`https://…`), or of its socket (`wss://…`).
  ///   - session: its ID.
  ///   - token: of the application's server, for that session.
  ///   - engine: one of its own for each call.
  /// - Throws: `invalid` where the URL is none.
  public init(url: String, session: String, token: String, engine: any MediaEngine) throws(CallError) {
    guard let address = SocketAddress(url) else { throw .invalid("The url is no address of a server.") }
    host = CallHost(address: address, session: ByteString(session), token: CallToken(ByteString(token)), engine: engine)
  }

  deinit { host.post(.command(.leave, id: 0)) }

  // MARK: The call

  /// What happens from now on; listen before you connect. Ends with `closed`. Each listener has a stream of its own, which ends also
  /// where it is `CallHost.eventsLimit` events behind.
  public func events() async -> AsyncStream<CallEvent> { await host.events() }

  /// Comes in.
  /// - Throws: `unauthorized` for a bad token; `unreachable` where no server answers for five minutes; `left` where the task is cancelled.
  @discardableResult
  public func connect() async throws(CallError) -> CallConnection { try await host.connect() }

  /// Ends the call here; what is under way is given up. Returns when cameras, sockets and peer connections are closed.
  public func leave() async { await host.leave() }

  public var state: CallState { get async { await host.session.state } }
  /// One's own; nil before `connect`.
  public var connection: CallConnection? { get async { await host.session.connection } }
  /// Those of others.
  public var connections: [CallConnection] { get async { await host.session.connections } }
  /// Those of others.
  public var streams: [CallStream] { get async { await host.session.streams } }

  // MARK: Media

  /// Sends what the sources give, at most four publications at a time. Returns when the server knows of it.
  /// - Parameters:
  ///   - name: others see it; at most 1,000 characters.
  /// - Throws: `media` where a source cannot be opened; `forbidden` by the role; `invalid` without a source.
  @discardableResult
  public func publish(
    video: (any VideoSource)? = nil, audio: (any AudioSource)? = nil, name: String = ""
  ) async throws(CallError) -> CallPublisher {
    let source = try await host.publish(video, audio, name: ByteString(name))
    return CallPublisher(source: source, host: host)
  }

  /// Gets a stream. A kind without a sink is not sent here at all. Subscribing again replaces the sinks.
  /// - Throws: `notFound` where the stream is gone; `notConnected`.
  @discardableResult
  public func subscribe(
    to stream: CallStream, video: (any VideoSink)? = nil, audio: (any AudioSink)? = nil, width: Int? = nil, height: Int? = nil
  ) async throws(CallError) -> CallSubscriber {
    let subscriber = CallSubscriber(
      stream: stream.id, host: host,
      StreamPreference(width: width.map(Int64.init), height: height.map(Int64.init), audio: audio != nil, video: video != nil))
    host.sinks.set(stream.id, video: video, audio: audio)
    do throws(CallError) {
      try await host.perform(.subscribe(stream.id))
      try await subscriber.tell()
    } catch {
      host.sinks.remove(stream.id)
      throw error
    }
    return subscriber
  }

  // MARK: Signals and moderation

  /// Returns when the server has it.
  /// - Parameters:
  ///   - kind: at most 128 of `A-Z a-z 0-9 - _ ~`.
  ///   - data: at most 8,192 bytes.
  ///   - connection: nil for all, this one included.
  public func signal(_ data: String, kind: String = "", to connection: CallConnection? = nil) async throws(CallError) {
    try await host.perform(.signal(kind: ByteString(kind), data: ByteString(data), to: connection?.id))
  }

  /// Its publisher stops sending sound until it says otherwise. Moderators.
  public func forceMute(_ stream: CallStream) async throws(CallError) {
    try await host.perform(.mute(stream: stream.id))
  }

  /// All but some, and those that come; not `isActive` takes it back. Moderators.
  public func muteAll(_ isActive: Bool = true, except: [ByteString] = []) async throws(CallError) {
    try await host.perform(.muteAll(isActive: isActive, except: except))
  }

  /// Moderators.
  public func forceUnpublish(_ stream: CallStream) async throws(CallError) {
    try await host.perform(.forceUnpublish(stream: stream.id))
  }

  /// Moderators.
  public func forceDisconnect(_ connection: CallConnection) async throws(CallError) {
    try await host.perform(.disconnect(connection: connection.id))
  }

  /// Starts or stops the recording of the session. Moderators.
  public func record(_ isOn: Bool) async throws(CallError) { try await host.perform(.record(isOn)) }
}

/// Something published here.
public struct CallPublisher: Sendable {
  /// As events name it.
  public let source: SourceID
  let host: CallHost

  /// What is sent; nil when it has ended.
  public var publication: Publication? { get async { await host.session.publication(source) } }

  /// Whether sound is sent. Others are told.
  public func setAudio(_ isOn: Bool) async throws(CallError) {
    try await host.perform(.update(source, hasAudio: isOn, hasVideo: nil))
  }

  /// Whether a picture is sent. Others are told.
  public func setVideo(_ isOn: Bool) async throws(CallError) {
    try await host.perform(.update(source, hasAudio: nil, hasVideo: isOn))
  }

  /// Ends it and stops its sources.
  public func unpublish() async throws(CallError) { try await host.perform(.unpublish(source)) }
}

/// A stream that arrives here.
public actor CallSubscriber {
  public nonisolated let stream: ByteString
  private let host: CallHost
  private var preference: StreamPreference

  init(stream: ByteString, host: CallHost, _ preference: StreamPreference) {
    self.stream = stream
    self.host = host
    self.preference = preference
  }

  /// Off: not sent here. For this participant alone.
  public func setAudio(_ isOn: Bool) async throws(CallError) {
    preference.audio = isOn
    try await tell()
  }

  /// Off: not sent here. For this participant alone.
  public func setVideo(_ isOn: Bool) async throws(CallError) {
    preference.video = isOn
    try await tell()
  }

  /// As large as it is shown, in pixels: the server sends no more than is of use.
  public func setSize(width: Int, height: Int) async throws(CallError) {
    (preference.width, preference.height) = (Int64(width), Int64(height))
    try await tell()
  }

  public func unsubscribe() async throws(CallError) {
    host.sinks.remove(stream)
    try await host.perform(.unsubscribe(stream))
  }

  func tell() async throws(CallError) { try await host.perform(.prefer(stream, preference)) }
}
