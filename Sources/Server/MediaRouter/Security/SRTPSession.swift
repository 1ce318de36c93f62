/// Seals what goes to one peer.
final class SRTPSender {
  let profile: SRTPProfile
  private let media: SRTPTransform
  private let control: SRTPTransform
  private var controlIndex: UInt32 = 0

  init(_ profile: SRTPProfile, _ master: SRTPMaster) {
    self.profile = profile
    media = SRTPTransform(profile, SRTPSessionKeys(profile, master, isControl: false), isSealing: true)
    control = SRTPTransform(profile, SRTPSessionKeys(profile, master, isControl: true), isSealing: true)
  }

  /// Seals an RTP packet in place and returns its new count.
  ///
  /// - Parameters:
  ///   - packet: `count` bytes and room for `profile.tagBytes` more.
  ///   - header: where the payload begins.
  ///   - index: ROC and sequence number. The same index must never come with other bytes.
  func seal(_ packet: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Int {
    media.seal(packet, header: header, count: count, ssrc: ssrc, index: index)
  }

  /// Seals a compound RTCP datagram.
  func sealControl(_ datagram: [UInt8]) -> [UInt8] {
    precondition(datagram.count >= SRTPTransform.controlHeaderBytes)
    controlIndex = (controlIndex + 1) & 0x7FFF_FFFF
    var sealed = datagram
    sealed += repeatElement(0, count: profile.controlTrailerBytes)
    let ssrc = datagram.span.bytes.uint32(at: 4)
    _ = sealed.withUnsafeMutableBytes {
      control.sealControl($0.baseAddress!, count: datagram.count, ssrc: ssrc, index: controlIndex)
    }
    return sealed
  }
}

/// Opens what one peer sends, each packet once.
final class SRTPReceiver {
  private struct Stream {
    var media = ReplayWindow()
    var control = ReplayWindow()
  }

  private let profile: SRTPProfile
  private let media: SRTPTransform
  private let control: SRTPTransform
  private let streamsLimit: Int
  private var streams: [Stream] = []
  /// Of each stream, side by side: they are searched for each packet.
  private var ssrcs: [UInt32] = []

  /// - Parameter streamsLimit: SSRCs beyond this many are not opened.
  init(_ profile: SRTPProfile, _ master: SRTPMaster, streamsLimit: Int) {
    self.profile = profile
    self.streamsLimit = streamsLimit
    media = SRTPTransform(profile, SRTPSessionKeys(profile, master, isControl: false), isSealing: false)
    control = SRTPTransform(profile, SRTPSessionKeys(profile, master, isControl: true), isSealing: false)
  }

  /// Opens an SRTP packet in place and returns its new count; nil for what is malformed, replayed or not authentic.
  func open(_ packet: UnsafeMutableRawBufferPointer) -> Int? {
    guard let header = RTPHeader(packet.bytes, isSealed: true) else { return nil }
    let position = ssrcs.firstIndex(of: header.ssrc)
    let window = position.map { streams[$0].media } ?? ReplayWindow()
    guard let index = window.index(of: header.sequenceNumber), window.isFresh(index),
      let count = media.open(
        packet.baseAddress!, header: header.payload.lowerBound, count: packet.count, ssrc: header.ssrc, index: index),
      let stream = position ?? add(header.ssrc)
    else { return nil }
    streams[stream].media.insert(index)
    return count
  }

  /// Opens an SRTCP datagram in place and returns its new count; nil for what is malformed, replayed, not encrypted or not authentic.
  func openControl(_ packet: UnsafeMutableRawBufferPointer) -> Int? {
    guard let start = packet.baseAddress, let word = control.controlIndex(start, count: packet.count), word.isEncrypted
    else { return nil }
    let ssrc = packet.bytes.uint32(at: 4)
    let position = ssrcs.firstIndex(of: ssrc)
    guard position.map({ streams[$0].control.isFresh(UInt64(word.index)) }) ?? true,
      let count = control.openControl(start, count: packet.count, ssrc: ssrc, index: word.index),
      let stream = position ?? add(ssrc)
    else { return nil }
    streams[stream].control.insert(UInt64(word.index))
    return count
  }

  private func add(_ ssrc: UInt32) -> Int? {
    guard streams.count < streamsLimit else { return nil }
    streams.append(Stream())
    ssrcs.append(ssrc)
    return streams.count - 1
  }
}
