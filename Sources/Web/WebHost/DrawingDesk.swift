import JSON
import Messenger

/// Content of kinds that the page draws. The page's script never runs here: it gets the data, draws into an element of its own document,
/// and what comes over is a description of that element (`Web/messenger-drawing.js`). Here it is built anew of what can do no harm.
public final class DrawingDesk<D: DOM> {
  /// A row shows it.
  private struct Drawing {
    var number: Int64
    var content: CustomContent
    var parent: Node
  }

  /// Descriptions kept for rows that come back into view: without one, a row is empty until the page has answered.
  private static var keptLimit: Int { 64 }

  /// Registered by the page.
  public private(set) var kinds: [String] = []
  private let dom: D
  private let port: FramePort?
  private let row: (RowID) -> TimelineRow?
  private let event: (RowID) -> ByteString?
  private var drawings: [Drawing] = []
  private var kept: [(content: CustomContent, tree: JSON)] = []
  private var number: Int64 = 0
  /// The button that was pressed last: what is drawn anew because of it gives it the keyboard back.
  private var pressed: (drawing: Int64, element: Int64)?

  /// - Parameters:
  ///   - row: the row of an identity.
  ///   - event: what the page knows its message by, besides.
  public init(
    _ dom: D, _ port: FramePort?, row: @escaping (RowID) -> TimelineRow?, event: @escaping (RowID) -> ByteString? = { _ in nil }
  ) {
    self.dom = dom
    self.port = port
    self.row = row
    self.event = event
  }

  /// The page draws content of that kind from now on.
  public func register(_ kind: String) { if !draws(kind) { kinds.append(kind) } }

  /// Whether the page has registered it.
  public func draws(_ kind: String) -> Bool { kinds.contains { $0.hasSameBytes(as: kind) } }

  /// Draws the content of a kind that the page registered; its payload is JSON.
  public func renderer(of kind: String) -> ContentRenderer {
    renderer(kind) { content, writer in writer.member("data", raw: Array(content.payload.utf8)) }
  }

  /// Draws whole messages of a text chat, which the page registered as "message"; the payload is a text.
  public var messages: ContentRenderer { renderer("message") { content, writer in writer.member("data", content.payload) } }

  private func renderer(_ kind: String, _ writeData: @escaping (CustomContent, inout JSONWriter) -> Void) -> ContentRenderer {
    ContentRenderer { [self] content, row, parent, width in
      number += 1
      let drawing = Drawing(number: number, content: content, parent: parent)
      drawings.append(drawing)
      if let known = kept.first(where: { $0.content.isSame(as: content) }) { build(known.tree, in: drawing) }
      port?.tell("draw") {
        $0.member("drawing", drawing.number)
        $0.member("kind", kind)
        writeData(content, &$0)
        $0.member("row", Int64(clamping: row.rawValue))
        $0.member("width", Int64(width))
        if let event = event(row) { $0.member("id", event) }
        if case .message(let message)? = self.row(row)?.content { write(message.sender, &$0) }
      }
      return { [self] in
        drawings.removeAll { $0.number == drawing.number }
        port?.tell("undraw") { $0.member("drawing", drawing.number) }
      }
    }
  }

  private func write(_ sender: Sender, _ writer: inout JSONWriter) {
    writer.key("sender")
    writer.beginObject()
    writer.member("id", sender.id)
    writer.member("name", sender.name)
    writer.member("own", sender.isOwn)
    writer.endObject()
  }

  /// What the page drew, or drew anew.
  public func take(_ request: JSON) {
    guard let number = request.integer("drawing"), let drawing = drawings.first(where: { $0.number == number }),
      let tree = request["tree"]
    else { return }
    kept.removeAll { $0.content.isSame(as: drawing.content) }
    if kept.count >= DrawingDesk.keptLimit { kept.removeFirst() }
    kept.append((drawing.content, tree))
    build(tree, in: drawing)
    dom.flush()
  }

  private func build(_ tree: JSON, in drawing: Drawing) {
    dom.releaseChildren(of: drawing.parent)
    let focused = pressed?.drawing == drawing.number ? pressed?.element : nil
    let builder = DrawingBuilder(dom, focused: focused) { [self] element in
      pressed = (drawing.number, element)
      port?.tell("drawnclick") {
        $0.member("drawing", drawing.number)
        $0.member("element", element)
      }
    }
    builder.build(tree, in: drawing.parent)
    if focused != nil { pressed = nil }
  }
}
