import AdministrationCore
import Messenger
import PageWidgets
import WebHost

/// A figure over days: a drawing for the eye, and below it the same as a table.
struct DayGraph<D: DOM> {
  private static var width: Int { 600 }
  private static var height: Int { 120 }

  @discardableResult
  init(_ dom: D, _ title: Strings.Key, _ days: [(day: Int64, value: Int64)], _ words: (Int64) -> String, in parent: Node) {
    let figure = dom.element("figure", "ma-graph", in: parent)
    let caption = dom.element("figcaption", "ma-graph-title", in: figure)
    dom.element("span", text: title, in: caption)
    dom.element("strong", text: words(days.last?.value ?? 0), in: caption)
    let graph = Graph(days.map { $0.value }, width: Self.width, height: Self.height)
    dom.setAttribute(dom.element("span", "ma-graph-top", text: words(graph.top), in: figure), "aria-hidden", "true")
    let svg = dom.element("svg:svg", "ma-graph-drawing", in: figure)
    dom.setAttribute(svg, "viewBox", "0 -4 \(Self.width) \(Self.height + 8)")
    dom.setAttribute(svg, "preserveAspectRatio", "none")
    dom.setAttribute(svg, "aria-hidden", "true")
    for y in [0, Self.height / 2, Self.height] {
      dom.setAttribute(dom.element("svg:path", "ma-graph-line", in: svg), "d", "M0 \(y) H\(Self.width)")
    }
    // One day is no line.
    let line = days.count == 1 ? "M0 \(graph.points[0].y) H\(Self.width)" : graph.line
    dom.setAttribute(dom.element("svg:path", "ma-graph-area", in: svg), "d", graph.area)
    dom.setAttribute(dom.element("svg:path", "ma-graph-value", in: svg), "d", line)
    let span = dom.element("div", "ma-graph-span", in: figure)
    if days.count > 1 { dom.element("span", text: Self.label(days[0].day), in: span) }
    dom.element("span", text: days.last.map { Self.label($0.day) } ?? "", in: span)
    addTable(dom, title, days, words, in: figure)
  }

  /// Of a day in UTC. Its noon is on the same date nearly everywhere.
  private static func label(_ day: Int64) -> String { Host.dayLabel(day + DailyFigures.dayMilliseconds / 2) }

  private func addTable(
    _ dom: D, _ title: Strings.Key, _ days: [(day: Int64, value: Int64)], _ words: (Int64) -> String, in figure: Node
  ) {
    let fold = dom.element("details", "ma-graph-table", in: figure)
    dom.element("summary", text: .adminAsTable, in: fold)
    let table = CardTable(dom, title, [.date, title], in: fold)
    for day in days.reversed() {
      var row = table.row()
      _ = row.cell(Self.label(day.day))
      _ = row.cell(words(day.value))
    }
  }
}
