import MediaRouter
import Synchronization

/// The smallest signalling there can be: offers in, answers out.
final class RouterPeer {
  private struct Publisher {
    var tracks: [(id: TrackID, codec: Codec, parameters: String?)]
  }

  private final class Log: Sendable {
    let events = Mutex<[RouterEvent]>([])
  }

  private let worker: MediaWorker
  private let log = Log()
  private var publishers: [String: Publisher] = [:]
  private var videos: [String: [SubscriptionID]] = [:]
  private var lastNumber: UInt64 = 0
  private var random = SystemRandomNumberGenerator()

  init(_ address: TransportAddress) throws {
    let log = log
    worker = try MediaWorker(DTLSIdentity(), address: address, takesStreams: true) { events in
      log.events.withLock { $0 += events }
    }
    try worker.start()
  }

  func answer(to line: String) -> String {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    do {
      switch words.first {
      case "publish" where words.count == 3: return try publish(words[1], Self.offer(words[2]))
      case "subscribe" where words.count == 3:
        let rest = words[2].split(separator: " ", maxSplits: 1).map(String.init)
        guard rest.count == 2, let publisher = publishers[rest[0]] else { return "error no publisher" }
        return try subscribe(words[1], publisher, Self.offer(rest[1]))
      case "layer" where words.count == 3:
        let numbers = words[2].split(separator: " ").compactMap { UInt8($0) }
        guard numbers.count == 2 else { return "error numbers" }
        worker.submit(
          (videos[words[1]] ?? []).map { .limit($0, LayerLimit(spatial: Int(numbers[0]), temporal: numbers[1])) })
        return "ok"
      case "events":
        return log.events.withLock { events in
          defer { events = [] }
          return "\(events)"
        }
      case "port": return "\(worker.address.port)"
      default: return "error unknown request"
      }
    } catch {
      return "error \(error)"
    }
  }

  private static func offer(_ text: String) throws -> PeerOffer {
    try PeerOffer(String(text.map { $0 == "|" ? "\n" : $0 }))
  }

  private func publish(_ name: String, _ offer: PeerOffer) throws -> String {
    let transport = TransportID(number())
    var commands: [RouterCommand] = []
    var tracks: [(id: TrackID, codec: Codec, parameters: String?)] = []
    let choices = offer.media.map { media -> PeerOffer.Choice in
      guard let media, media.sends else { return .refuse }
      let wanted: [Codec] = media.isAudio ? [.opus] : [.vp8, .h264, .vp9, .av1]
      let first = media.formats.first { $0.codec.map(wanted.contains) ?? false }?.codec
      guard let codec = first, let format = media.format(codec), let parameters = media.trackParameters(format) else {
        return .refuse
      }
      let id = TrackID(number())
      tracks.append((id, codec, format.parameters))
      commands.append(.publish(id, on: transport, parameters))
      return .receive(format)
    }
    publishers[name] = Publisher(tracks: tracks)
    return open(transport, offer, choices, commands)
  }

  private func subscribe(_ name: String, _ publisher: Publisher, _ offer: PeerOffer) throws -> String {
    let transport = TransportID(number())
    var left = publisher.tracks
    var commands: [RouterCommand] = []
    let choices = offer.media.map { media -> PeerOffer.Choice in
      guard let media, media.receives, let i = left.firstIndex(where: { ($0.codec == .opus) == media.isAudio }),
        let format = media.format(left[i].codec, like: left[i].parameters)
      else { return .refuse }
      let track = left.remove(at: i)
      let id = SubscriptionID(number())
      let ssrc = UInt32.random(in: 1 ... .max)
      let rtxSSRC = format.rtxPayloadType.map { _ in UInt32.random(in: 1 ... .max) }
      let parameters = media.subscriptionParameters(format, ssrc: ssrc, rtxSSRC: rtxSSRC)
      commands.append(.subscribe(id, to: track.id, on: transport, parameters))
      if !media.isAudio { videos[name, default: []].append(id) }
      return .send(format, ssrc: ssrc, rtxSSRC: rtxSSRC, stream: "stream", track: media.isAudio ? "audio" : "video")
    }
    return open(transport, offer, choices, commands)
  }

  private func open(
    _ transport: TransportID, _ offer: PeerOffer, _ choices: [PeerOffer.Choice], _ commands: [RouterCommand]
  ) -> String {
    let credentials = ICECredentials.random(using: &random)
    let parameters = TransportParameters(
      local: credentials, remoteUfrag: Array(offer.identity.ufrag.utf8), remotePassword: Array(offer.password.utf8),
      fingerprint: offer.identity.fingerprint,
      isDTLSClient: offer.isPassive)
    worker.submit([.open(transport, parameters)] + commands)
    let text = offer.answer(
      choices, credentials: credentials, fingerprint: worker.fingerprint, candidates: worker.candidates(),
      number: transport.number)
    return text.split(whereSeparator: \.isNewline).joined(separator: "|")
  }

  private func number() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}
