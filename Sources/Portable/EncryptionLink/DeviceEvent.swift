import JSON

/// A device of a user, by its IDs.
package struct LinkDevice: Equatable, Sendable {
  package let user: ByteString
  package let device: ByteString

  package init(user: ByteString, device: ByteString) {
    self.user = user
    self.device = device
  }
}

/// An event of the page for devices, or from one, encrypted between them.
package struct DeviceEvent: Equatable, Sendable {
  package let type: ByteString
  /// A JSON object.
  package let content: [UInt8]

  package init(type: ByteString, content: [UInt8]) {
    self.type = type
    self.content = content
  }
}

/// An event that came from a device, and what is proven of that.
package struct ReceivedDeviceEvent: Equatable, Sendable {
  package let event: DeviceEvent
  package let sender: LinkDevice
  /// Whether the device is signed by its user, as far as this side knows that user's keys.
  package let isSigned: Bool
  /// Whether the device would get keys of rooms from this one.
  package let isReader: Bool

  package init(event: DeviceEvent, sender: LinkDevice, isSigned: Bool, isReader: Bool) {
    self.event = event
    self.sender = sender
    self.isSigned = isSigned
    self.isReader = isReader
  }
}

// MARK: As bytes

extension LinkWriter {
  mutating func write(_ event: DeviceEvent) {
    write(event.type)
    write(event.content)
  }

  mutating func write(_ device: LinkDevice) {
    write(device.user)
    write(device.device)
  }

  mutating func write(_ received: ReceivedDeviceEvent) {
    write(received.event)
    write(received.sender)
    write(received.isSigned)
    write(received.isReader)
  }
}

extension LinkReader {
  mutating func deviceEvent() throws(LinkError) -> DeviceEvent { DeviceEvent(type: try text(), content: try bytes()) }

  mutating func device() throws(LinkError) -> LinkDevice { LinkDevice(user: try text(), device: try text()) }

  mutating func devices() throws(LinkError) -> [LinkDevice] { try list { (one) throws(LinkError) in try one.device() } }

  mutating func receivedDeviceEvent() throws(LinkError) -> ReceivedDeviceEvent {
    ReceivedDeviceEvent(event: try deviceEvent(), sender: try device(), isSigned: try flag(), isReader: try flag())
  }
}
