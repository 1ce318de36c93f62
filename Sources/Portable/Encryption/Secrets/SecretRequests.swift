import JSON
import MatrixModel
import Olm

/// An `m.secret.request` for devices of the own user. It is not encrypted.
package struct SecretRequestMessage: Equatable, Sendable {
  package let devices: [DeviceID]
  package let content: [UInt8]
}

/// The secrets that this device has asked the user's other devices for. Spec: Client-Server API, "Sharing".
///
/// A value: store it after each call that changes it, before its message is sent.
package struct SecretRequests: Sendable {
  struct Request: Equatable, Sendable {
    let id: ByteString
    var devices: [Asked]
  }

  /// A device by its keys: another may come under its ID.
  struct Asked: Equatable, Sendable {
    let device: DeviceID
    let identity: Curve25519Key
    let signing: Ed25519Key
  }

  private let own: DeviceID
  private(set) var open: [SecretName: Request] = [:]

  /// - Parameter own: this device.
  package init(from own: DeviceID) { self.own = own }

  package func isOpen(_ name: SecretName) -> Bool { open[name] != nil }

  /// Whether everything is here that another device certainly has: there may be no dehydrated device.
  var areSettled: Bool { open.keys.allSatisfy { $0 == .dehydrationKey } }

  /// Asks once for a secret.
  ///
  /// - Parameter devices: verified devices of the own user (`Trust.isVerifiedOwn`).
  /// - Returns: nil if there is nobody to ask, or if an earlier request is open.
  package mutating func ask(
    for name: SecretName, _ devices: [DeviceKeys], random: inout SecretSource
  ) -> SecretRequestMessage? {
    guard open[name] == nil, !devices.isEmpty else { return nil }
    let id = RecordNames.hexadecimal(random.bytes(16)[...])
    let asked = devices.map { Asked(device: $0.device, identity: $0.identity, signing: $0.signing) }
    open[name] = Request(id: id, devices: asked)
    return message(id, to: asked) { writer in
      writer.member("action", "request")
      writer.member("name", name.text)
    }
  }

  /// Returns the secret that an `m.secret.send` brings; nil unless this device has asked the sender for it, and the sender is still verified.
  /// The caller checks that the private key fits its public key, and then calls `close` or `refuse`.
  package func answer(_ payload: OlmPayload, _ trust: Trust) -> (name: SecretName, value: Secret)? {
    guard payload.type == "m.secret.send", let device = payload.device, trust.isVerifiedOwn(device),
      let id = payload.content.text("request_id"), let name = SecretName.allCases.first(where: { open[$0]?.id == id }),
      open[name]?.devices.contains(where: { $0.isSame(as: payload) }) ?? false,
      let bytes = payload.content.base64("secret"), bytes.count == StorageKey.valueByteCount
    else { return nil }
    return (name, Secret(bytes))
  }

  /// The secret is here. Returns the message that tells the other devices.
  ///
  /// - Parameter payload: the answer, if the secret came from a device.
  package mutating func close(_ name: SecretName, answeredBy payload: OlmPayload? = nil) -> SecretRequestMessage? {
    guard let request = open.removeValue(forKey: name) else { return nil }
    let others = request.devices.filter { device in payload.map { !device.isSame(as: $0) } ?? true }
    guard !others.isEmpty else { return nil }
    return message(request.id, to: others) { $0.member("action", "request_cancellation") }
  }

  /// The device has given a key that does not fit. Nothing more is taken from it for this request.
  package mutating func refuse(_ name: SecretName, from payload: OlmPayload) {
    open[name]?.devices.removeAll { $0.isSame(as: payload) }
    if open[name]?.devices.isEmpty ?? false { open[name] = nil }
  }

  private func message(_ id: ByteString, to asked: [Asked], _ body: (inout JSONWriter) -> Void) -> SecretRequestMessage {
    let content = JSONWriter.object { writer in
      body(&writer)
      writer.member("request_id", id)
      writer.member("requesting_device_id", own)
    }
    return SecretRequestMessage(devices: asked.map { $0.device }, content: content)
  }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.member("device", own)
      writer.array("open", open.keys.ordered { $0.rawValue < $1.rawValue }) { name, writer in
        guard let request = open[name] else { return }
        writer.object { writer in
          writer.member("name", name.text)
          writer.member("id", request.id)
          writer.array("asked", request.devices) { asked, writer in
            writer.object { writer in
              writer.member("device", asked.device)
              writer.member("identity", base64: asked.identity.bytes)
              writer.member("signing", base64: asked.signing.bytes)
            }
          }
        }
      }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    self.init(from: try json.identifier("device"))
    for entry in json["open"]?.elements.map({ $0 }) ?? [] {
      guard let name = entry.text("name").flatMap({ SecretName($0) }), let id = entry.text("id") else { throw .unreadable }
      var devices: [Asked] = []
      for asked in entry["asked"]?.elements.map({ $0 }) ?? [] {
        devices.append(
          Asked(
            device: try asked.identifier("device"), identity: try asked.identityKey("identity"),
            signing: try asked.signingKey("signing")))
      }
      open[name] = Request(id: id, devices: devices)
    }
  }
}

extension SecretRequests.Asked {
  fileprivate func isSame(as payload: OlmPayload) -> Bool {
    identity == payload.identity && signing == payload.signing
  }
}

extension RecordNames {
  static let secretRequests: ByteString = "e/secrets"
}
