/// What taps of tracks got, in the order in which it left.
package struct TappedBatch: Sendable {
  /// A packet that a subscriber would have got, opened.
  package struct Packet: Sendable {
    package var subscription: SubscriptionID
    /// One more than of the packet before it, also where layers have changed; a gap is what is missing.
    package var sequence: UInt64
    package var timestamp: UInt32
    /// The last one of a picture.
    package var marker: Bool
    package var startsFrame: Bool
    /// Decoding can begin with the frame that this packet begins.
    package var isKeyFrame: Bool
    package var arrival: MediaTime
    /// In the batch's bytes, without the payload descriptor.
    package var media: Range<Int>

    package init(
      subscription: SubscriptionID, sequence: UInt64, timestamp: UInt32, marker: Bool, startsFrame: Bool, isKeyFrame: Bool,
      arrival: MediaTime, media: Range<Int>
    ) {
      self.subscription = subscription
      self.sequence = sequence
      self.timestamp = timestamp
      self.marker = marker
      self.startsFrame = startsFrame
      self.isKeyFrame = isKeyFrame
      self.arrival = arrival
      self.media = media
    }
  }

  /// What the publisher's clock showed at a timestamp of the packets. RFC 3550 §6.4.1.
  package struct Report: Sendable {
    package var subscription: SubscriptionID
    package var ntpTime: UInt64
    package var timestamp: UInt32

    package init(subscription: SubscriptionID, ntpTime: UInt64, timestamp: UInt32) {
      self.subscription = subscription
      self.ntpTime = ntpTime
      self.timestamp = timestamp
    }
  }

  package var packets: [Packet] = []
  package var reports: [Report] = []
  package var bytes: [UInt8] = []

  package init() {}

  package var isEmpty: Bool { packets.isEmpty && reports.isEmpty }

  /// What it takes up in memory; packets without content do too.
  package var cost: Int {
    bytes.count + MemoryLayout<Packet>.stride * packets.count + MemoryLayout<Report>.stride * reports.count
  }
}
