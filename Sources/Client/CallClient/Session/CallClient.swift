@_exported public import CallCore
@_exported public import JSON

/// A participant in a session of a Martlet server, without a web page. It publishes the frames of sources, and passes the frames of others to sinks.
///
///     let call = try CallClient(url: "https://example.org", session: session, token: token, engine: GStreamerEngine())
///     let events = await call.events()
///     try await call.connect()
///     try await call.publish(video: TestPattern(), audio: TestTone(), name: "Ana")
///     for await event in events {
///       if case .streamCreated(let stream) = event { try await call.subscribe(to: stream, video: window, audio: speaker) }
///     }
///
/// Names, data and signals come from other users: do not trust them. A call connects only once. It ends when nothing holds this object.
public final class CallClient: Sendable {
  let host: CallHost

  /// Creates a call. Sends no request yet.
  /// - Parameters:
  ///   - url: the URL of the server (`https://…`), or of its socket (`wss://…`).
  ///   - session: the ID of the session.
  ///   - token: a token for that session, from the application's server.
  ///   - engine: the media engine. Each call needs a new one.
  /// - Throws: `invalid` if the URL is not valid.
  public init(url: String, session: String, token: String, engine: any MediaEngine) throws(CallError) {
    guard let address = SocketAddress(url) else { throw .invalid("The url is no address of a server.") }
    host = CallHost(address: address, session: ByteString(session), token: CallToken(ByteString(token)), engine: engine)
  }

  deinit { host.post(.command(.leave, id: 0)) }

  // MARK: The call

  /// Returns a stream of the events from now on. Call it before `connect`. It ends with `closed`. Each listener has its own stream, which also
  /// ends if the listener is `CallHost.eventsLimit` events behind.
  public func events() async -> AsyncStream<CallEvent> { await host.events() }

  /// Connects to the session.
  /// - Throws: `unauthorized` for a bad token; `unreachable` if no server answers for five minutes; `left` if the task is cancelled.
  @discardableResult
  public func connect() async throws(CallError) -> CallConnection { try await host.connect() }

  /// Leaves the call, and cancels operations under way. Returns when cameras, sockets and peer connections are closed.
  public func leave() async { await host.leave() }

  public var state: CallState { get async { await host.session.state } }
  /// The connection of this participant; nil before `connect`.
  public var connection: CallConnection? { get async { await host.session.connection } }
  /// The connections of the other participants.
  public var connections: [CallConnection] { get async { await host.session.connections } }
  /// The streams of the other participants.
  public var streams: [CallStream] { get async { await host.session.streams } }

  // MARK: Media

  /// Publishes the frames of sources. A participant can have at most four publications at a time. Returns when the server has confirmed it.
  /// - Parameters:
  ///   - name: a name that others see, at most 1,000 characters.
  /// - Throws: `media` if a source cannot be opened; `forbidden` if the role does not allow it; `invalid` without a source.
  @discardableResult
  public func publish(
    video: (any VideoSource)? = nil, audio: (any AudioSource)? = nil, name: String = ""
  ) async throws(CallError) -> CallPublisher {
    let source = try await host.publish(video, audio, name: ByteString(name))
    return CallPublisher(source: source, host: host)
  }

  /// Subscribes to a stream. The server does not send a kind of media that has no sink. Another call replaces the sinks.
  /// - Throws: `notFound` if the stream no longer exists; `notConnected`.
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

  /// Sends a signal to all participants, including this one. Returns when the server has it.
  /// - Parameters:
  ///   - kind: at most 128 characters of `A-Z a-z 0-9 - _ ~`.
  ///   - data: at most 8,192 bytes.
  public func signal(_ data: String, kind: String = "") async throws(CallError) {
    try await host.perform(.signal(kind: ByteString(kind), data: ByteString(data), to: nil))
  }

  /// Sends a signal to one participant. Returns when the server has it.
  /// - Throws: `notFound` if the receiver is nil or no longer in the call.
  public func signal(_ data: String, kind: String = "", to connection: CallConnection?) async throws(CallError) {
    guard let connection else { throw .notFound }
    try await host.perform(.signal(kind: ByteString(kind), data: ByteString(data), to: connection.id))
  }

  /// Mutes the audio of a stream. Its publisher can unmute it. Only for moderators.
  public func forceMute(_ stream: CallStream) async throws(CallError) {
    try await host.perform(.mute(stream: stream.id))
  }

  /// Mutes all streams except some, and also streams that begin later. If `isActive` is false, ends that. Only for moderators.
  public func muteAll(_ isActive: Bool = true, except: [ByteString] = []) async throws(CallError) {
    try await host.perform(.muteAll(isActive: isActive, except: except))
  }

  /// Ends the publication of a stream. Only for moderators.
  public func forceUnpublish(_ stream: CallStream) async throws(CallError) {
    try await host.perform(.forceUnpublish(stream: stream.id))
  }

  /// Disconnects a participant. Only for moderators.
  public func forceDisconnect(_ connection: CallConnection) async throws(CallError) {
    try await host.perform(.disconnect(connection: connection.id))
  }

  /// Starts or stops the recording of the session. Only for moderators.
  public func record(_ isOn: Bool) async throws(CallError) { try await host.perform(.record(isOn)) }
}

/// A publication of this participant.
public struct CallPublisher: Sendable {
  /// The ID of the publication in events.
  public let source: SourceID
  let host: CallHost

  /// The state of the publication; nil when it has ended.
  public var publication: Publication? { get async { await host.session.publication(source) } }

  /// Sets whether audio is sent. The server informs the other participants.
  public func setAudio(_ isOn: Bool) async throws(CallError) {
    try await host.perform(.update(source, hasAudio: isOn, hasVideo: nil))
  }

  /// Sets whether video is sent. The server informs the other participants.
  public func setVideo(_ isOn: Bool) async throws(CallError) {
    try await host.perform(.update(source, hasAudio: nil, hasVideo: isOn))
  }

  /// Ends the publication and stops its sources.
  public func unpublish() async throws(CallError) { try await host.perform(.unpublish(source)) }
}

/// A subscription to a stream.
public actor CallSubscriber {
  public nonisolated let stream: ByteString
  private let host: CallHost
  private var preference: StreamPreference

  init(stream: ByteString, host: CallHost, _ preference: StreamPreference) {
    self.stream = stream
    self.host = host
    self.preference = preference
  }

  /// Sets whether the server sends the audio to this participant.
  public func setAudio(_ isOn: Bool) async throws(CallError) {
    preference.audio = isOn
    try await tell()
  }

  /// Sets whether the server sends the video to this participant.
  public func setVideo(_ isOn: Bool) async throws(CallError) {
    preference.video = isOn
    try await tell()
  }

  /// Sets the size in which the video is shown, in pixels. The server sends no larger layer than necessary.
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
