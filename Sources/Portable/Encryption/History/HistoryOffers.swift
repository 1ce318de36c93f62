import JSON
import MatrixModel
import Olm

/// Bundles of keys that people have offered, and invitations that the user has accepted. One is taken when both are of the same person and room,
/// within a day: nobody makes this device download what it likes.
struct HistoryOffers: Equatable, Sendable {
  static let lifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  static let limit = 100, offersOfGiver = 10
  static let fileBytes = 4_096

  struct Offer: Equatable, Sendable {
    let room: RoomID
    let giver: UserID
    /// The device that has sent it.
    let identity: Curve25519Key
    let signing: Ed25519Key
    /// An `EncryptedFile`, as JSON.
    let file: [UInt8]
    let at: Int64
  }

  struct Acceptance: Equatable, Sendable {
    let room: RoomID
    let inviter: UserID
    let at: Int64
  }

  private(set) var offers: [Offer] = []
  private(set) var acceptances: [Acceptance] = []

  /// The newest of a room and person counts. Nobody pushes those of others out alone.
  mutating func add(_ offer: Offer) {
    offers.removeAll { $0.room == offer.room && $0.giver == offer.giver }
    let own = offers.indices.filter { offers[$0].giver == offer.giver }
    if own.count >= Self.offersOfGiver, let oldest = own.first { offers.remove(at: oldest) }
    offers.append(offer)
    if offers.count > Self.limit { offers.removeFirst() }
  }

  mutating func add(_ acceptance: Acceptance) {
    acceptances.removeAll { $0.room == acceptance.room }
    acceptances.append(acceptance)
    if acceptances.count > Self.limit { acceptances.removeFirst() }
  }

  /// Offers of who has invited the user.
  func wanted(at now: Int64) -> [Offer] {
    offers.filter { offer in
      acceptances.contains {
        $0.room == offer.room && $0.inviter == offer.giver && (0..<Self.lifetimeMilliseconds).contains(now - $0.at)
      }
    }
  }

  mutating func remove(of giver: UserID, in room: RoomID) { offers.removeAll { $0.room == room && $0.giver == giver } }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.array("offers", offers) { offer, writer in
        writer.object { writer in
          writer.member("room", offer.room)
          writer.member("giver", offer.giver)
          writer.member("identity", base64: offer.identity.bytes)
          writer.member("signing", base64: offer.signing.bytes)
          writer.member("file", raw: offer.file)
          writer.member("at", offer.at)
        }
      }
      writer.array("accepted", acceptances) { acceptance, writer in
        writer.object { writer in
          writer.member("room", acceptance.room)
          writer.member("inviter", acceptance.inviter)
          writer.member("at", acceptance.at)
        }
      }
    }
  }

  init() {}

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    for entry in json["offers"]?.elements.map({ $0 }) ?? [] {
      guard let file = entry["file"], file.isObject else { throw .unreadable }
      offers.append(
        Offer(
          room: try entry.identifier("room"), giver: try entry.identifier("giver"), identity: try entry.identityKey("identity"),
          signing: try entry.signingKey("signing"), file: Array(file.bytes), at: try entry.number("at")))
    }
    for entry in json["accepted"]?.elements.map({ $0 }) ?? [] {
      acceptances.append(
        Acceptance(
          room: try entry.identifier("room"), inviter: try entry.identifier("inviter"), at: try entry.number("at")))
    }
  }
}

extension RecordNames {
  static let history: ByteString = "e/bundles"
}
