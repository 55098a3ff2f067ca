#if os(Linux)
import Errand
import ErrandEssentials
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Versions of libcurl", .endsInTime, .leakChecked)
struct VersionTests {
    typealias Avoided = CurlVersionRule.Avoided

    @Test("version numbers and names are parsed")
    func numbers() {
        #expect(CurlVersion(7, 88, 1).number == 0x075801)
        #expect(CurlVersion(number: 0x080c01).description == "8.12.1")
        #expect(CurlVersion(7, 99, 9) < CurlVersion(8, 0, 0))
    }

    static let boundaries: [(Avoided, [(version: CurlVersion, isAvoided: Bool)])] = [
        (.library, [(CurlVersion(7, 61, 1), true), (CurlVersion(7, 75, 0), true), (CurlVersion(7, 76, 0), false)]),
        (
            .connectionReuse,
            [(CurlVersion(7, 76, 0), true), (CurlVersion(7, 79, 1), true), (CurlVersion(7, 80, 0), false)]
        ),
        (
            .handleReuse,
            [
                (CurlVersion(7, 83, 1), false), (CurlVersion(7, 84, 0), true), (CurlVersion(7, 88, 0), true),
                (CurlVersion(7, 88, 1), false), (CurlVersion(8, 0, 1), true), (CurlVersion(8, 1, 0), false),
                (CurlVersion(8, 8, 0), false),
                (CurlVersion(8, 9, 0), true), (CurlVersion(8, 13, 0), true), (CurlVersion(8, 14, 0), false),
            ]
        ),
        (
            .unseenHeaders,
            [(CurlVersion(7, 88, 0), false), (CurlVersion(7, 88, 1), true), (CurlVersion(8, 0, 0), false)]
        ),
        (.unseenExcess, [(CurlVersion(8, 12, 1), false), (CurlVersion(8, 13, 0), true), (.latest, true)]),
        (
            .http2,
            [
                (CurlVersion(7, 76, 0), true), (CurlVersion(7, 81, 0), true), (CurlVersion(7, 88, 0), true),
                (CurlVersion(7, 88, 1), false), (CurlVersion(8, 0, 0), true), (CurlVersion(8, 5, 0), true),
                (CurlVersion(8, 13, 0), true), (CurlVersion(8, 14, 0), false), (CurlVersion(8, 15, 0), false),
                (CurlVersion(8, 16, 0), true), (CurlVersion(8, 17, 0), true), (CurlVersion(8, 18, 0), false),
            ]
        ),
        (
            .http2LongUpload,
            [(CurlVersion(7, 88, 0), false), (CurlVersion(7, 88, 1), true), (CurlVersion(8, 0, 0), false)]
        ),
        (
            .http2Upload,
            [
                (CurlVersion(7, 88, 1), false), (CurlVersion(8, 14, 0), true), (CurlVersion(8, 22, 0), true),
                (CurlVersion(8, 23, 0), false),
            ]
        ),
        (.http3, [(CurlVersion(8, 16, 0), true), (CurlVersion(8, 22, 0), true), (CurlVersion(8, 23, 0), false)]),
        (.attemptCallback, [(CurlVersion(7, 79, 1), true), (CurlVersion(7, 80, 0), false)]),
        (.quickExit, [(CurlVersion(7, 86, 0), true), (CurlVersion(7, 87, 0), false)]),
        (.callersThread, [(CurlVersion(7, 87, 0), true), (CurlVersion(7, 88, 0), false)]),
        (
            .addressChange,
            [
                (CurlVersion(7, 87, 0), false), (CurlVersion(7, 88, 1), true), (CurlVersion(8, 11, 1), true),
                (CurlVersion(8, 12, 0), false),
            ]
        ),
        (
            .addressPatience,
            [(CurlVersion(7, 76, 0), true), (CurlVersion(8, 22, 0), true), (CurlVersion(8, 23, 0), false)]
        ),
    ]

    @Test("each rule applies from its first version to its last")
    func rules() {
        for (avoided, versions) in Self.boundaries {
            for (version, isAvoided) in versions {
                #expect(
                    CurlVersionRule.avoided(in: version).contains(avoided) == isAvoided, "\(avoided) with \(version)")
            }
        }
        #expect(Set(Self.boundaries.map(\.0)) == Set(Avoided.allCases))
        #expect(CurlVersionRule.avoided(in: CurlVersion(8, 23, 0)) == [.unseenExcess])
        for rule in CurlVersionRule.all {
            #expect(rule.first <= rule.last && !rule.reason.isEmpty)
        }
    }

    @Test("if no attempt can be refused, connections aren't reused")
    func attempts() {
        for minor in UInt32(76)...88 {
            let avoided = CurlVersionRule.avoided(in: CurlVersion(7, minor, 0))
            #expect(!avoided.contains(.attemptCallback) || avoided.contains(.connectionReuse), "7.\(minor)")
        }
    }

    @Test("a libcurl below the floor is refused with its version and the floor")
    func tooOld() throws {
        let error = #expect(throws: ErrandError.self) {
            try CurlLibrary.check(CurlVersion(7, 61, 1), "7.61.1", features: -1)
        }
        #expect(error?.code == .transportUnavailable)
        #expect(error?.message.contains("7.61.1") == true && error?.message.contains("7.76.0") == true)
        #expect(try CurlLibrary.check(.oldest, "7.76.0", features: -1).speaksHTTP2 == false)
    }

    @Test(
        "ERRAND_LIBCURL sets the library; if it's missing, the error names it, and the next request looks again",
        .enabled(if: Offer.isLoaded, "libcurl is linked"))
    func environment() async throws {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { peer in
                while peer.readHead() != nil { peer.send("HTTP/1.1 204 No Content\r\n\r\n") }
            }
            let kept = getenv("ERRAND_LIBCURL").map { String(cString: $0) }
            setenv("ERRAND_LIBCURL", "/nowhere/libcurl.so.4", 1)
            let transport = CurlTransport()
            do {
                _ = try await transport.send(try request(.get, server.url()), options: .of())
                preconditionFailure("no library, and a response")
            } catch let error as ErrandError {
                precondition(error.code == .transportUnavailable, error.description)
                precondition(error.message.contains("/nowhere/libcurl.so.4"), error.description)
            }
            if let kept { setenv("ERRAND_LIBCURL", kept, 1) } else { unsetenv("ERRAND_LIBCURL") }
            let response = try await transport.send(try request(.get, server.url()), options: .of())
            precondition(response.status == 204)
        }
    }

    @Test(
        "a real libcurl below the floor, which ERRAND_OLD_LIBCURL names, is refused with its version",
        .enabled(if: getenv("ERRAND_OLD_LIBCURL") != nil))
    func reallyOld() async throws {
        await #expect(processExitsWith: .success) {
            setenv("ERRAND_LIBCURL", getenv("ERRAND_OLD_LIBCURL"), 1)
            do {
                _ = try await CurlTransport().send(try request(.get, "http://127.0.0.1:1/"), options: .of())
                preconditionFailure("a response")
            } catch let error as ErrandError {
                precondition(error.code == .transportUnavailable, error.description)
                precondition(error.message.contains("is older than 7.76.0"), error.description)
            }
        }
    }

    @Test("a host that old versions of libcurl would misread, or copy past its end, is rejected")
    func hosts() async throws {
        let name = String(repeating: "a", count: 60)
        for host in ["\([name, name, name, name, "example.test"].joined(separator: "."))", "a%2Fb.test", "a%40b.test"] {
            let request = try request(.get, "http://\(host)/")
            let error = try await failure { try await CurlTransport().send(request, options: .of()) }
            #expect(error.code == .invalidURL, "\(host)")
        }
        try HostCheck.check(try #require(URL(string: "http://[fe80::1%25eth0]/")))
        try HostCheck.check(try #require(URL(string: "http://m%C3%BCller.test/")))
    }

    @Test("a header line that begins with a blank, right after the status line, doesn't corrupt memory")
    func blankFirstLine() async throws {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { peer in
                while peer.readHead() != nil {
                    peer.send("HTTP/1.1 200 OK\r\n X:AAAA\r\nContent-Length: 2\r\nY: \(pad)\r\n\r\nok")
                }
            }
            let transport = CurlTransport()
            for _ in 0..<200 {
                do {
                    let response = try await transport.send(try request(.get, server.url()), options: .of())
                    precondition(response.status == 200 && response.data.count == 2)
                    precondition(response.headers["X"] == nil, "a line before the first field belongs to none")
                } catch let error as ErrandError {
                    precondition(error.code == .invalidResponse, error.description)
                }
            }
        }
    }

    @Test(
        "a header line that begins with a blank doesn't corrupt memory after other responses, or extend their fields"
    )
    func blankLineAfterOthers() async throws {
        await #expect(processExitsWith: .success) {
            let good = "HTTP/1.1 200 OK\r\nFirst: \(pad)\r\nContent-Length: 2\r\nLast: \(pad)\r\n\r\nok"
            let rest = "Content-Length: 2\r\nY: \(pad)\r\n\r\nok"
            let heads = [
                "HTTP/1.1 200 OK\r\n X:AAAA\r\n", "HTTP/1.1 200 OK\r\n\tX:AAAA\r\n", "HTTP/1.1 200 OK\n X:AAAA\r\n",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n X:AAAA\r\n",
                "HTTP/1.1 100 Continue\r\n X:AAAA\r\n\r\nHTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n X:\(pad)\(pad)\r\n",
            ]
            let server = try RawServer { peer in
                while let head = peer.readHead() {
                    let number = head.split(separator: " ")[1].dropFirst()
                    peer.send(Int(number).map { heads[$0] + rest } ?? good)
                }
            }
            let transport = CurlTransport()
            for round in 0..<10 * heads.count {
                let options = TransportOptions.of(round < 5 * heads.count ? .stream : .data)
                var response = try await transport.send(try request(.get, server.url("/good")), options: options)
                var body = try await response.body.collect(upTo: 10)
                precondition(body == "ok".utf8.asData)
                precondition(response.headers["First"] == pad && response.headers["Last"] == pad)
                do {
                    let url = server.url("/\(round % heads.count)")
                    response = try await transport.send(try request(.get, url), options: options)
                    body = try await response.body.collect(upTo: 10)
                    precondition(body == "ok".utf8.asData)
                    precondition(response.headers["Y"] == pad && response.headers["Last"] == nil)
                } catch let error as ErrandError {
                    precondition(error.code == .invalidResponse, error.description)
                    precondition(error.message == "a header field of the response is invalid", error.description)
                }
            }
        }
    }

    @Test("a folded line, a long line with blanks and a head without a field arrive unchanged, request after request")
    func watchedHeads() async throws {
        let long = "a" + String(repeating: " ", count: 40_000) + "b"
        let heads = [
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nX: \(long)\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 100 Continue\r\nX: c\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: d\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\r\n ok\r\n\r\n",
        ]
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                peer.send(Int(head.split(separator: " ")[1].dropFirst()).map { heads[$0] } ?? "")
            }
        }
        let transport = CurlTransport()
        let expected = [("a b", "ok"), (long, "ok"), (nil, "ok"), (nil, ""), (nil, "ok"), (nil, "\r\n ok\r\n\r\n")]
        for delivery in [BodyDelivery.data, .stream] {
            for _ in 0..<3 {
                for (number, (field, body)) in expected.enumerated() {
                    let get = try request(.get, server.url("/\(number)"))
                    let response = try await transport.send(get, options: .of(delivery))
                    #expect(response.headers["X"] == field, "\(number)")
                    #expect(try await response.body.collect(upTo: 100) == body.utf8.asData, "\(number)")
                }
            }
        }
        #expect(server.accepted == 1)
    }

    @Test(
        "a client certificate that the TLS library would not send is refused",
        arguments: ["OpenSSL/3.0.17", "BoringSSL", "LibreSSL/3.9.2", "GnuTLS/3.7.9", "NSS/3.87", "mbedTLS/3.6.0", ""])
    func identity(tls: String) throws {
        let library = CurlLibrary(
            version: CurlVersion(7, 88, 1), avoided: [], tls: tls, hasTLS: !tls.isEmpty, hasHTTP2: true,
            hasHTTP3: false,
            authorities: .builtIn)
        try library.check(.pemFiles(certificate: URL(filePath: "/a.pem"), key: URL(filePath: "/a.key")))
        for identity in [
            CurlClientIdentity.pem(certificate: Data(), key: Data()), .pkcs12(file: URL(filePath: "/a.p12")),
            .pkcs12(Data()),
        ] {
            if library.hasOpenSSL {
                try library.check(identity)
            } else {
                let error = #expect(throws: ErrandError.self) { try library.check(identity) }
                #expect(error?.code == .transportUnavailable && error?.isRetryable == false)
            }
        }
    }

    @Test(
        "a client certificate that this libcurl wouldn't send fails the request before connecting",
        .enabled(if: !Offer.hasOpenSSL, "this libcurl uses OpenSSL"))
    func identityOfThisLibrary() async throws {
        let server = try RawServer { peer in _ = peer.drain() }
        var configuration = CurlConfiguration()
        configuration.tls.identities = ["*": .pem(certificate: Data("a".utf8), key: Data("b".utf8))]
        let transport = CurlTransport(configuration)
        let get = try request(.get, "https://127.0.0.1:\(server.port)/")
        let error = try await failure { try await transport.send(get, options: .of()) }
        #expect(error.code == .transportUnavailable && server.accepted == 0)
    }
}

private let pad = String(repeating: "b", count: 40)
#endif
