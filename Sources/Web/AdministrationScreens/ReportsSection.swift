import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What users reported, the newest first; several can be dismissed at once.
final class ReportsSection<D: DOM> {
  private let page: AdministrationPage<D>
  private let dom: D
  private let dismiss: Node
  private var list: AdministrationList<D, AdministeredReport>?

  @discardableResult
  init(_ page: AdministrationPage<D>) {
    self.page = page
    dom = page.dom
    let tools = page.tools()
    dismiss = dom.button("ma-button ma-small", .adminDismissChosen, icon: .check, in: tools)
    dom.on(dismiss, .click) { [self] _ in ask() }
    CheckBox(dom, Strings[.adminChooseAll], isOn: false, in: tools) { [self] in list?.chooseAll($0) }
    list = AdministrationList<D, AdministeredReport>(
      page, .adminReports, [.adminReported, .reportReason, .adminReporter, .adminWhen], empty: .adminNoReports,
      ask: { _, request in
        .administeredReports(before: request.from, limit: AdministrationList<D, AdministeredReport>.pageItems)
      },
      fill: { [self] report, row in fill(report, &row) })
    list?.onChosen = { [self] in showChosen() }
    showChosen()
  }

  private func fill(_ report: AdministeredReport, _ row: inout CardTable<D>.Row) {
    let name = row.cell("", "ma-admin-who")
    list?.addChooser(of: report, Strings[.labelled, report.title, report.reason.string], in: name)
    let lines = dom.element("span", "ma-entry-lines", in: name)
    page.link(report.title, .reports, report.key, in: lines)
    dom.element("bdi", "ma-entry-preview", text: report.subject, in: lines)
    _ = row.cell(report.reason.string)
    _ = row.cell(report.reporter.string)
    _ = row.cell(Host.shortLabel(report.received))
  }

  private func showChosen() { dom.setFlag(dismiss, "disabled", list?.list.chosenItems.isEmpty ?? true) }

  private func ask() {
    guard let chosen = list?.list.chosenItems, !chosen.isEmpty else { return }
    page.openDialog { [self] frame in
      _ = ConfirmDialog(
        Strings[.adminDismissSeveral, count: chosen.count], note: Strings[.adminDismissNote],
        action: .adminDismiss, busy: .adminWorking, in: frame,
        run: { [self] ended in dismiss(chosen[...]) { ended($0.map { Strings.words(for: $0) }) } },
        { [page] in page.say(.adminDone) })
    }
  }

  /// One after the other: the server takes them one by one.
  private func dismiss(_ reports: ArraySlice<AdministeredReport>, _ ended: @escaping (ClientError?) -> Void) {
    guard let report = reports.first else { return ended(nil) }
    page.ask(.dismissReport(report.number), failed: ended) { [self] _ in
      list?.remove(report.key)
      dismiss(reports.dropFirst(), ended)
    }
  }
}

extension AdministeredReport {
  /// What kind of thing was reported.
  var title: String { Strings[event != nil ? .adminMessageReport : room != nil ? .adminRoomReport : .adminUserReport] }

  var subject: String { user?.string ?? room?.string ?? "" }
}
