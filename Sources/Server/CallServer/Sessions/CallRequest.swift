import JSON
import MatrixModel
import MediaRouter

/// What a connection asks for, its form checked.
enum CallRequest: Sendable {
  /// What a media section of an offer is for.
  enum Purpose: Sendable, Equatable {
    case publish(StreamID)
    case subscribe(StreamID)
  }

  case publish(StreamDescription)
  case update(StreamID, StreamDescription.Change)
  case unpublish(StreamID)
  /// Read already: of all requests that takes longest, and it needs nothing of a session.
  case offer(Result<PeerOffer, CallRefusal>, [ByteString: Purpose])
  case prefer(StreamID, Preference)
  case signal(CallSignal, to: ConnectionID?)
  case relay(ByteString, to: ConnectionID)
  case mute(StreamID)
  case muteAll(except: Set<StreamID>, isActive: Bool)
  case disconnect(ConnectionID)
  /// Starts a recording, or stops it.
  case record(starts: Bool)
  case leave

  init(_ type: ByteString, _ json: JSON) throws(CallRefusal) {
    switch type {
    case "publish":
      guard let stream = json["stream"], stream.isObject else { throw .invalid("publish has stream.") }
      self = .publish(try StreamDescription(stream))
    case "update": self = .update(try json.id("stream"), try StreamDescription.Change(json))
    case "unpublish": self = .unpublish(try json.id("stream"))
    case "offer": self = try Self.offer(json)
    case "prefer": self = .prefer(try json.id("stream"), try Preference(json))
    case "signal": self = .signal(try CallSignal(kind: json["kind"], data: json["data"]), to: try json.receiver())
    case "relay":
      guard let data = json["data"]?.text else { throw .invalid("relay has data.") }
      self = .relay(data, to: try json.id("to"))
    case "mute": self = try Self.mute(json)
    case "disconnect": self = .disconnect(try json.id("connection"))
    case "record":
      switch json["action"]?.text {
      case "start": self = .record(starts: true)
      case "stop": self = .record(starts: false)
      default: throw .invalid("action is start or stop.")
      }
    case "leave": self = .leave
    default: throw .invalid("This type of request is not known here.")
    }
  }

  private static func offer(_ json: JSON) throws(CallRefusal) -> CallRequest {
    guard let sdp = json["sdp"]?.string, let sections = json["sections"], sections.isObject else {
      throw .invalid("offer has sdp and sections.")
    }
    guard sections.count <= CallLimits.sections else { throw CallRefusal(.tooLarge, "An offer has too many sections.") }
    var purposes: [ByteString: Purpose] = [:]
    for member in sections.members {
      if member.value["publish"] != nil {
        purposes[member.key] = .publish(try member.value.id("publish"))
      } else {
        purposes[member.key] = .subscribe(try member.value.id("subscribe"))
      }
    }
    return .offer(Result { () throws(CallRefusal) in try peerOffer(sdp) }, purposes)
  }

  private static func peerOffer(_ text: String) throws(CallRefusal) -> PeerOffer {
    do throws(SDPError) { return try PeerOffer(text) } catch {
      switch error {
      case .tooLarge: throw CallRefusal(.tooLarge, "The offer is too long.")
      case .malformed: throw .invalid("The offer is no SDP.")
      case .unsupported: throw .invalid("The offer is not one bundled transport with ICE and a fingerprint.")
      }
    }
  }

  private static func mute(_ json: JSON) throws(CallRefusal) -> CallRequest {
    guard json["all"]?.bool == true else { return .mute(try json.id("stream")) }
    var except: Set<StreamID> = []
    if let list = json["except"] {
      guard list.isArray, list.count <= CallLimits.streams else { throw .invalid("except is a list of streams.") }
      for element in list.elements { StreamID(element).map { _ = except.insert($0) } }
    }
    return .muteAll(except: except, isActive: try json.optionalBool("active") ?? true)
  }
}

/// How a subscriber wants a stream; nil where it does not matter.
struct Preference: Sendable, Equatable {
  var width: Int64?
  var height: Int64?
  var frameRate: Int64?
  /// false pauses it.
  var audio: Bool?
  var video: Bool?

  init() {}

  init(_ json: JSON) throws(CallRefusal) {
    width = try json.optionalSide("width")
    height = try json.optionalSide("height")
    if let rate = json["frame_rate"] {
      guard let number = rate.integer, (1...240).contains(number) else { throw .invalid("frame_rate is from 1 to 240.") }
      frameRate = number
    }
    audio = try json.optionalBool("audio")
    video = try json.optionalBool("video")
  }
}

/// A message of the application's.
package struct CallSignal: Sendable, Equatable {
  package let kind: ByteString
  package let data: ByteString

  /// Throws `invalid`, `too_large`.
  package init(kind: JSON?, data: JSON?) throws(CallRefusal) {
    for value in [kind, data] {
      guard value == nil || value?.isString == true else { throw .invalid("kind and data are texts.") }
    }
    self.kind = kind?.text ?? ""
    self.data = data?.text ?? ""
    // Control characters are longer where they are written, and everybody is owed what is written.
    var written = JSONWriter()
    written.write(self.data)
    guard self.kind.count <= CallLimits.signalKindCharacters, self.data.count <= CallLimits.signalDataBytes,
      written.bytes.count <= 2 * CallLimits.signalDataBytes
    else {
      throw CallRefusal(
        .tooLarge,
        "kind has at most \(CallLimits.signalKindCharacters) characters, data \(CallLimits.signalDataBytes) bytes.")
    }
    guard self.kind.utf8.allSatisfy({ CallName.isPlain($0) || $0 == UInt8(ascii: "~") }) else {
      throw .invalid("kind is of letters, digits, - _ and ~.")
    }
  }
}

extension JSON {
  func id<ID: Identifier>(_ key: StaticString) throws(CallRefusal) -> ID {
    guard let id = ID(self[key]) else { throw .invalid("\(key) is not valid.") }
    return id
  }

  func optionalID<ID: Identifier>(_ key: StaticString) throws(CallRefusal) -> ID? {
    guard let value = self[key], !value.isNull else { return nil }
    return try id(key)
  }

  /// Returns the connection in `to`, or nil for all. Throws `not_found` for a text that is no connection ID.
  fileprivate func receiver() throws(CallRefusal) -> ConnectionID? {
    guard let id = ConnectionID(self["to"]) else {
      if self["to"]?.isString == true { throw .noConnection }
      return try optionalID("to")
    }
    return id
  }

  func optionalBool(_ key: StaticString) throws(CallRefusal) -> Bool? {
    guard let value = self[key], !value.isNull else { return nil }
    guard let bool = value.bool else { throw .invalid("\(key) is true or false.") }
    return bool
  }

  /// Of a picture, in pixels.
  func optionalSide(_ key: StaticString) throws(CallRefusal) -> Int64? {
    guard let value = self[key], !value.isNull else { return nil }
    guard let pixels = value.integer, (0...CallLimits.pictureSide).contains(pixels) else {
      throw .invalid("\(key) is from 0 to \(CallLimits.pictureSide).")
    }
    return pixels
  }
}
