import ServerCore
import Testing

@testable import ObjectStore

/// The examples that Amazon publishes: S3 API Reference, "Signature Calculations for the Authorization Header: Transferring Payload in a
/// Single Chunk", and IAM User Guide, "Examples of how to derive a signing key".
@Suite struct RequestSignatureTests {
  /// 2013-05-24T00:00:00Z
  private static let time: Int64 = 1_369_353_600_000

  private func authorization(of request: RequestSignature) -> String {
    let headers = request.signed(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1")
    return headers.last { $0.name == "authorization" }?.value ?? ""
  }

  private func request(_ method: String = "GET", _ path: String = "/") -> RequestSignature {
    RequestSignature(method: method, host: "examplebucket.s3.amazonaws.com", path: path, time: Self.time)
  }

  @Test func `a part of an object is asked for as in Amazon's example`() {
    var example = request("GET", "/test.txt")
    example.headers = [("range", "bytes=0-9")]
    #expect(
      authorization(of: example)
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
  }

  @Test func `an object is put as in Amazon's example`() {
    var example = request("PUT", RequestSignature.encode("/test$file.text", keepsSlashes: true))
    example.headers = [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")]
    example.payload = RequestSignature.sha256(Array("Welcome to Amazon S3.".utf8))
    #expect(example.path == "/test%24file.text")
    #expect(
      authorization(of: example).hasSuffix("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
  }

  @Test func `a parameter without a value is signed as in Amazon's example`() {
    var example = request()
    example.query = [("lifecycle", "")]
    #expect(
      authorization(of: example).hasSuffix("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"))
  }

  @Test func `a list is signed as in Amazon's example, in whatever order its parameters come`() {
    var example = request()
    example.query = [("prefix", "J"), ("max-keys", "2")]
    #expect(example.queryText == "max-keys=2&prefix=J")
    #expect(
      authorization(of: example).hasSuffix("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"))
  }

  @Test func `the key of a day is Amazon's`() {
    let key = RequestSignature.key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", "us-east-1", "iam")
    #expect(KeyedHash.hexadecimal(key) == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9")
  }

  @Test func `what is not a letter, a digit or one of four marks is encoded`() {
    #expect(RequestSignature.encode("a/b c~-._*+ü") == "a%2Fb%20c~-._%2A%2B%C3%BC")
    #expect(RequestSignature.encode("a/b", keepsSlashes: true) == "a/b")
  }

  @Test(arguments: [
    (BucketConfiguration.Addressing.path, "https://s3.example.org:443", "s3.example.org", "/photos/p/media/ab"),
    (.host, "https://s3.example.org", "photos.s3.example.org", "/p/media/ab"),
    (.path, "http://127.0.0.1:9000", "127.0.0.1:9000", "/photos/p/media/ab")
  ])
  func `a bucket is in the path or before the host`(
    _ addressing: BucketConfiguration.Addressing, _ endpoint: String, _ host: String, _ path: String
  ) {
    let bucket = BucketConfiguration(
      endpoint: endpoint, region: "r", bucket: "photos", prefix: "p/", addressing: addressing, accessKey: "a",
      secretKey: .init("b"))
    #expect(bucket.host == host && bucket.path(of: "media/ab") == path)
  }
}
