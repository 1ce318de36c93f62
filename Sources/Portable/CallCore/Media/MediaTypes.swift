import JSON

public enum CaptureKind: Sendable {
  case camera, screen, microphone
  /// What the application gave its host under this source.
  case custom
}

public enum TrackKind: Sendable { case audio, video }

public enum DescriptionKind: Sendable { case offer, answer }

/// The states of WebRTC's `iceConnectionState` that matter to a call.
public enum ICEState: Sendable { case checking, connected, disconnected, failed }

/// What a source turned out to have.
public struct CapturedMedia: Sendable {
  public var stream: ByteString
  public var hasAudio: Bool
  public var hasVideo: Bool
  /// Pixels; 0 without a picture.
  public var width: Int64
  public var height: Int64

  public init(stream: ByteString, hasAudio: Bool, hasVideo: Bool, width: Int64 = 0, height: Int64 = 0) {
    self.stream = stream
    self.hasAudio = hasAudio
    self.hasVideo = hasVideo
    self.width = width
    self.height = height
  }
}

/// Where a section of ours stands in a description.
public struct SectionMID: Sendable {
  public var section: SectionID
  public var mid: ByteString

  public init(_ section: SectionID, _ mid: ByteString) {
    self.section = section
    self.mid = mid
  }
}

/// A STUN or TURN server. Without its secrets in a log.
public struct ICEServer: Sendable, CustomStringConvertible {
  public var urls: [ByteString]
  public var username: ByteString?
  public var credential: ByteString?

  public init(urls: [ByteString], username: ByteString? = nil, credential: ByteString? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }

  public var description: String { "\(urls.count) ICE URLs" }

  /// Those of an array that are well-formed, up to the limits.
  static func list(_ json: JSON?) -> [ICEServer] {
    var servers: [ICEServer] = []
    guard let json else { return servers }
    for server in json.elements.prefix(CallLimits.iceServers) {
      var urls: [ByteString] = []
      if let url = server.text("urls") { urls.append(url) }
      for url in (server["urls"] ?? server).elements.prefix(CallLimits.iceServers) {
        if let url = url.text { urls.append(url) }
      }
      if urls.isEmpty { continue }
      servers.append(ICEServer(urls: urls, username: server.text("username"), credential: server.text("credential")))
    }
    return servers
  }
}

/// One candidate as WebRTC's `RTCIceCandidateInit` has it.
public struct ICECandidate: Sendable, Equatable {
  public var candidate: ByteString
  public var mid: ByteString?
  public var lineIndex: Int64?

  public init(candidate: ByteString, mid: ByteString?, lineIndex: Int64?) {
    self.candidate = candidate
    self.mid = mid
    self.lineIndex = lineIndex
  }

  /// Returns nil if it is not valid or names no section.
  public init?(_ json: JSON) {
    guard let candidate = json.text("candidate"), candidate.count <= CallLimits.candidateBytes else { return nil }
    self.candidate = candidate
    mid = json.text("sdpMid")
    lineIndex = json.integer("sdpMLineIndex")
    if !candidate.isEmpty, mid == nil, lineIndex == nil { return nil }
  }

  public func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("candidate", candidate)
      if let mid { writer.member("sdpMid", mid) }
      if let lineIndex { writer.member("sdpMLineIndex", lineIndex) }
    }
  }
}
