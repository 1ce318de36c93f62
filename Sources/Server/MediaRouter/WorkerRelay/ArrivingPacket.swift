/// A packet that was opened and described, where it lies until its layer's cache has it.
struct ArrivingPacket {
  var media: MediaPacket
  /// Which of its track's layers it is of.
  var position: Int
  /// Of the datagram it came in.
  var datagramBytes: Int
  var descriptor: UnsafeRawBufferPointer
  var payload: UnsafeRawBufferPointer

  init(
    _ media: MediaPacket, of position: Int, datagramBytes: Int, descriptor: UnsafeRawBufferPointer,
    payload: UnsafeRawBufferPointer
  ) {
    self.media = media
    self.position = position
    self.datagramBytes = datagramBytes
    self.descriptor = descriptor
    self.payload = payload
  }

  /// Padding alone.
  init(_ padding: MediaPacket, of position: Int) {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    self.init(padding, of: position, datagramBytes: 0, descriptor: nothing, payload: nothing)
  }

  /// Its number is gone, and it is nobody's media.
  var isPadding: Bool { payload.isEmpty }
}
