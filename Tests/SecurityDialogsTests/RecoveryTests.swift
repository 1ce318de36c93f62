import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import SecurityDialogs

@Suite("Asking for a recovery key")
struct RecoveryTests {
  @Test("The user is asked from the first encrypted message on, and a week after putting it off")
  func asking() {
    var ask = RecoveryAsk(of: "DESK", kept: nil)
    #expect(!ask.isDue(at: 5) && ask.text == nil)
    let isFirst = ask.wrote()
    let isFirstAgain = ask.wrote()
    #expect(isFirst && !isFirstAgain && ask.isDue(at: 5))
    ask.putOff(at: 5)
    #expect(!ask.isDue(at: RecoveryAsk.pauseMilliseconds) && ask.isDue(at: RecoveryAsk.pauseMilliseconds + 5))
    let kept = ask.text
    #expect(RecoveryAsk(of: "DESK", kept: kept) == ask)
    for kept in [kept, "", "DESK", "DESK x", "PHONE 1"] where kept != ask.text {
      #expect(RecoveryAsk(of: "DESK", kept: kept).text == nil)
    }
    #expect(RecoveryAsk(of: "PHONE", kept: kept).text == nil)
  }

  @Test("A new recovery key stays until its owner says that it is saved")
  func key() throws {
    let dom = FakeDOM()
    let frame = DialogFrame(dom)
    dom.append(frame.overlay, to: .root)
    RecoveryKeyDialog("EsTc 1234", in: frame) {}
    dom.fire(.click, on: frame.overlay)
    dom.fire(.keyDown, on: frame.overlay, text: "Escape")
    #expect(frame.isOpen && dom[frame.overlay].allText.contains("EsTc 1234"))
    let saved = try #require(dom[frame.overlay].all("ma-primary").first)
    dom.fire(.click, on: saved.node)
    #expect(!frame.isOpen)
  }

  @Test("The card asks once, says so while the key is made, and is gone when it is put off")
  func card() throws {
    let dom = FakeDOM()
    let card = RecoveryCard(dom, in: .root)
    var isPutOff = false
    var over: (() -> Void)?
    card.onMake = { over = $0 }
    card.onPutOff = { isPutOff = true }
    card.setShown(true)
    let root = dom[.root]
    #expect(root.allText.contains("recoveryAsk"))
    dom.fire(.click, on: try #require(root.all("ma-primary").first).node)
    #expect(root.allText.contains("creating") && over != nil)
    over?()
    #expect(!root.allText.contains("creating"))
    dom.fire(.click, on: try #require(root.all("ma-small").first).node)
    #expect(isPutOff)
  }
}
