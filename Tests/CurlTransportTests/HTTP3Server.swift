#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandTestSupport
import Foundation
import Testing

/// Runs an HTTP/3 server, PyPI's `aioquic`, in front of HTTP/1.1 servers until this object is deallocated.
final class HTTP3Server: Sendable {
    static let isInstalled = Task {
        let output = try? await Program("env")?.run(["python3", "-c", "import aioquic"])
        return output?.status == 0 && Nginx.isInstalled
    }
    static let skipReason: Comment = "a libcurl with HTTP/3, python3 with aioquic, nginx and openssl are needed"

    /// The server's fault for a request to the path of the same name.
    enum Fault: String, CaseIterable {
        case rejected, rejectedOnce = "rejected-once", failed, closed, misdirected, cut, short, long
        var path: String { "/quic/\(rawValue)" }
    }

    let folder: Folder
    let port: Int
    private let identifier: Int
    private let process: RunningProgram

    /// - Parameters:
    ///   - port: the UDP port. Defaults to any free port.
    ///   - folder: a folder with certificates. Defaults to a new one.
    init(port: Int = 0, in folder: Folder? = nil) async throws {
        let own = try folder ?? Folder()
        if folder == nil { try await Nginx.makeCertificates(in: own.url) }
        try? FileManager.default.removeItem(atPath: own.path("port"))
        try Data(Self.program.utf8).write(to: own.file("server.py"))
        let env = try #require(Program("env"))
        let process = try env.start(["python3", "server.py", "\(port)"], in: own.url, isKept: true)
        try await eventually { process.hasEnded || FileManager.default.fileExists(atPath: own.path("port")) }
        let numbers = try String(decoding: own.data("port"), as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        (self.port, identifier) = (try #require(numbers.first), try #require(numbers.last))
        (self.folder, self.process) = (own, process)
    }

    func configuration(_ version: CurlConfiguration.HTTPVersion) -> CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.httpVersion = version
        configuration.tls.roots = .file(URL(filePath: folder.path("root.pem")))
        // The server doesn't support IPv6.
        configuration.addressFamily = .v4
        return configuration
    }

    func methods(_ fault: Fault) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path("requests")) else { return [] }
        let lines = String(decoding: try folder.data("requests"), as: UTF8.self).split(separator: "\n")
        return lines.filter { $0.hasSuffix(" " + fault.path) }.map { String($0.prefix { $0 != " " }) }
    }

    func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    /// Kills the server without notifying its clients.
    func kill() async throws {
        Foundation.kill(pid_t(identifier), SIGKILL)
        _ = try await process.ended()
    }
}

/// Routes requests for an HTTP/1.1 server through an HTTP/3 server.
struct HTTP3Transport: Transport {
    let server: HTTP3Server
    let base: CurlTransport

    init(_ server: HTTP3Server) {
        (self.server, base) = (server, CurlTransport(server.configuration(.http3Only)))
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var moved = request
        var parts = try #require(URLComponents(url: request.url, resolvingAgainstBaseURL: true))
        moved.headers["X-Port"] = "\(parts.port ?? 80)"
        (parts.scheme, parts.host, parts.port) = ("https", "localhost", server.port)
        moved.url = try #require(parts.url)
        var response = try await base.send(moved, options: options)
        response.url = request.url
        return response
    }
}
#endif
