#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Foundation
import Testing

/// A server that closes each connection after some requests refuses the streams that arrive too late (RFC 9113, section
/// 8.7). It hasn't acted on them, so they're sent again on another connection.
@Suite(
    "Connections that a server retires", .endsInTime,
    .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"), .leakChecked)
struct RetiringConnectionTests {
    @Test(
        "64 concurrent requests over connections that accept few requests all succeed, and each reaches the server once",
        arguments: [(5, 1_200), (1_000, 4_000)])
    func retired(requestsPerConnection: Int, count: Int) async throws {
        // The proxy reads a body before it responds: old versions of libcurl lose a response that overtakes its
        // request.
        let inner = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(8)).sock").path
        let block = """
             ssl http2; listen unix:\(inner); keepalive_requests \(requestsPerConnection);
            location /echo { proxy_pass http://unix:\(inner):/ok; } location = /ok { access_log off; return 200 ok; }
            """
        let nginx = try await Nginx.site(
            [("retiring", "\(block) access_log served.log;")], hasLargeFile: false)
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        let transport = CurlTransport(configuration)
        for method in [HTTPMethod.get, .post] {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    if number >= 64 { try await group.next() }
                    let url = nginx.url("retiring", "/echo?\(method)=\(number)")
                    group.addTask {
                        let body: RequestBody = method == .post ? .data(Data("\(number)".utf8)) : .none
                        let response = try await transport.send(try request(method, url, body: body), options: .of())
                        #expect(response.status == 200 && response.data == Data("ok".utf8))
                    }
                }
                try await group.waitForAll()
            }
            // nginx may write a line shortly after the client has its response.
            var served: [Int] = []
            try await eventually {
                let log = try String(contentsOf: URL(filePath: nginx.file("served.log")), encoding: .utf8)
                let lines = log.matches(of: /\/echo\?(\w+)=(\d+)\s/).filter { $0.1 == method.rawValue }
                served = lines.map { Int($0.2) ?? -1 }
                return served.count >= count
            }
            #expect(served.sorted() == Array(0..<count))
        }
    }
}
#endif
