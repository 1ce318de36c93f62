import Testing

@testable import ObjectStore

@Suite struct BucketXMLTests {
  @Test func `texts are found by the names of elements, whatever their namespace`() throws {
    let xml = try #require(
      BucketXML(
        Array(
          """
          <?xml version="1.0" encoding="UTF-8"?>
          <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true</IsTruncated>
          <Contents><Key>a&amp;b</Key><Size>3</Size></Contents><Contents><Key>c</Key><Size>4</Size></Contents>
          <NextContinuationToken>x=</NextContinuationToken></ListBucketResult>
          """.utf8)))
    #expect(xml.root == "ListBucketResult" && xml.text("NextContinuationToken") == "x=")
    #expect(xml.elements.filter { $0.name == "Contents" }.map { $0.children["Key"] } == ["a&b", "c"])
  }

  @Test(arguments: ["", "<a>", "not XML", "<a></b>", "\u{0}"])
  func `what is not XML is nothing`(_ text: String) { #expect(BucketXML(Array(text.utf8)) == nil) }

  @Test func `an entity that names a file brings nothing`() {
    let text = #"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a><Code>&b;</Code></a>"#
    #expect(BucketXML(Array(text.utf8))?.text("Code") ?? "" == "")
  }
}
