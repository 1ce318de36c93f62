import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// How strangers come in: the words by which they can create an account, and the invite links that users made.
struct RegistrationSection<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>) {
    let dom = page.dom
    let part = page.part(.adminTokens)
    dom.element("p", "ma-note", text: .adminTokensNote, in: part)
    let tools = page.tools(in: part)
    var list: AdministrationList<D, RegistrationToken>?
    func reload() { list?.reload() }
    list = AdministrationList<D, RegistrationToken>(
      page, .adminTokens, [.token, .adminUses, .adminExpires, .adminActions], empty: .adminNoTokens, in: part,
      ask: { _, _ in .registrationTokens() },
      fill: { token, row in
        let cell = row.cell("", "ma-admin-chips")
        dom.element("bdi", "ma-copy-text", text: token.token.string, in: cell)
        if !token.isValid(at: Host.wallClockMilliseconds()) { page.chip(.adminUsedUp, isTrouble: true, in: cell) }
        let used = "\(token.used + token.pending)"
        _ = row.cell(token.usesAllowed.map { Strings[.adminUsedOf, used, "\($0)"] } ?? Strings[.adminUsedUnlimited, used])
        _ = row.cell(token.expires.map { Host.dateTimeLabel($0) } ?? Strings[.adminNever])
        let end = row.cell("", "ma-admin-end")
        let copy = page.tool(.copy, .copy, in: end) {
          Host.copyToClipboard(token.token.string) { if $0 { page.say(.copied) } }
        }
        dom.setLabel(copy, Strings[.copy, of: token.token.string])
        let revoke = page.tool(.adminRevoke, isDangerous: true, in: end) {
          page.confirm(
            Strings[.adminRevokeQuestion, token.token.string], Strings[.adminRevokeNote], action: .adminRevoke,
            done: .adminDone, { .revokeRegistrationToken(token.token) }
          ) { _ in reload() }
        }
        dom.setLabel(revoke, Strings[.adminRevoke, of: token.token.string])
      })
    let create = dom.button("ma-button ma-primary ma-small", .adminCreateToken, icon: .plus, in: tools)
    dom.on(create, .click) { _ in page.openDialog { Self.askToken(page, in: $0, then: reload) } }
    Self.addLinks(to: page)
  }

  private static func addLinks(to page: AdministrationPage<D>) {
    let dom = page.dom
    let part = page.part(.inviteLinks)
    dom.element("p", "ma-note", text: .adminLinksNote, in: part)
    var list: AdministrationList<D, UserInviteLink>?
    list = AdministrationList<D, UserInviteLink>(
      page, .inviteLinks, [.adminLinkTo, .adminActor, .adminUses, .adminExpires, .adminActions], empty: .adminNoLinks,
      in: part,
      ask: { _, request in
        .userInviteLinks(from: request.from, limit: AdministrationList<D, UserInviteLink>.pageItems)
      },
      fill: { made, row in
        let link = made.link
        let place = row.cell("", "ma-admin-chips")
        let target = link.room == nil ? Strings[.adminLinkToMaker] : link.roomName?.string ?? Strings[.adminNoName]
        if let room = link.room {
          page.link(target, .rooms, room.text, in: place)
        } else {
          dom.element("span", text: target, in: place)
        }
        let isValid = link.isValid(at: Host.wallClockMilliseconds())
        if !isValid { page.chip(.adminUsedUp, isTrouble: true, in: place) }
        page.link(made.inviter.string, .users, made.inviter.text, in: row.cell(""))
        _ = row.cell(Strings[.adminUsedOf, "\(link.uses)", "\(link.usesAllowed)"])
        _ = row.cell(Host.dateTimeLabel(link.expires))
        let end = row.cell("", "ma-admin-end")
        guard isValid else { return }
        let revoke = page.tool(.adminRevoke, isDangerous: true, in: end) {
          page.confirm(
            Strings[.adminRevokeLink, target, made.inviter.string], Strings[.adminRevokeLinkNote], action: .adminRevoke,
            done: .linkRevoked, { .revokeUserInviteLink(link.id) }
          ) { _ in list?.reload() }
        }
        dom.setLabel(revoke, Strings[.listed, Strings[.adminRevoke, of: target], made.inviter.string])
      })
  }

  private static func askToken(_ page: AdministrationPage<D>, in frame: DialogFrame<D>, then: @escaping () -> Void) {
    let dom = page.dom
    var (word, uses, days): (Field<D>?, Field<D>?, Field<D>?)
    FormDialog(
      dom, Strings[.adminCreateToken], action: .adminCreate, in: frame,
      fields: { form in
        word = Field(dom, .token, hint: .adminTokenHint, in: form)
        let first = Field(dom, .adminUsesAllowed, kind: "number", hint: .adminUsesHint, in: form)
        first.set("1")
        uses = first
        frame.setFirst(first.input)
        days = Field(dom, .adminDays, kind: "number", hint: .adminDaysHint, in: form)
        days?.set("7")
      }
    ) { dialog in
      guard let word, let uses, let days else { return }
      let (usesAllowed, daysValid) = (Int64(uses.text.trimmed), Int64(days.text.trimmed))
      if !uses.text.trimmed.utf8.isEmpty, !(1...1_000_000).contains(usesAllowed ?? 0) {
        return dialog.fail(uses, Strings[.adminNumberWrong])
      }
      if !days.text.trimmed.utf8.isEmpty, !(1...36_500).contains(daysValid ?? 0) {
        return dialog.fail(days, Strings[.adminNumberWrong])
      }
      page.ask(
        .createRegistrationToken(
          ByteString(word.text.trimmed), uses: usesAllowed,
          expires: daysValid.map { Host.wallClockMilliseconds() + $0 * DailyFigures.dayMilliseconds }),
        failed: { dialog.fail(Strings.words(for: $0)) }
      ) { _ in
        dialog.end()
        then()
      }
    }
  }
}
