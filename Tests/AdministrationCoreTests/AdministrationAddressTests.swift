import AdministrationCore
import JSON
import Testing

struct AdministrationAddressTests {
  @Test(
    "An address of a section or of a user in it is read as it was written", arguments: AdministrationAddress.Section.allCases)
  func roundTrip(_ section: AdministrationAddress.Section) {
    for subject in ["", "@ann:example.org", "!room/with #odd? signs%:é"] as [ByteString] {
      let address = AdministrationAddress(section, subject)
      #expect(AdministrationAddress(fragment: ByteString(address.fragment)) == address)
    }
  }

  @Test(
    "Only an address that begins with admin is one of the administration page",
    arguments: [
      ("admin", "overview"), ("/admin", "overview"), ("/admin/", "overview"), ("/admin/nowhere", "overview"),
      ("/admin/rooms", "rooms"), ("admin/audit/", "audit"), ("", nil), ("/", nil), ("administrator", nil), ("room/admin", nil)
    ] as [(ByteString, String?)])
  func sections(_ fragment: ByteString, _ section: String?) {
    #expect(AdministrationAddress(fragment: fragment)?.section.name.description == section)
  }

  @Test("Escapes that are cut off or wrong stay as they are, and a subject of any length is read without a trap")
  func hostile() {
    #expect(AdministrationAddress(fragment: "admin/users/%4")?.subject == "%4")
    #expect(AdministrationAddress(fragment: "admin/users/%zz%40")?.subject == "%zz%40")
    #expect(AdministrationAddress(fragment: "admin/users/%")?.subject == "%")
    let long = String(repeating: "%40", count: AdministrationAddress.subjectBytesLimit + 1)
    #expect(AdministrationAddress(fragment: ByteString("admin/users/" + long))?.subject == "")
  }
}
