import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// A list from the server, page by page, with a field to search it and a table to show it. `PagedList` decides, this shows.
final class AdministrationList<D: DOM, Item: Listed> {
  /// What one request brings.
  static var pageItems: Int { 50 }
  /// Between the last key and the request.
  private static var pauseMilliseconds: Double { 250 }

  private(set) var list = PagedList<Item>()
  /// Other rows are chosen.
  var onChosen: () -> Void = {}
  private let page: AdministrationPage<D>
  private let dom: D
  private let ask: (ByteString, PagedList<Item>.Request) -> Query<PagedList<Item>.Page>
  private let fill: (Item, inout CardTable<D>.Row) -> Void
  private let empty: Strings.Key
  private let search: Field<D>?
  private let table: CardTable<D>
  private let note: Node
  private let more: SubmitButton<D>
  private var typed = 0

  /// - Parameters:
  ///   - search: the label of the field; nil without one.
  ///   - empty: what is said of an empty list.
  ///   - tools: where the field goes, beside other tools.
  init(
    _ page: AdministrationPage<D>, _ label: Strings.Key, _ columns: [Strings.Key], search: Strings.Key? = nil,
    empty: Strings.Key, tools: Node? = nil, in parent: Node? = nil,
    ask: @escaping (ByteString, PagedList<Item>.Request) -> Query<PagedList<Item>.Page>,
    fill: @escaping (Item, inout CardTable<D>.Row) -> Void
  ) {
    self.page = page
    self.ask = ask
    self.fill = fill
    self.empty = empty
    dom = page.dom
    let parent = parent ?? page.body
    self.search = search.map { [dom = page.dom] in Field(dom, $0, kind: "search", in: tools ?? parent) }
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    table = CardTable(dom, label, columns, in: parent)
    more = SubmitButton(dom, .showMore, busy: .adminLoading, kind: "ma-wide", in: parent)
    dom.setAttribute(more.node, "type", "button")
    dom.on(more.node, .click) { [self] _ in
      guard let request = list.more() ?? (list.state == .failed ? list.begin() : nil) else { return }
      run(request)
    }
    self.search?.onInput = { [self] in
      typed += 1
      let now = typed
      Host.after(milliseconds: Self.pauseMilliseconds) { [self] in if now == typed, page.isOpen { reload() } }
    }
    reload()
  }

  func reload() { run(list.begin()) }

  func remove(_ key: ByteString) {
    list.remove(key)
    show()
  }

  // MARK: Choosing

  func chooseAll(_ isOn: Bool) {
    list.chooseAll(isOn)
    show()
  }

  /// A box in a row that chooses it.
  func addChooser(of item: Item, _ label: String, in cell: Node) {
    let box = dom.element("input", "ma-admin-choose", in: cell)
    dom.setAttribute(box, "type", "checkbox")
    dom.setLabel(box, label)
    if list.isChosen(item) { dom.setFlag(box, "checked", true) }
    dom.on(box, .change) { [self] event in
      list.choose(item.key, event.x == 1)
      onChosen()
      dom.flush()
    }
  }

  // MARK: Pages

  private func run(_ request: PagedList<Item>.Request) {
    more.setBusy(true)
    if list.items.isEmpty { dom.setText(note, .adminLoading) }
    dom.setFlag(more.node, "hidden", request.from == nil)
    page.ask(
      ask(ByteString(search?.text.trimmed ?? ""), request),
      failed: { [self] error in if list.fail(request) { failed(error) } }
    ) { [self] answer in if list.take(answer, for: request) { show() } }
    dom.flush()
  }

  private func failed(_ error: ClientError) {
    more.setBusy(false)
    more.set(.retry, busy: .adminLoading)
    dom.setFlag(more.node, "hidden", false)
    dom.setText(note, Strings.words(for: error))
    if list.items.isEmpty { table.setHidden(true) }
  }

  private func show() {
    more.setBusy(false)
    more.set(.showMore, busy: .adminLoading)
    dom.setFlag(more.node, "hidden", !list.hasMore)
    table.setHidden(list.items.isEmpty)
    table.clear()
    for item in list.items {
      var row = table.row()
      fill(item, &row)
    }
    let shown = list.items.count
    if shown == 0 {
      dom.setText(note, empty)
    } else if let total = list.total {
      dom.setText(note, Strings[.adminShown, "\(shown)", "\(max(total, Int64(shown)))"])
    } else {
      dom.setText(note, "")
    }
    onChosen()
    dom.flush()
  }
}
