import Glibc

/// A TLS server on a free port of the loopback, in Python: a root of its own, and a certificate by it for `localhost`, `example.test`
/// and 127.0.0.1. Answers with JSON by path, see the script.
final class TLSServer: Sendable {
  let port: UInt16
  /// PEM files: the root, a root that signed nothing here, the server's certificate.
  var root: String { directory + "/root.pem" }
  var otherRoot: String { directory + "/other.pem" }
  var certificate: String { directory + "/leaf.pem" }
  /// Base64 of the SHA-256 of the server's public key.
  let pin: String
  /// The server's certificate in DER and its SubjectPublicKeyInfo in DER.
  var certificateDER: String { directory + "/leaf.der" }
  var publicKeyDER: String { directory + "/key.der" }

  /// One for all tests: it ends, and takes its files away, when this process does.
  static let shared = TLSServer()

  private let directory: String

  private init() {
    directory = temporaryPath()
    mkdir(directory, 0o700)
    let script = directory + "/server.py"
    TLSServer.write(TLSServer.script, to: script)
    guard let output = popen("exec python3 '\(script)' '\(directory)'", "r") else {
      preconditionFailure("python3 does not start")
    }
    let words = TLSServer.line(of: output).split(separator: " ").map(String.init)
    guard words.count == 2, let port = UInt16(words[0]) else {
      preconditionFailure("the TLS server says \(words); it needs python3 and openssl")
    }
    self.port = port
    pin = words[1]
  }

  private static func line(of file: UnsafeMutablePointer<FILE>) -> String {
    var buffer = [CChar](repeating: 0, count: 1_024)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else { return }
    fputs(text, file)
    fclose(file)
  }

  private static let script = #"""
    import base64, hashlib, http.server, json, os, shutil, ssl, subprocess, sys, threading, time
    parent = os.getppid()
    os.chdir(sys.argv[1])
    def openssl(*words, **options):
        return subprocess.run(["openssl", *words], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, **options).stdout
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ["root", "other"]:
        openssl("req", "-x509", *key, "-keyout", name + ".key", "-out", name + ".pem", "-subj", "/CN=" + name, "-days", "2",
                "-addext", "basicConstraints=critical,CA:TRUE")
    openssl("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=example.test")
    open("leaf.ext", "w").write("subjectAltName=DNS:localhost,DNS:example.test,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-set_serial", "7", "-days", "2",
            "-out", "leaf.pem", "-extfile", "leaf.ext")
    openssl("x509", "-in", "leaf.pem", "-outform", "DER", "-out", "leaf.der")
    public = openssl("pkey", "-pubin", "-outform", "DER", input=openssl("x509", "-in", "leaf.pem", "-noout", "-pubkey"))
    open("key.der", "wb").write(public)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *words): pass
        def answer(self, status, body, **headers):
            self.send_response(status)
            for name, value in headers.items(): self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def do_GET(self):
            port = self.server.server_port
            if self.path == "/.well-known/matrix/client":
                return self.answer(301, b"", Location="https://example.test/moved")
            if self.path == "/moved":
                return self.answer(200, json.dumps({"m.homeserver": {"base_url": "https://example.test/base/"}}).encode())
            if self.path == "/base/_matrix/client/versions":
                return self.answer(200, b'{"versions":["v1.19"]}')
            if self.path == "/base/_matrix/client/v3/publicRooms":
                return self.answer(200, b'{"chunk":[{"room_id":"!tea:test","name":"Tea","num_joined_members":2}]}')
            if self.path == "/loop":
                return self.answer(302, b"", Location="https://example.test/loop")
            if self.path == "/down":
                return self.answer(302, b"", Location="http://127.0.0.1:1/")
            if self.path == "/agent":
                return self.answer(200, json.dumps({"agent": self.headers["User-Agent"]}).encode())
            self.answer(200, b"{}")
        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            digest = hashlib.sha256(self.rfile.read(length)).hexdigest()
            self.answer(200, json.dumps({"content_uri": "mxc://test/" + digest}).encode())

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("leaf.pem", "leaf.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    def end_with_parent():
        while os.getppid() == parent: time.sleep(0.2)
        shutil.rmtree(sys.argv[1])
        os._exit(0)
    threading.Thread(target=end_with_parent, daemon=True).start()
    print(server.server_port, base64.b64encode(hashlib.sha256(public).digest()).decode(), flush=True)
    server.serve_forever()
    """#
}
