#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

/// Uses a real nginx, with certificates made for the test.
@Suite(
    "TLS and HTTP/2 over libcurl", .endsInTime,
    .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"), .leakChecked)
struct TLSTests {
    /// One server for all tests of this suite. It's detached because it outlives the first test that needs it, and
    /// lacks the large file because its folder remains when this process ends.
    private static let shared = Task.detached {
        try await Nginx.site(
            [
                ("good", " ssl http2;"), ("http1", " ssl;"),
                ("elsewhere", " ssl; ssl_certificate elsewhere.pem; ssl_certificate_key elsewhere.key;"),
                ("expired", " ssl; ssl_certificate expired.pem; ssl_certificate_key expired.key;"),
                ("foreign", " ssl; ssl_certificate foreign.pem; ssl_certificate_key foreign.key;"),
                ("selfsigned", " ssl; ssl_certificate selfsigned.pem; ssl_certificate_key selfsigned.key;"),
                ("client", " ssl; ssl_client_certificate root.pem; ssl_verify_client on;"),
                (
                    "greeting",
                    " ssl; ssl_client_certificate root.pem; ssl_verify_client optional; "
                        + "add_header X-Client $ssl_client_s_dn; add_header X-Connection $connection;"
                ),
                ("old", " ssl; ssl_protocols TLSv1.2;"), ("plain", ";"), ("short", "; keepalive_requests 3;"),
            ], hasLargeFile: false)
    }

    private func nginx() async throws -> Nginx { try await Self.shared.value }

    private func trusting(_ nginx: Nginx, _ change: (inout CurlConfiguration) -> Void = { _ in })
        -> CurlTransport
    {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        change(&configuration)
        return CurlTransport(configuration)
    }

    @Test("your own CA is trusted, from a file or from memory, and HTTP/2 is used unless it is switched off")
    func ownCA() async throws {
        let nginx = try await nginx()
        let url = nginx.url("good", "/1k")
        let pem = try Data(contentsOf: URL(filePath: nginx.file("root.pem")))
        let (files, memory) = (trusting(nginx), trusting(nginx) { $0.tls.roots = .pem(pem) })
        for transport in Offer.hasBlobs ? [files, memory] : [files] {
            let response = try await transport.send(try request(.get, url), options: .of())
            #expect(response.status == 200 && response.data.count == 1024)
            #expect(response.version == (Offer.speaksHTTP2 ? "2" : "1.1"))
        }
        let response = try await trusting(nginx) { $0.httpVersion = .http1 }.send(
            try request(.get, url), options: .of())
        #expect(response.version == "1.1")
    }

    @Test(
        "an untrusted, expired or self-signed certificate, or another host's, is rejected with a specific error",
        arguments: [
            ("elsewhere", "another host"), ("expired", "expired"), ("selfsigned", "self-signed"),
            ("foreign", "untrusted issuer"),
        ])
    func refused(server: String, words: String) async throws {
        let nginx = try await nginx()
        let transport = trusting(nginx)
        let error = try await failure {
            try await transport.send(try request(.get, nginx.url(server, "/1k")), options: .of())
        }
        #expect(error.code == .insecureConnection)
        #expect(error.message.contains(words) || !Offer.tellsReasons && server != "elsewhere", "\(error)")
        #expect(error.underlying is CurlError)
        #expect(!error.isRetryable)
    }

    @Test("https at a port that serves plain HTTP is reported")
    func plainPort() async throws {
        let nginx = try await nginx()
        let transport = trusting(nginx)
        let error = try await failure {
            try await transport.send(try request(.get, nginx.url("plain", "/1k")), options: .of())
        }
        #expect(error.code == .insecureConnection && error.message.contains("doesn't use TLS"), "\(error)")
    }

    @Test("without your own CA only the system's are trusted")
    func systemRoots() async throws {
        let nginx = try await nginx()
        let transport = CurlTransport()
        let error = try await failure {
            try await transport.send(try request(.get, nginx.url("good", "/1k")), options: .of())
        }
        #expect(error.code == .insecureConnection)
    }

    @Test("the host check can be disabled only by a setting named dangerous, and trust is still checked")
    func otherHosts() async throws {
        let nginx = try await nginx()
        let transport = trusting(nginx) { $0.tls.dangerouslyAcceptsCertificatesOfOtherHosts = true }
        #expect(
            try await transport.send(try request(.get, nginx.url("elsewhere", "/1k")), options: .of()).status == 200)
        let error = try await failure {
            try await transport.send(try request(.get, nginx.url("foreign", "/1k")), options: .of())
        }
        #expect(error.code == .insecureConnection)
    }

    @Test("one of several pins must match, only for its host, and an invalid pin refuses the connection")
    func pins() async throws {
        let nginx = try await nginx()
        let url = nginx.url("good", "/1k")
        let (good, wrong) = (try await nginx.pin("good"), try await nginx.pin("elsewhere"))
        for pins in [[good], [wrong, good]] {
            for host in ["localhost", "*"] {
                let transport = trusting(nginx) { $0.tls.publicKeyPins[host] = pins }
                #expect(try await transport.send(try request(.get, url), options: .of()).status == 200)
            }
        }
        let elsewhere = trusting(nginx) { $0.tls.publicKeyPins["other.example"] = [wrong] }
        #expect(try await elsewhere.send(try request(.get, url), options: .of()).status == 200)
        for pins in [[wrong], ["nonsense"], []] {
            let transport = trusting(nginx) { $0.tls.publicKeyPins["localhost"] = pins }
            let error = try await failure { try await transport.send(try request(.get, url), options: .of()) }
            #expect(error.code == .insecureConnection)
            #expect(error.message.contains("pin"))
        }
    }

    @Test("a client shows its certificate, from files or from memory")
    func identity() async throws {
        let nginx = try await nginx()
        let url = nginx.url("client", "/1k")
        #expect(try await trusting(nginx).send(try request(.get, url), options: .of()).status == 400)
        func data(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: nginx.file(name))) }
        var identities = [
            CurlClientIdentity.pemFiles(
                certificate: URL(filePath: nginx.file("client.pem")), key: URL(filePath: nginx.file("client.key")))
        ]
        if Offer.hasBlobs, Offer.hasOpenSSL {
            identities += [
                .pem(certificate: try data("client.pem"), key: try data("client.key"), password: "unused"),
                .pkcs12(file: URL(filePath: nginx.file("client.p12")), password: "secret"),
                .pkcs12(try data("client.p12"), password: "secret"),
            ]
        }
        for identity in identities {
            let transport = trusting(nginx) { $0.tls.identities = ["*": identity] }
            #expect(try await transport.send(try request(.get, url), options: .of()).status == 200)
        }
        let missing = trusting(nginx) {
            $0.tls.identities = [
                "*": .pemFiles(certificate: URL(filePath: "/nowhere.pem"), key: URL(filePath: "/nowhere.key"))
            ]
        }
        let error = try await failure { try await missing.send(try request(.get, url), options: .of()) }
        #expect(error.code == .insecureConnection)
    }

    @Test("a client certificate is sent only to its origin, and a renewed certificate is used immediately")
    func identityByOrigin() async throws {
        let nginx = try await nginx()
        func files(_ name: String) -> CurlClientIdentity {
            .pemFiles(
                certificate: URL(filePath: nginx.file("\(name).pem")), key: URL(filePath: nginx.file("\(name).key")))
        }
        let (named, other) = (nginx.url("greeting", "/1k"), nginx.url("greeting", "/1k", host: "127.0.0.1"))
        let identities: CurlIdentities = [nginx.url("greeting", "/path", host: "LOCALHOST"): files("client")]
        let transport = trusting(nginx) { $0.tls.identities = identities }
        func client(_ url: String) async throws -> String? {
            try await transport.send(try request(.get, url), options: .of()).headers["X-Client"]
        }
        // The requests alternate, so they use the same handles and could use each other's connections.
        for _ in 0..<3 {
            #expect(try await client(named) == "CN=client")
            #expect(try await client(other) == nil)
        }
        identities[named] = files("good")
        #expect(try await client(named) == "CN=good")
        identities["*"] = files("client")
        #expect(try await client(other) == "CN=client")
        #expect(try await client(named) == "CN=good")
        identities[named] = nil
        #expect(try await client(named) == "CN=client")
        identities["*"] = nil
        #expect(try await client(named) == nil)
        #expect(try await client(other) == nil)
    }

    @Test("an assigned certificate is read again, although it's in the same files or has another password only")
    func identityInSameFiles() async throws {
        let nginx = try await nginx()
        let (certificate, key) = (URL(filePath: nginx.file("own.pem")), URL(filePath: nginx.file("own.key")))
        func write(_ name: String) throws {
            try Data(contentsOf: URL(filePath: nginx.file("\(name).pem"))).write(to: certificate)
            try Data(contentsOf: URL(filePath: nginx.file("\(name).key"))).write(to: key)
        }
        let url = nginx.url("greeting", "/1k")
        let identities: CurlIdentities = [:]
        let transport = trusting(nginx) { $0.tls.identities = identities }
        func client() async throws -> String? {
            try await transport.send(try request(.get, url), options: .of()).headers["X-Client"]
        }
        for name in ["client", "good", "client"] {
            try write(name)
            identities["*"] = .pemFiles(certificate: certificate, key: key)
            #expect(try await client() == "CN=\(name)")
            #expect(try await client() == "CN=\(name)")
        }
        // The key of another certificate: neither a connection nor a session of TLS hides it.
        identities["*"] = .pemFiles(certificate: certificate, key: URL(filePath: nginx.file("good.key")))
        let error = try await failure { try await client() }
        #expect(error.code == .insecureConnection, "\(error)")
        guard Offer.hasBlobs, Offer.hasOpenSSL else { return }
        let (file, data) = (URL(filePath: nginx.file("client.p12")), try Data(contentsOf: certificate))
        let p12 = try Data(contentsOf: file)
        for password in ["secret", "wrong"] {
            for identity in [
                .pkcs12(file: file, password: password), CurlClientIdentity.pkcs12(p12, password: password),
            ] {
                identities["*"] = identity
                if password == "secret" {
                    #expect(try await client() == "CN=client")
                } else {
                    #expect(try await failure { try await client() }.code == .insecureConnection)
                }
            }
        }
        for (name, isRight) in [("client", true), ("good", false)] {
            identities["*"] = .pem(
                certificate: data, key: try Data(contentsOf: URL(filePath: nginx.file("\(name).key"))))
            if isRight {
                #expect(try await client() == "CN=client")
            } else {
                #expect(try await failure { try await client() }.code == .insecureConnection)
            }
        }
    }

    @Test("a client shows the authorities between its certificate and the root, in each form")
    func chain() async throws {
        let nginx = try await nginx()
        let openssl = try #require(Program("openssl"))
        func run(_ arguments: String) async throws {
            let output = try await openssl.run(arguments.split(separator: " ").map(String.init), in: nginx.folder)
            #expect(output.status == 0, "\(output.complaint)")
        }
        func path(_ name: String) -> URL { URL(filePath: nginx.file(name)) }
        for (name, issuer, extensions) in [
            ("between", "root", "basicConstraints=critical,CA:TRUE"), ("distant", "between", "subjectAltName=DNS:x"),
        ] {
            try Data(extensions.utf8).write(to: path("\(name).ext"))
            try await run(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).csr "
                    + "-subj /CN=\(name)")
            try await run(
                "x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -set_serial 77 -out \(name).pem "
                    + "-days 2 -extfile \(name).ext")
        }
        let pem = try Data(contentsOf: path("distant.pem")) + Data(contentsOf: path("between.pem"))
        try pem.write(to: path("chain.pem"))
        try await run("pkcs12 -export -in chain.pem -inkey distant.key -out chain.p12 -passout pass:secret")
        var identities = [CurlClientIdentity.pemFiles(certificate: path("chain.pem"), key: path("distant.key"))]
        if Offer.hasBlobs, Offer.hasOpenSSL {
            identities += [
                .pem(certificate: pem, key: try Data(contentsOf: path("distant.key"))),
                .pkcs12(file: path("chain.p12"), password: "secret"),
                .pkcs12(try Data(contentsOf: path("chain.p12")), password: "secret"),
            ]
        }
        for identity in identities {
            let transport = trusting(nginx) { $0.tls.identities = ["*": identity] }
            let response = try await transport.send(try request(.get, nginx.url("greeting", "/1k")), options: .of())
            #expect(response.status == 200 && response.headers["X-Client"] == "CN=distant")
        }
        let leaf = CurlClientIdentity.pemFiles(certificate: path("distant.pem"), key: path("distant.key"))
        let transport = trusting(nginx) { $0.tls.identities = ["*": leaf] }
        #expect(
            try await transport.send(try request(.get, nginx.url("greeting", "/1k")), options: .of()).status == 400)
    }

    @Test("a client certificate whose key isn't an https origin fails every request", arguments: ["localhost", ""])
    func identityOfNoOrigin(origin: String) async throws {
        let identities: CurlIdentities = [origin: .pkcs12(Data())]
        var configuration = CurlConfiguration()
        configuration.tls.identities = identities
        let transport = CurlTransport(configuration)
        let server = try RawServer { _ in }
        let get = try request(.get, "https://127.0.0.1:\(server.port)/")
        let error = try await failure { try await transport.send(get, options: .of()) }
        #expect(error.code == .insecureConnection && error.message.contains("is for \"\(origin)\""), "\(error)")
        #expect(server.accepted == 0)
        #expect(identities[origin] == nil && identities.description == "ClientIdentities()")
        identities[origin] = nil
        let next = try await failure { try await transport.send(get, options: .of()) }
        #expect(!next.message.contains("certificate is for") && server.accepted == 1)
    }

    @Test("a server that is too old for the minimum version is refused")
    func minimumVersion() async throws {
        let nginx = try await nginx()
        let url = nginx.url("old", "/1k")
        #expect(try await trusting(nginx).send(try request(.get, url), options: .of()).status == 200)
        let transport = trusting(nginx) { $0.tls.minimumVersion = .v1_3 }
        let error = try await failure { try await transport.send(try request(.get, url), options: .of()) }
        #expect(error.code == .insecureConnection)
    }

    @Test(
        "HTTP/2 carries a hundred requests at once on one connection, bodies included",
        .enabled(if: Offer.speaksHTTP2))
    func multiplexed() async throws {
        let nginx = try await nginx()
        let transport = trusting(nginx)
        let connections = try await withThrowingTaskGroup(of: String?.self) { group in
            for count in 0..<100 {
                group.addTask {
                    let path = count % 2 == 0 ? "/1k" : "/text.txt"
                    let response = try await transport.send(
                        try request(.get, nginx.url("good", path)), options: .of(count % 3 == 0 ? .stream : .data))
                    let size = try await response.body.collect(upTo: 1 << 20).count
                    #expect(size == (count % 2 == 0 ? 1024 : 75_000))
                    return response.headers["X-Connection"]
                }
            }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(connections.count == 1)
    }

    @Test("keep-alive limits, ranges, gzip and conditional requests of a real server")
    func plain() async throws {
        let nginx = try await nginx()
        let transport = CurlTransport()
        for _ in 0..<20 {
            let url = nginx.url("short", "/1k", scheme: "http")
            #expect(try await transport.send(try request(.get, url), options: .of()).data.count == 1024)
        }
        let url = nginx.url("plain", "/text.txt", scheme: "http")
        let whole = try await transport.send(try request(.get, url), options: .of())
        #expect(whole.data.count == 75_000 && whole.headers[.contentEncoding] == nil)
        let part = try await transport.send(try request(.get, url, headers: ["Range": "bytes=0-9"]), options: .of())
        #expect(part.status == 206 && part.data == whole.data.prefix(10))
        let tag = try #require(part.headers["ETag"])
        let same = try await transport.send(try request(.get, url, headers: ["If-None-Match": tag]), options: .of())
        #expect(same.status == 304 && same.data.isEmpty)
    }

    @Test("a stopped reader on HTTP/2 doesn't delay other transfers, and uses the documented memory")
    func stoppedReader() async throws {
        await #expect(processExitsWith: .success) {
            let nginx = try await Nginx.site([("good", " ssl http2;")])
            var configuration = CurlConfiguration()
            configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
            let transport = CurlTransport(configuration)
            _ = try await transport.send(try request(.get, nginx.url("good", "/1k")), options: .of())
            let before = residentBytes()
            let stopped = try await transport.send(try request(.get, nginx.url("good", "/48m")), options: .of(.stream))
            for _ in 0..<500 {
                let response = try await transport.send(try request(.get, nginx.url("good", "/1k")), options: .of())
                precondition(response.data.count == 1024)
            }
            let held = (residentBytes() - before) >> 20
            precondition(held < 48 || isSanitized, "\(held) MiB")
            var count = 0
            for try await chunk in stopped.body { count += chunk.count }
            precondition(count == 48 << 20)
        }
    }
}
#endif
