/// How many bytes a usual picture of a layer has: the mean of late, in which one key frame among many others counts little.
struct PictureBytes {
  private var timestamp: UInt32?
  private var current = 0
  private(set) var usual = 0

  mutating func add(_ bytes: Int, timestamp: UInt32) {
    guard timestamp != self.timestamp else {
      current += bytes
      return
    }
    if self.timestamp != nil { usual += (current - usual) / 16 }
    (self.timestamp, current) = (timestamp, bytes)
  }
}
