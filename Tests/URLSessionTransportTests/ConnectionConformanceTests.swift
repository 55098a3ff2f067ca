#if canImport(Glibc)
import Errand
import ErrandConformance
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

/// The wrapper of Network.framework's connections also keeps the promises of connections on top of a socket. This tests
/// it on systems without the framework.
@Suite("The connection conformance suite over a socket", .endsInTime, .leakChecked)
struct ConnectionConformanceTests {
    @Test(
        "a socket passes every case",
        arguments: ConnectionConformance.cases(for: { SocketTransport() }, within: .seconds(500)))
    func kept(each: PluginConformanceCase) async throws { try await each.run() }
}

/// Only opens connections.
private struct SocketTransport: ConnectingTransport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        throw ErrandError(.transportUnavailable, "it sends no requests")
    }

    func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        let connection = watchForLeaks(SystemConnection(SocketDriver(try ConnectionTarget(request.url))))
        try await connection.open(options)
        return connection
    }
}

/// A blocking socket with a thread for each call.
private final class SocketDriver: ConnectionDriver {
    private let target: ConnectionTarget
    private let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)

    init(_ target: ConnectionTarget) { self.target = target }

    deinit { _ = Glibc.close(socket) }

    private static var failure: NetworkFailure {
        NetworkFailure(POSIXErrorCode(rawValue: errno).map { .posix($0) } ?? .other, String(cString: strerror(errno)))
    }

    func start(_ report: @escaping @Sendable (ConnectionEvent) -> Void) {
        RawServer.thread { [self] in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = target.port.bigEndian
            address.sin_addr.s_addr = inet_addr(target.host)
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            report(result == 0 ? .ready : .failed(Self.failure))
        }
    }

    func receive(
        upTo limit: Int, _ completion: @escaping @Sendable (Data?, _ isAtEnd: Bool, NetworkFailure?) -> Void
    ) {
        RawServer.thread { [self] in
            var data = Data(count: limit)
            let count = data.withUnsafeMutableBytes { Glibc.recv(socket, $0.baseAddress, $0.count, 0) }
            if count < 0 { return completion(nil, false, Self.failure) }
            completion(count == 0 ? nil : data.prefix(count), count == 0, nil)
        }
    }

    func send(_ data: Data, _ completion: @escaping @Sendable (NetworkFailure?) -> Void) {
        RawServer.thread { [self] in
            var rest = data
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count < 0 { return completion(Self.failure) }
                rest = rest.dropFirst(count)
            }
            completion(nil)
        }
    }

    func cancel() { _ = Glibc.shutdown(socket, Int32(SHUT_RDWR)) }
}
#endif
