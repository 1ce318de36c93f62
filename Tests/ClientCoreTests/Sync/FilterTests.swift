import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct FilterTests {
  private static let name = "filter=66"

  /// The first sync is there, and the filter's name.
  private func named() -> Host {
    var host = Host.inRoom()
    host.answer("/filter", #"{"filter_id":"66"}"#)
    host.sync()
    return host
  }

  @Test func `the filter is made once and named from then on, also after a restart`() {
    var host = named()
    #expect(host.request("/sync?")?.request.target.contains(Self.name) == true)
    #expect(host.request("/filter") == nil)
    host = host.restarted()
    #expect(host.request("/sync?")?.request.target.contains(Self.name) == true)
    host.sync()
    #expect(host.request("/filter") == nil)
  }

  @Test func `it loads members lazily and leaves out presence`() {
    let host = Host.inRoom()
    let filter = host.body("/filter")
    #expect(filter?["room"]?["state"]?["lazy_load_members"]?.bool == true)
    #expect(filter?["presence"]?["not_types"]?.elements.map { $0.string } == ["*"])
  }

  @Test func `a filter of another definition is made anew`() {
    var host = named()
    host.store["a/filter"] = Array(#"{"id":"66","definition":"{}"}"#.utf8)
    host = host.restarted()
    #expect(host.request("/sync?")?.request.target.contains(Self.name) == false)
    host.sync()
    #expect(host.request("/filter") != nil)
  }

  @Test func `a filter that the server has lost goes with the request`() {
    var host = named()
    host.answer("/sync?", status: 404, #"{"errcode":"M_NOT_FOUND","error":""}"#)
    #expect(host.request("/sync?")?.request.target.contains("lazy_load_members") == true)
    host.sync()
    #expect(host.request("/filter") == nil)
    #expect(host.store["a/filter"] == nil)
  }

  @Test(arguments: [#"{"filter_id":""}"#, #"{"filter_id":"{}"}"#, "{}"]) func `an invalid filter ID is not used`(answer: String)
  {
    var host = Host.inRoom()
    host.answer("/filter", answer)
    host.sync()
    #expect(host.request("/sync?")?.request.target.contains("lazy_load_members") == true)
    #expect(host.request("/filter") == nil)
  }

  @Test func `another account has no filter yet`() {
    var host = named()
    host.command(.session(.logOut))
    host.answer("/logout", "{}")
    host.command(.session(.logIn(user: "you", password: "x")))
    host.answer("/login", #"{"user_id":"@you:test","device_id":"D","access_token":"T"}"#)
    #expect(host.request("/sync?")?.request.target.contains("lazy_load_members") == true)
  }
}
