/// By what a peer's checks are known, and when the peer was last heard. RFC 8445 §2.5, §9; RFC 7675.
struct Connectivity {
  /// One generation of ICE credentials.
  struct Generation {
    let local: ICECredentials
    /// nil where any is taken.
    let remoteUfrag: [UInt8]?
    let integrity: HMACSHA1
    /// Of what we ask the peer.
    let remoteIntegrity: HMACSHA1?

    init(_ local: ICECredentials, remoteUfrag: [UInt8]?, remotePassword: [UInt8]?) {
      self.local = local
      self.remoteUfrag = remoteUfrag
      integrity = HMACSHA1(key: local.password)
      remoteIntegrity = remotePassword.map { HMACSHA1(key: $0) }
    }

    /// Whether a USERNAME, `ours:theirs`, is of this generation.
    func isNamed(by username: [UInt8]) -> Bool {
      guard username.starts(with: local.ufrag), username.dropFirst(local.ufrag.count).first == UInt8(ascii: ":") else {
        return false
      }
      return remoteUfrag.map { $0[...] == username[(local.ufrag.count + 1)...] } ?? true
    }
  }

  enum Change { case silent, recovered, gone }

  /// A peer that says nothing authentic for so long is in trouble. Browsers check their path each 2 to 6 seconds, whatever else they send.
  static let silenceLimit = MediaTime.Interval.seconds(7)
  /// Without anything authentic for so long, the peer has gone. RFC 7675 §5.1 would have checks alone; but some agents (libnice unless
  /// told) check no more once they are connected, and media from the flow's address, which only the peer can seal, show as well that it
  /// is there and wants more.
  static let consentLimit = MediaTime.Interval.seconds(30)

  private(set) var current: Generation
  /// After a restart, until a pair of it is nominated: both count. RFC 8445 §9.
  private(set) var next: Generation?
  private var lastActivity: MediaTime
  private(set) var isSilent = false

  init(_ first: Generation, now: MediaTime) {
    current = first
    lastActivity = now
  }

  /// Of all generations that count.
  var ufrags: [[UInt8]] { [current.local.ufrag] + (next.map { [$0.local.ufrag] } ?? []) }

  func generation(of username: [UInt8]) -> Generation? {
    if current.isNamed(by: username) { return current }
    return next.flatMap { $0.isNamed(by: username) ? $0 : nil }
  }

  mutating func restart(_ generation: Generation) { next = generation }

  /// A pair of this generation was nominated: what came before it is over. The ufrag that no longer counts, if there is one.
  mutating func nominate(_ generation: Generation) -> [UInt8]? {
    guard let next, next.local == generation.local else { return nil }
    defer { (current, self.next) = (next, nil) }
    return current.local.ufrag
  }

  /// Something authentic came.
  mutating func noteActivity(now: MediaTime) -> Change? {
    lastActivity = now
    guard isSilent else { return nil }
    isSilent = false
    return .recovered
  }

  /// - Parameter isConnected: before that, silence is no trouble yet.
  mutating func advance(to now: MediaTime, isConnected: Bool) -> Change? {
    if now - lastActivity >= Self.consentLimit { return .gone }
    guard isConnected, !isSilent, now - lastActivity >= Self.silenceLimit else { return nil }
    isSilent = true
    return .silent
  }
}
