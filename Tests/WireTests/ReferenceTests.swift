#if os(Linux)
import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("References on the wire", .leakChecked) struct ReferenceTests {
    /// Returns the request lines that a server receives if its first response has these bytes as its `Location`.
    private func lines(after location: [UInt8], host: String = "127.0.0.1", ipv6: Bool = false) async throws -> [String]
    {
        let heads = Log<String>()
        let server = try RawServer(ipv6: ipv6) { peer in
            while let head = peer.readHead() {
                let isFirst = heads.all.isEmpty
                heads.add(head)
                let status = isFirst ? "302 Found\r\nLocation: " : "200 OK\r\nX-Location: "
                peer.send(Array("HTTP/1.1 \(status)".utf8) + location + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
            }
        }
        let agent = NetworkAgent(baseURL: "http://\(host):\(server.port)/a/", transport: .system)
        _ = try await agent.send(Call<Data>(.get, "b"))
        return heads.all.map { $0.replacing("\r\n", with: "\n").replacing(":\(server.port)", with: "") }
    }

    @Test(
        "a redirect leads to the same resource as with curl and browsers",
        arguments: [
            (Array("/a%20b/x[1]".utf8), "/a%20b/x%5B1%5D"), (Array("c?d|e{f}".utf8), "/a/c?d%7Ce%7Bf%7D"),
            (Array("/caf".utf8) + [0xE9], "/caf%E9"), (Array("/café%20".utf8), "/caf%C3%A9%20"),
            (Array("/%".utf8) + [0xFF, 0xC3, 0x28], "/%25%FF%C3("), (Array("..\\x y".utf8), "/x%20y"),
            (Array("/100%/./%2e%2e/z".utf8), "/z"), (Array("?a=%2F&b='".utf8), "/a/b?a=%2F&b=%27"),
        ] as [([UInt8], String)])
    func locations(location: [UInt8], target: String) async throws {
        let heads = try await lines(after: location)
        #expect(heads.count == 2 && heads.last?.hasPrefix("GET \(target) HTTP/1.1\n") == true, "\(heads.last ?? "")")
    }

    @Test("an address with a zone can be connected to, even after a redirect, and no server sees the zone")
    func zones() async throws {
        guard (try? RawServer(ipv6: true) { _ in }) != nil else { try Test.cancel("this machine has no IPv6") }
        let heads = try await lines(after: Array("/c[]".utf8), host: "[::1%25lo]", ipv6: true)
        #expect(heads.map { String($0.prefix { $0 != "\n" }) } == ["GET /a/b HTTP/1.1", "GET /c%5B%5D HTTP/1.1"])
        #expect(heads.allSatisfy { $0.contains("Host: [::1]\n") })
    }
}
#endif
