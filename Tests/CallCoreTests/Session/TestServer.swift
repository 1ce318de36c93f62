import JSON
import Testing

@testable import CallCore

/// The server's side of decision 14, for tests: one session, honest about numbers, without media.
final class TestServer {
  final class Member {
    let id: String
    let key: String
    let role: String
    /// What is said reaches the socket that is there now.
    var say: ((String) -> Void)?
    var socket: AnyObject?
    var handled: Int64 = 0
    /// Requests that are taken at once, and when that was last counted.
    var allowance = (requests: 100.0, at: Int64(0))
    var said: Int64 = 0
    var kept: [(number: Int64, text: String)] = []
    var streams: [String] = []
    /// By MID: "publish S" or "subscribe S", as the last offer that was taken says.
    var sections: [String: String] = [:]
    var lostAt: Int64?
    var most = 0

    init(_ id: String, _ role: String) {
      self.id = id
      self.role = role
      key = "key-\(id)"
    }
  }

  struct Stream {
    let id: String
    let owner: String
    var hasAudio: Bool
    var hasVideo: Bool
    var isAnnounced = false
  }

  let simulation: Simulation
  let mode: String
  var mutesAll = false
  /// So many are refused for a while.
  var refusedPublishes = 0
  /// Of a hundred relays, so many are refused for a while.
  var refusedRelays: Int64 = 0
  /// When clients may try again whose connection is not known; nil leaves it to them.
  var goneForMilliseconds: Int64?
  private(set) var members: [Member] = []
  private(set) var streams: [Stream] = []
  private var last = 0
  /// A connection that this server had forgotten has come back.
  private(set) var gone = 0

  init(_ simulation: Simulation, mode: String = "routed") {
    self.simulation = simulation
    self.mode = mode
  }

  // MARK: Sockets

  /// The first message of a socket. The answer is who speaks on it from then on.
  func greet(_ text: [UInt8], say: @escaping (String) -> Void) -> Member? {
    guard let json = try? JSON.parse(text) else { return nil }
    if json["type"]?.isString("resume") == true { return resume(json, say) }
    #expect(json["type"]?.isString("connect") == true)
    guard let token = json["token"]?.string, token.hasPrefix("token") else {
      say(#"{"type":"closed","code":"unauthorized","message":"","retry":false}"#)
      return nil
    }
    last += 1
    let role = token.split(separator: "-").dropFirst().first ?? "publisher"
    let member = Member("c\(last)", String(role))
    let others = members.map { connection($0) }.joined(separator: ",")
    let published = streams.filter { $0.isAnnounced }.map { self.stream($0) }.joined(separator: ",")
    for other in members { tell(other, "connection_created", #""connection":\#(connection(member))"#) }
    members.append(member)
    member.say = say
    let muted = mutesAll ? #","muted":true"# : ""
    say(
      #"{"type":"connected","connection":\#(connection(member)),"key":"\#(member.key)","session":"s","mode":"\#(mode)","resume_seconds":30,"#
        + #""ice_servers":[{"urls":["turn:example.org"],"username":"u","credential":"p"}],"connections":[\#(others)],"streams":[\#(published)]\#(muted)}"#
    )
    return member
  }

  private func resume(_ json: JSON, _ say: @escaping (String) -> Void) -> Member? {
    guard let id = json["connection"]?.string, let member = members.first(where: { $0.id == id }),
      json["key"]?.string == member.key, let seq = json["seq"]?.integer
    else {
      gone += 1
      let wait = goneForMilliseconds.map { #","retry_after_ms":\#($0)"# } ?? ""
      say(#"{"type":"closed","code":"gone","message":"","retry":false\#(wait)}"#)
      return nil
    }
    #expect(seq <= member.said, "nobody has heard what was not said")
    member.lostAt = nil
    member.say = say
    say(#"{"type":"resumed","handled":\#(member.handled)}"#)
    member.kept.removeAll { $0.number <= seq }
    for message in member.kept { say(message.text) }
    return member
  }

  func lost(_ socket: AnyObject) {
    guard let member = members.first(where: { $0.socket === socket }) else { return }
    member.socket = nil
    member.say = nil
    member.lostAt = simulation.now
    simulation.after(30_000) { [self] in
      if let lostAt = member.lostAt, simulation.now - lostAt >= 30_000 { remove(member, "lost") }
    }
  }

  /// As after a restart.
  func forget(_ member: Member) { remove(member, "lost") }

  private func remove(_ member: Member, _ reason: String) {
    guard let i = members.firstIndex(where: { $0 === member }) else { return }
    members.remove(at: i)
    for stream in streams where stream.owner == member.id { destroy(stream.id, reason) }
    for other in members { tell(other, "connection_destroyed", #""connection":"\#(member.id)","reason":"\#(reason)""#) }
  }

  // MARK: Saying

  private func tell(_ member: Member, _ type: String, _ members: String) {
    member.said += 1
    let text = #"{"seq":\#(member.said),"type":"\#(type)",\#(members)}"#
    member.kept.append((member.said, text))
    member.most = max(member.most, member.kept.count)
    member.say?(text)
  }

  func happen(_ type: String, _ members: String, to id: String) {
    if let member = self.members.first(where: { $0.id == id }) { tell(member, type, members) }
  }

  /// A stream of which the others do not know.
  func end(_ stream: String, _ reason: String) {
    guard let i = streams.firstIndex(where: { $0.id == stream }) else { return }
    let owner = streams.remove(at: i).owner
    members.first { $0.id == owner }?.streams.removeAll { $0 == stream }
    happen("stream_destroyed", #""stream":"\#(stream)","reason":"\#(reason)""#, to: owner)
  }

  private func connection(_ member: Member) -> String {
    #"{"id":"\#(member.id)","data":"d","role":"\#(member.role)","created":1}"#
  }

  private func stream(_ stream: Stream) -> String {
    #"{"id":"\#(stream.id)","connection":"\#(stream.owner)","name":"n","has_audio":\#(stream.hasAudio),"has_video":\#(stream.hasVideo),"#
      + #""video_type":"camera","width":640,"height":480,"muted":\#(mutesAll),"created":1}"#
  }

  // MARK: Requests

  func take(_ text: [UInt8], from member: Member) {
    // Clients that the server has forgotten get no answer.
    guard members.contains(where: { $0 === member }) else { return }
    guard let json = try? JSON.parse(text), let type = json["type"]?.string else {
      Issue.record("a client says only objects")
      return
    }
    if type == "ack" {
      let seq = json["seq"]?.integer ?? 0
      #expect(seq <= member.said)
      member.kept.removeAll { $0.number <= seq }
      return
    }
    guard let id = json["id"]?.integer, id > member.handled else { return }
    #expect(id == member.handled + 1, "requests come in order and without gaps")
    member.handled = id
    let refusal = isTooMuch(member) ? "limit" : carryOut(type, json, member)
    switch refusal {
    case nil: break
    case .some(let code) where code.isEmpty: tell(member, "done", #""id":\#(id)"#)
    case .some(let code) where code.hasPrefix("{"): tell(member, "done", #""id":\#(id),"# + code.dropFirst().dropLast())
    case .some(let code):
      let wait = code == "limit" ? #","retry_after_ms":1500"# : ""
      tell(member, "refused", #""id":\#(id),"code":"\#(code)","message":"""# + wait)
    }
  }

  /// 20 requests a second, and 100 at once.
  private func isTooMuch(_ member: Member) -> Bool {
    let earned = Double(simulation.now - member.allowance.at) / 50
    member.allowance = (min(100, member.allowance.requests + earned), simulation.now)
    guard member.allowance.requests >= 1 else { return true }
    member.allowance.requests -= 1
    return false
  }

  /// Empty for done, an object for done with members, a code for a refusal; nil where there is nobody any more to be answered.
  private func carryOut(_ type: String, _ json: JSON, _ member: Member) -> String? {
    switch type {
    case "publish": return publish(json, member)
    case "update": return update(json)
    case "unpublish": return destroy(json["stream"]?.string ?? "", "unpublished") ? "" : "not_found"
    case "offer": return offer(json, member)
    case "prefer": return streams.contains { $0.id == json["stream"]?.string } ? "" : "not_found"
    case "signal": return signal(json, member)
    case "relay":
      if simulation.chance(refusedRelays) { return "limit" }
      guard let to = members.first(where: { $0.id == json["to"]?.string }), let data = json["data"] else { return "not_found" }
      tell(to, "relay", #""from":"\#(member.id)","data":\#(String(decoding: data.bytes, as: UTF8.self))"#)
      return ""
    case "leave":
      remove(member, "left")
      return nil
    case "mute", "disconnect", "record": return member.role == "moderator" ? "" : "forbidden"
    default: return "invalid"
    }
  }

  private func publish(_ json: JSON, _ member: Member) -> String {
    if refusedPublishes > 0 {
      refusedPublishes -= 1
      return "limit"
    }
    last += 1
    let wanted = json["stream"]
    let stream = Stream(
      id: "s\(last)", owner: member.id, hasAudio: !mutesAll && wanted?["has_audio"]?.bool ?? false,
      hasVideo: wanted?["has_video"]?.bool ?? false)
    streams.append(stream)
    member.streams.append(stream.id)
    if mode == "relayed" { announce(streams.count - 1) }
    return #"{"stream":\#(self.stream(stream))}"#
  }

  private func announce(_ i: Int) {
    guard !streams[i].isAnnounced else { return }
    streams[i].isAnnounced = true
    for other in members where other.id != streams[i].owner {
      tell(other, "stream_created", #""stream":\#(stream(streams[i]))"#)
    }
  }

  private func update(_ json: JSON) -> String {
    guard let i = streams.firstIndex(where: { $0.id == json["stream"]?.string }) else { return "not_found" }
    streams[i].hasAudio = json["has_audio"]?.bool ?? streams[i].hasAudio
    streams[i].hasVideo = json["has_video"]?.bool ?? streams[i].hasVideo
    for other in members where other.id != streams[i].owner && streams[i].isAnnounced {
      let changed = #""stream":"\#(streams[i].id)","has_audio":\#(streams[i].hasAudio),"has_video":\#(streams[i].hasVideo)"#
      tell(other, "stream_changed", changed)
    }
    return ""
  }

  @discardableResult
  func destroy(_ id: String, _ reason: String) -> Bool {
    guard let i = streams.firstIndex(where: { $0.id == id }) else { return false }
    let stream = streams.remove(at: i)
    for other in members where stream.isAnnounced && other.id != stream.owner || reason == "forced" {
      tell(other, "stream_destroyed", #""stream":"\#(id)","reason":"\#(reason)""#)
    }
    return true
  }

  private func offer(_ json: JSON, _ member: Member) -> String {
    var sections: [String: String] = [:]
    for section in (json["sections"] ?? json).members {
      for use in section.value.members {
        let stream = use.value.string ?? ""
        guard streams.contains(where: { $0.id == stream }) else { return "not_found" }
        if member.role == "publisheronly", use.key.string == "subscribe" { return "forbidden" }
        sections[section.key.string] = "\(use.key.string) \(stream)"
      }
    }
    member.sections = sections
    for i in streams.indices where sections.values.contains("publish \(streams[i].id)") { announce(i) }
    return #"{"sdp":"v=0"}"#
  }

  private func signal(_ json: JSON, _ member: Member) -> String {
    let kind = json["kind"]?.string ?? ""
    let data = json["data"]?.string ?? ""
    for other in members where other !== member {
      if let to = json["to"]?.string, to != other.id { continue }
      tell(other, "signal", #""kind":"\#(kind)","data":"\#(data)","from":"\#(member.id)""#)
    }
    return ""
  }
}
