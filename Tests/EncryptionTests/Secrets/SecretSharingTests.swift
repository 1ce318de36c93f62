import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct SecretSharingTests {
  private let desk = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "a desk")
  private let sofa = TestDevice(of: ann, DeviceID(trusted: "SOFA"), seed: "a sofa")

  /// Ann on her tablet, with two signed devices elsewhere.
  private func known() throws -> (Knowledge, TestUser) {
    var known = Knowledge()
    var own = try known.setUp()
    try own.add(desk)
    try own.add(sofa)
    try known.learn([own])
    return (known, own)
  }

  private func keys(_ device: TestDevice, _ known: Knowledge) throws -> DeviceKeys {
    try #require(known.tracker.device(device.own.device, of: device.own.user))
  }

  /// An `m.secret.send` as it comes out of an Olm session.
  private func payload(
    _ id: ByteString, _ secret: Secret, by device: TestDevice, to known: Knowledge, type: ByteString = "m.secret.send",
    from sender: UserID = ann
  ) throws -> OlmPayload {
    let content = try JSON.object { writer in
      writer.member("request_id", id)
      writer.member("secret", base64: secret.exposed())
    }
    return try payload(content, by: device, to: known, type: type, from: sender)
  }

  private func payload(
    _ content: JSON, by device: TestDevice, to known: Knowledge, type: ByteString = "m.secret.send", from sender: UserID = ann
  ) throws -> OlmPayload {
    let own = OwnKeys(user: sender, device: device.own.device, account: device.own.account)
    let bytes = OlmPayload.write(type, content, from: own, to: known.device.own.deviceKeys)
    return try OlmPayload(
      try JSON.parse(bytes), from: sender, by: device.own.account.identity.key, to: known.device.own, knowing: known.tracker)
  }

  private func requestID(_ message: SecretRequestMessage?) throws -> ByteString {
    let content = try #require(message).content
    return try #require(JSON.parse(content).text("request_id"))
  }

  // MARK: Asking

  @Test func `a secret is asked for once, taken, and the other devices are told`() throws {
    var (known, _) = try known(), requests = SecretRequests(from: known.device.own.device)
    let devices = [try keys(desk, known), try keys(sofa, known)]
    let nothing = requests.ask(for: .masterKey, [], random: &known.device.random)
    #expect(nothing == nil && !requests.isOpen(.masterKey))
    let asked = requests.ask(for: .masterKey, devices, random: &known.device.random)
    let message = try #require(asked)
    #expect(message.devices == [desk.own.device, sofa.own.device])
    let json = try JSON.parse(message.content), id = try #require(json.text("request_id"))
    #expect(json.text("action") == "request" && json.text("name") == "m.cross_signing.master")
    #expect(json.text("requesting_device_id") == "TABLET")
    let again = requests.ask(for: .masterKey, devices, random: &known.device.random)
    #expect(again == nil && requests.isOpen(.masterKey))

    let secret = Secret([UInt8](repeating: 5, count: 32))
    let answer = try payload(id, secret, by: sofa, to: known)
    let taken = try #require(requests.answer(answer, known.trust))
    #expect(taken.name == .masterKey && taken.value.isEqual(to: secret))
    let closed = requests.close(.masterKey, answeredBy: answer)
    let cancellation = try #require(closed)
    #expect(cancellation.devices == [desk.own.device])
    let cancelled = try JSON.parse(cancellation.content)
    #expect(cancelled.text("action") == "request_cancellation" && cancelled.text("request_id") == id)
    #expect(cancelled.text("requesting_device_id") == "TABLET" && cancelled["name"] == nil)
    #expect(requests.answer(answer, known.trust) == nil && !requests.isOpen(.masterKey))
  }

  @Test func `a secret is taken only from a device that was asked, and in its shape`() throws {
    var (known, own) = try known(), requests = SecretRequests(from: known.device.own.device)
    let asked = requests.ask(for: .backupKey, [try keys(desk, known)], random: &known.device.random)
    let id = try requestID(asked)
    let secret = Secret([UInt8](repeating: 5, count: 32))
    func taken(_ payload: OlmPayload) -> SecretName? { requests.answer(payload, known.trust)?.name }
    #expect(try taken(payload(id, secret, by: desk, to: known)) == .backupKey)
    #expect(try taken(payload(id, secret, by: sofa, to: known)) == nil, "it was not asked")
    #expect(try taken(payload("other", secret, by: desk, to: known)) == nil)
    #expect(try taken(payload(id, secret, by: desk, to: known, type: "m.secret.other")) == nil)
    #expect(try taken(payload(id, Secret([1]), by: desk, to: known)) == nil)
    #expect(try taken(payload(try parsed(#"{"request_id":"\#(id.string)"}"#), by: desk, to: known)) == nil)
    #expect(try taken(payload(try parsed("{}"), by: desk, to: known)) == nil)
    // Another user has a device of the same keys.
    #expect(try taken(payload(id, secret, by: desk, to: known, from: bob)) == nil)
    // The device lost its signature meanwhile.
    own.devices.removeAll { $0.id == desk.own.device }
    try own.addUnsigned(desk)
    let answer = try payload(id, secret, by: desk, to: known)
    try known.learn([own])
    #expect(taken(answer) == .backupKey, "as it was when the message was opened")
    #expect(try taken(payload(id, secret, by: desk, to: known)) == nil)
  }

  @Test func `a device that gave a wrong key is not listened to again`() throws {
    var (known, _) = try known(), requests = SecretRequests(from: known.device.own.device)
    let asked = requests.ask(for: .masterKey, [try keys(desk, known), try keys(sofa, known)], random: &known.device.random)
    let id = try requestID(asked)
    let wrong = try payload(id, Secret([UInt8](repeating: 5, count: 32)), by: desk, to: known)
    let other = try payload(id, Secret([UInt8](repeating: 5, count: 32)), by: sofa, to: known)
    #expect(requests.answer(wrong, known.trust) != nil)
    requests.refuse(.masterKey, from: wrong)
    #expect(requests.answer(wrong, known.trust) == nil && requests.answer(other, known.trust) != nil)
    requests.refuse(.masterKey, from: other)
    #expect(!requests.isOpen(.masterKey), "another request may be made")
  }

  @Test func `open requests are restored as they were stored`() throws {
    var (known, _) = try known(), requests = SecretRequests(from: known.device.own.device)
    for name in SecretName.allCases { _ = requests.ask(for: name, [try keys(desk, known)], random: &known.device.random) }
    #expect(
      try SecretRequests(record: requests.record).open == requests.open && requests.open.count == SecretName.allCases.count)
    let json = try JSON.parse(requests.record)
    for wrong in ["[7]", #"[{"name":"other","id":"a"}]"#, #"[{"name":"m.megolm_backup.v1"}]"#] {
      let changed = try json.replacing(["open"]) { $0.member("open", raw: Array(wrong.utf8)) }
      #expect(throws: RecordRefusal.unreadable) { try SecretRequests(record: Array(changed.bytes)) }
    }
    var restored = try SecretRequests(record: requests.record)
    let closed = restored.close(.backupKey)
    #expect(closed?.devices == [desk.own.device])
  }

  // MARK: Answering

  private func request(_ name: String = "m.megolm_backup.v1", by device: String = "DESK", action: String = "request") throws
    -> JSON
  {
    try parsed(#"{"action":"\#(action)","name":"\#(name)","request_id":"r","requesting_device_id":"\#(device)"}"#)
  }

  @Test func `a device gets secrets for a quarter of an hour after it was verified here`() throws {
    let (known, _) = try known()
    var answers = SecretAnswers()
    func answered(at now: Int64, _ json: JSON, always: Bool = false) -> SecretName? {
      answers.request(json, from: ann, knowing: known.tracker, known.trust, isAlwaysAllowed: always, at: now)?.name
    }
    let json = try request()
    #expect(answered(at: 5_000, json) == nil && answered(at: 5_000, json, always: true) == .backupKey)
    answers.noteVerification(of: try keys(desk, known), at: 5_000)
    let end = 5_000 + SecretAnswers.patienceMilliseconds
    #expect(answered(at: 5_000, json) == .backupKey && answered(at: end - 1, json) == .backupKey)
    #expect(answered(at: end, json) == nil && answered(at: 4_999, json) == nil)
    #expect(answered(at: 5_000, try request(by: "SOFA")) == nil)
    let accepted = try #require(answers.request(json, from: ann, knowing: known.tracker, known.trust, at: 5_000))
    #expect(accepted.device == (try keys(desk, known)))
    let secret = Secret([UInt8](repeating: 5, count: 32)), content = try accepted.content(secret)
    #expect(content.text("request_id") == "r" && content.base64("secret") == secret.exposed())
  }

  @Test func `a request of anybody but a verified own device is not answered`() throws {
    var (known, own) = try known()
    let answers = SecretAnswers()
    func answered(_ json: JSON, from sender: UserID = ann) -> SecretName? {
      answers.request(json, from: sender, knowing: known.tracker, known.trust, isAlwaysAllowed: true, at: 0)?.name
    }
    #expect(try answered(request()) == .backupKey)
    for name in SecretName.allCases { #expect(try answered(request(name.text.string)) == name) }
    #expect(try answered(request("org.example.other")) == nil && answered(request(action: "request_cancellation")) == nil)
    #expect(try answered(request(by: "TABLET")) == nil, "that is this device")
    #expect(try answered(request(by: "UNKNOWN")) == nil && answered(request(), from: bob) == nil)
    for senseless in ["7", "{}", #"{"action":"request","name":"m.megolm_backup.v1","requesting_device_id":"DESK"}"#] {
      #expect(try answered(parsed(senseless)) == nil)
    }
    var bobs = TestUser()
    try bobs.add(TestDevice(of: bob, DeviceID(trusted: "DESK"), seed: "bob's desk"))
    try known.learn([bobs])
    #expect(try answered(request(), from: bob) == nil)
    own.devices = []
    try own.addUnsigned(desk)
    try known.learn([own])
    #expect(try answered(request()) == nil)
  }
}

extension Knowledge {
  var trust: Trust { Trust(of: device.own.deviceKeys, identities, tracker, SharingPolicy()) }
}
