import ClientCore
import JSON
import MatrixModel
import MessengerTesting
import Testing
import WebHost

@testable import WebApp

@Suite("What one sees before a call")
struct CallPreviewTests {
  private let page = Page()
  private let garden = RoomID("!garden:chat.example")

  /// Signed in, with the program of calls open; what it is told goes into `told`.
  private func calls(_ told: @escaping (JSON) -> Void) throws -> CallProgram<FakeDOM> {
    page.signIn()
    page.sync([("!garden:chat.example", room("Garden", []))])
    let calls = try #require(page.app.main).calls
    calls.arrived(try #require(garden), [try event("m.call.hangup")])
    try #require(calls.port).post = {
      // Beside these it is told what is known of rooms, and which one is open.
      if let json = try? JSON.parse($0), let what = json["do"]?.string, ["call", "answer"].contains(what) { told(json) }
    }
    return calls
  }

  private func event(_ type: String) throws -> Event {
    try #require(Event(try JSON.parse(Array(#"{"type":"\#(type)","sender":"@boris:chat.example","content":{}}"#.utf8))))
  }

  private func take(_ json: String, _ calls: CallProgram<FakeDOM>) throws { calls.take(try JSON.parse(Array(json.utf8))) }

  // Proves A6
  @Test("nothing is said of a call before its button is pressed; after Cancel there is no call")
  func start() throws {
    var told: [JSON] = []
    let calls = try calls { told.append($0) }
    calls.prepare(try #require(garden), withCamera: nil)
    #expect(page.all("ma-preview").count == 1 && page.text.contains("groupCallIn Garden"))
    page.click("cancel")
    #expect(page.all("ma-preview").isEmpty && told.isEmpty)
    try take(#"{"event":"join","room":"!garden:chat.example"}"#, calls)
    page.submitDialog()
    #expect(page.all("ma-preview").isEmpty)
    let call = try #require(told.last)
    #expect(call["do"]?.string == "call" && CallSetup(call) == CallSetup(hasCamera: true))
  }

  // Proves A13
  @Test("a call that rings is answered at once if the page may use the devices, else after the preview")
  func answer() throws {
    var told: [JSON] = []
    let calls = try calls { told.append($0) }
    let rings = #"{"event":"answer","room":"!garden:chat.example","call":3,"camera":true}"#
    var asked: CaptureKinds = []
    calls.learnPermission = { kinds, then in
      asked = kinds
      then(.granted)
    }
    try take(rings, calls)
    #expect(asked == [.camera, .microphone] && told.count == 1 && page.all("ma-preview").isEmpty)
    #expect(told[0]["do"]?.string == "answer" && told[0]["call"]?.integer == 3)
    #expect(CallSetup(told[0]) == CallSetup(hasCamera: true))
    #expect(page.app.place.room == garden, "the call is looked at where it is")
    calls.learnPermission = { $1(.undecided) }
    try take(rings, calls)
    #expect(told.count == 1 && page.all("ma-preview").count == 1)
    try take(#"{"event":"silent","call":4}"#, calls)
    #expect(page.all("ma-preview").count == 1)
    try take(#"{"event":"silent","call":3}"#, calls)
    #expect(page.all("ma-preview").isEmpty)
    try take(rings, calls)
    page.click("groupCallCamera")
    page.click("callAnswer")
    #expect(told.count == 2 && CallSetup(told[1]) == CallSetup(hasCamera: false))
  }

  /// A preview that hears of devices what the test says.
  private func preview(withCamera: Bool?, _ then: @escaping (CallSetup) -> Void = { _ in }) throws -> CallPreview<FakeDOM> {
    page.signIn()
    var made: CallPreview<FakeDOM>?
    page.app.dialogs.open {
      made = CallPreview(page.app, CallPlan(title: "Call", action: .startCall, withCamera: withCamera), in: $0, then)
    }
    return try #require(made)
  }

  private var canStart: Bool {
    page.all("ma-primary", in: page.all("ma-dialog").last).allSatisfy { $0.attributes["disabled"] == nil }
  }

  // Proves A13
  @Test("why the browser asks is said before it does; after a refusal, what to do")
  func reasons() throws {
    let preview = try preview(withCamera: true)
    #expect(!page.text.contains("askToCall"))
    preview.heard(.permission(microphone: .undecided, camera: .undecided))
    #expect(page.text.contains("askToCallWithCamera") && page.all("ma-button").contains { $0.allText == "allowDevices" })
    page.click("groupCallCamera")
    #expect(page.text.contains("askToCall") && !page.text.contains("askToCallWithCamera"))
    preview.heard(.opened(microphone: .refused, camera: .off))
    #expect(page.text.contains("microphoneRefused") && !page.text.contains("askToCall") && !canStart)
    page.click("retry")
    preview.heard(.opened(microphone: .on, camera: .off))
    #expect(!page.text.contains("microphoneRefused") && canStart)
  }

  @Test("in a room one may look on without a microphone; one without a camera is heard")
  func withoutDevices() throws {
    var setup: CallSetup?
    let preview = try preview(withCamera: nil) { setup = $0 }
    preview.heard(.permission(microphone: .granted, camera: .granted))
    preview.heard(.opened(microphone: .missing, camera: .missing))
    #expect(page.text.contains("microphoneMissing") && canStart)
    preview.heard(.opened(microphone: .on, camera: .missing))
    #expect(page.text.contains("cameraMissing"))
    page.click("groupCallMicrophone")
    page.submitDialog()
    #expect(setup == CallSetup(hasCamera: false, isMuted: true))
  }

  // Proves A6
  @Test("each kind of device that has a name is a list, with the one that is used chosen; the level follows the voice")
  func devices() throws {
    let preview = try preview(withCamera: true)
    #expect(page.all("ma-choice").isEmpty)
    let listed = """
      {"devices":[{"id":"a","kind":"camera","label":"Front"},{"id":"b","kind":"camera","label":"Back","used":true},
      {"id":"m","kind":"microphone","label":"Desk"},{"id":"","kind":"speaker","label":""}]}
      """
    preview.heard(.devices(try #require(CallDevice.list(try JSON.parse(Array(listed.utf8))))))
    #expect(page.all("ma-choice").map { $0.children.map(\.text) } == [["Front", "Back"], ["Desk"]])
    #expect(page.all("ma-choice").map(\.value) == ["b", "m"])
    preview.heard(.opened(microphone: .on, camera: .on))
    #expect(page.all("ma-meter").isEmpty, "the browser tells no level")
    preview.heard(.level(0.25))
    #expect(page.all("ma-meter").map { $0.attributes["aria-valuenow"] } == ["50"])
    preview.heard(.opened(microphone: .off, camera: .on))
    #expect(page.all("ma-meter").isEmpty)
  }
}
