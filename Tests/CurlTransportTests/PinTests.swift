#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

@Suite("Pins and the names of hosts over libcurl", .endsInTime, .leakChecked)
struct PinTests {
    @Test(
        "a pin applies to every spelling of its host, in the pin and in the URL",
        .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"),
        arguments: [
            ("localhost", "LOCALHOST"), ("LocalHost", "localhost"), ("localhost.", "localhost"),
            ("127.0.0.1", "127.1"), ("127.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"),
        ])
    func spellings(pinned: String, requested: String) async throws {
        let nginx = try await Nginx.site([("good", " ssl;")])
        let (good, wrong) = (try await nginx.pin("good"), try await nginx.pin("elsewhere"))
        let url = nginx.url("good", "/1k", host: requested)
        for pin in [good, wrong] {
            var configuration = CurlConfiguration()
            configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
            // The certificate contains only one of the host's names.
            configuration.tls.dangerouslyAcceptsCertificatesOfOtherHosts = true
            configuration.tls.publicKeyPins[pinned] = [pin]
            let transport = CurlTransport(configuration)
            if pin == good {
                #expect(try await transport.send(try request(.get, url), options: .of()).status == 200)
            } else {
                let error = try await failure { try await transport.send(try request(.get, url), options: .of()) }
                #expect(error.code == .insecureConnection && error.message.contains("pin"), "\(error)")
            }
        }
    }

    @Test(
        "pins for text that isn't a host name are refused before anything is sent",
        arguments: [
            "", ".", "https://api.test", "api.test:443", "api.test/", "api..test", "*.api.test", "bücher.test", "[::1",
            "a b", "api.test..",
        ])
    func noHost(key: String) async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        var configuration = CurlConfiguration()
        configuration.tls.publicKeyPins[key] = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
        let transport = CurlTransport(configuration)
        for _ in 0..<2 {
            let error = try await failure { try await transport.send(try request(.get, server.url()), options: .of()) }
            #expect(error.code == .insecureConnection && error.message.contains("pin"), "\(error)")
            #expect(!error.isRetryable)
        }
        #expect(server.accepted == 0)
    }

    @Test("a host that is pinned twice must have the same pins")
    func twice() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        var configuration = CurlConfiguration()
        let (one, other) = (
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "X7DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        )
        configuration.tls.publicKeyPins = ["api.test": [one, other], "API.test.": [other, one]]
        #expect(
            try await CurlTransport(configuration).send(try request(.get, server.url()), options: .of()).status == 200)
        configuration.tls.publicKeyPins["API.TEST"] = [other]
        let transport = CurlTransport(configuration)
        let error = try await failure { try await transport.send(try request(.get, server.url()), options: .of()) }
        #expect(error.code == .insecureConnection && error.message.contains("twice"), "\(error)")
    }
}
#endif
