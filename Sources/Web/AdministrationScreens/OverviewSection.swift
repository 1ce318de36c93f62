import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// How much there is, how it grew, and how the server is.
final class OverviewSection<D: DOM> {
  private let page: AdministrationPage<D>
  private let dom: D
  private let figures: Node
  private let graphs: Node
  private let health: Node
  private var days = 30

  @discardableResult
  init(_ page: AdministrationPage<D>) {
    self.page = page
    dom = page.dom
    figures = dom.element("dl", "ma-admin-figures", in: page.body)
    let part = page.part(.adminHistory)
    let tools = page.tools(in: part)
    graphs = dom.element("div", "ma-admin-graphs", in: part)
    health = page.part(.adminHealth)
    Choice(
      dom, Strings[.adminSpan],
      [
        ("7", Strings[.adminLastDays, count: 7]), ("30", Strings[.adminLastDays, count: 30]),
        ("365", Strings[.adminLastDays, count: 365])
      ], selected: "30", in: tools
    ) { [self] in
      days = Int($0) ?? 30
      loadHistory()
    }
    page.ask(.serverFigures()) { [self] in show($0) }
    loadHistory()
    page.ask(.serverHealth()) { [self] in show($0) }
  }

  private func show(_ all: ServerFigures) {
    figure(.adminUsers, "\(all.users)")
    figure(.adminActiveToday, "\(all.activeToday)")
    figure(.adminActiveMonth, "\(all.activeThisMonth)")
    figure(.rooms, "\(all.rooms)")
    figure(.adminMedia, Host.byteCountLabel(all.fileBytes))
    figure(.adminReports, "\(all.reports)")
    dom.flush()
  }

  private func figure(_ name: Strings.Key, _ value: String) {
    let line = dom.element("div", "ma-admin-figure", in: figures)
    dom.element("dt", text: name, in: line)
    dom.element("dd", text: value, in: line)
  }

  // MARK: Over time

  private func loadHistory() {
    page.ask(.dailyFigures(days: days)) { [self] answer in
      let all = DailyFigures.filled(answer, limit: days)
      dom.releaseChildren(of: graphs)
      graph(.adminActiveByDay, all) { $0.active }
      graph(.adminMessagesByDay, all) { $0.messages }
      graph(.adminUsers, all) { $0.users }
      graph(.rooms, all) { $0.rooms }
      graph(.adminMedia, all, words: Host.byteCountLabel) { $0.mediaBytes }
      dom.flush()
    }
  }

  private func graph(
    _ title: Strings.Key, _ days: [DailyFigures], words: @escaping (Int64) -> String = { "\($0)" },
    _ value: (DailyFigures) -> Int64
  ) { DayGraph(dom, title, days.map { ($0.day, value($0)) }, words, in: graphs) }

  // MARK: Health

  private func show(_ server: ServerHealth) {
    if !server.trouble.isEmpty { dom.element("p", "ma-trouble", text: server.trouble.string, in: health) }
    var disk = ""
    if let free = server.diskFreeBytes, let all = server.diskBytes {
      disk = Strings[.adminFreeOf, Host.byteCountLabel(free), Host.byteCountLabel(all)]
    }
    page.facts(
      [
        (.adminServer, server.serverName.string), (.adminVersion, server.version.string),
        (.adminRunning, Host.dateTimeLabel(server.started)), (.adminDisk, disk),
        (.adminDatabase, Host.byteCountLabel(server.databaseBytes)),
        (.adminLog, Host.byteCountLabel(server.databaseLogBytes)),
        (.adminQueue, Strings[.adminQueueWords, "\(server.waitingWrites)", "\(server.waitingReads)", "\(server.activeTasks)"]),
        (
          .adminLatency,
          server.timedRequests == 0
            ? ""
            : Strings[
              .adminLatencyWords, Self.milliseconds(server.median), Self.milliseconds(server.percentile95),
              Self.milliseconds(server.percentile99)]
        )
      ], in: health)
    dom.flush()
  }

  /// With a tenth below ten: `0.4`, `12`.
  private static func milliseconds(_ microseconds: Int64) -> String {
    microseconds >= 10_000 ? "\(microseconds / 1_000)" : "\(microseconds / 1_000).\(microseconds / 100 % 10)"
  }
}
