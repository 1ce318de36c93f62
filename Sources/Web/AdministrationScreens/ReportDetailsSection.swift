import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// One report: who says what about what, the message among its neighbours, and what can be done about it.
final class ReportDetailsSection<D: DOM> {
  private let page: AdministrationPage<D>
  private let dom: D
  private let number: Int64
  private let top: Node

  @discardableResult
  init(_ page: AdministrationPage<D>, _ number: Int64) {
    self.page = page
    self.number = number
    dom = page.dom
    page.setTitle(Strings[.adminReport, "\(number)"])
    top = dom.element("div", "ma-admin-part", in: page.body)
    dom.element("p", "ma-note", text: .adminLoading, in: top)
    load()
  }

  private func load() {
    page.ask(
      .report(number),
      failed: { [self] in
        dom.releaseChildren(of: top)
        dom.element("p", "ma-trouble", text: Strings.words(for: $0), in: top)
      }
    ) { [self] in show($0) }
  }

  private func show(_ details: ReportDetails) {
    let report = details.report
    dom.releaseChildren(of: top)
    page.setTitle(Strings[.labelled, Strings[.adminReport, "\(number)"], report.title])
    page.facts(
      [
        (.reportReason, report.reason.string), (.adminReporter, report.reporter.string),
        (.adminWhen, Host.dateTimeLabel(report.received)), (.adminAccused, details.accused?.string ?? ""),
        (.roomName, details.roomName?.string ?? report.room?.string ?? "")
      ], in: top)
    if report.event != nil { addMessages(details) }
    addTools(details)
    dom.flush()
  }

  private func addMessages(_ details: ReportDetails) {
    guard let message = details.message else {
      dom.element("p", "ma-note", text: .messageGone, in: top)
      return
    }
    let list = dom.element("ol", "ma-admin-messages", in: top)
    dom.setLabel(list, .adminContext)
    for other in details.before { add(other, isReported: false, to: list) }
    add(message, isReported: true, to: list)
    for other in details.after { add(other, isReported: false, to: list) }
  }

  private func add(_ message: ReportDetails.Message, isReported: Bool, to list: Node) {
    let item = dom.element("li", isReported ? "ma-admin-message ma-admin-reported" : "ma-admin-message", in: list)
    let head = dom.element("div", "ma-admin-chips", in: item)
    dom.element("bdi", "ma-entry-name", text: message.sender.string, in: head)
    dom.element("bdi", "ma-entry-preview", text: Host.dateTimeLabel(message.sent), in: head)
    if isReported { page.chip(.adminReported, isTrouble: true, in: head) }
    let text = message.text.isEmpty ? message.type.string : message.text.string
    dom.element("p", "ma-topic", text: message.isRemoved ? Strings[.removedMessage] : text, in: item)
  }

  private func addTools(_ details: ReportDetails) {
    let (report, tools) = (details.report, page.tools(in: top))
    if let message = details.message, let room = report.room, !message.isRemoved {
      page.tool(.adminRemoveMessage, .bin, isDangerous: true, in: tools) { [self] in
        page.confirm(
          Strings[.adminRemoveMessageQuestion, message.sender.string], Strings[.adminForGood], action: .adminRemoveMessage,
          done: .adminDone, { .remove(message.event, in: room, reason: "") }
        ) { [self] _ in load() }
      }
    }
    if let accused = details.accused, accused.serverName == page.user?.serverName {
      page.tool(.adminOpenUser, .user, in: tools) { [page] in page.go(to: .users, accused.text) }
    }
    if let room = report.room { page.tool(.adminOpenRoom, .hash, in: tools) { [page] in page.go(to: .rooms, room.text) } }
    page.tool(.adminDismiss, .check, in: tools) { [self] in
      page.confirm(
        Strings[.adminDismissQuestion], Strings[.adminDismissNote], action: .adminDismiss, done: .adminDone,
        { [number] in .dismissReport(number) }
      ) { [page] _ in page.go(to: .reports) }
    }
  }
}
