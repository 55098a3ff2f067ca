import Errand
import ErrandTesting
import Foundation

/// The server for measurements on the wire: nginx in a separate process if it's installed, otherwise the test kit's
/// server, which shares this process and its CPU time.
final class BenchServer: Sendable {
    let url: String
    /// The size of `/large`, or nil if the server doesn't have it.
    let large: Int?
    let name: String
    let process: pid_t?
    /// Keeps the server running.
    private let server: any AnyObject & Sendable

    private init(_ name: String, _ url: String, large: Int?, process: pid_t?, server: any AnyObject & Sendable) {
        (self.name, self.url, self.large, self.process, self.server) = (name, url, large, process, server)
    }

    static func start() async throws -> BenchServer {
        let kilobyte = Data(repeating: 0x61, count: 1024)
        #if os(Linux) || os(macOS)
        if Nginx.isInstalled {
            let nginx = try await Nginx(
                [("plain", "; location /post { return 204; } location /people { default_type application/json; }")],
                files: ["kilobyte": kilobyte, "large": Data(), "people": JSONValidationBench.document(bytes: 1_000)],
                settings: "sendfile on; tcp_nopush on; keepalive_requests 1000000000;")
            let large = 1_000_000_000
            // A sparse file takes no space on the server's disk.
            truncate(nginx.file("www/large"), off_t(large))
            let url = nginx.url("plain", scheme: "http", host: "127.0.0.1")
            return BenchServer("nginx", url, large: large, process: nginx.process, server: nginx)
        }
        #endif
        let server = try TestServer()
        server.on(.get, "/kilobyte", .data(kilobyte, contentType: "text/plain"))
        let people = JSONValidationBench.document(bytes: 1_000)
        server.on(.get, "/people", .data(people, contentType: "application/json"))
        return BenchServer(
            "the test kit's server, in this process", server.url, large: nil, process: nil, server: server)
    }
}
