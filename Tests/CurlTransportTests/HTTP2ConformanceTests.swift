#if os(Linux)
import Errand
import ErrandConformance
import ErrandCurlTransport
import ErrandEssentials
import ErrandTestSupport
import Testing

@Suite("The conformance suite for HTTP/2", .endsInTime, .needsHTTP2)
struct HTTP2ConformanceTests {
    private static let certificates = Task { try await TestCertificates() }

    private static func cases(
        _ make: @escaping @Sendable (TestCertificates) -> any Transport = { CurlTransport(trusting: $0) },
        changing change: @escaping FrameRelay.Change = { _, frame in [frame] }
    ) async throws -> [ConformanceCase] {
        let certificates = try await certificates.value
        let context = try certificates.context()
        return TransportConformance.http2Cases(
            for: { make(certificates) },
            through: { port in
                let relay = try FrameRelay(to: port, change)
                return try ChangedRelay(TLSRelay(to: relay.port, context), relay)
            }, within: .seconds(100))
    }

    private static let names = TransportConformance.http2Cases(for: { CurlTransport() }).map(\.name)

    /// Some versions of libcurl take a stream that is reset with NO_ERROR for a complete one, lose a response that
    /// arrives before the end of the request, or send streamed bodies over HTTP/1.1.
    private static let optional: Set<String> = [
        "an HTTP/2 body that ends early is an error, even with NO_ERROR",
        "a complete HTTP/2 response counts, even if the server doesn't read the request's body",
        "a streamed request body is sent over HTTP/2, within the server's window",
    ]

    @Test("curl passes each case", arguments: names.filter { !optional.contains($0) })
    func kept(name: String) async throws {
        for each in try await Self.cases() where each.name == name { try await each.run() }
    }

    private static let requests = "an HTTP/2 request has pseudo-header fields and lowercase names"
    private static let responses = "an HTTP/2 response is returned with its fields, its body and its end"
    private static let events = "1xx responses and trailers of HTTP/2 are reported"

    /// Mistakes that a relay imitates by changing frames, and the cases that catch them.
    private static let mistakes: [(what: String, name: String, change: FrameRelay.Change)] = [
        ("sends a name in capitals", requests, { adding("X-Law", "1", $0, $1) }),
        ("sends two hosts", requests, { adding("host", "other.example", $0, $1) }),
        (
            "sends Connection", "the fields of a connection aren't sent over HTTP/2",
            { adding("connection", "keep-alive", $0, $1) }
        ),
        ("sends TE: gzip", "the fields of a connection aren't sent over HTTP/2", { adding("te", "gzip", $0, $1) }),
        (
            "ignores the window of the server", "a request body keeps within the server's window",
            { replacing([0, 4, 0, 0, 3, 232], with: [0, 4, 0, 0, 255, 255], $0, $1) }
        ),
        (
            "ignores the limit of streams", "there are no more concurrent streams than the server permits",
            { replacing([0, 3, 0, 0, 0, 2], with: [0, 3, 0, 0, 0, 100], $0, $1) }
        ),
        ("doesn't acknowledge PING", responses, { $0 == .client && $1.kind == 6 ? [] : [$1] }),
        (
            "drops 1xx responses", events,
            { side, frame in side == .server && frame.kind == 1 && frame.contains("103") ? [] : [frame] }
        ),
        (
            "drops trailers", events,
            { side, frame in
                guard side == .server, frame.kind == 1, frame.contains("x-sum") else { return [frame] }
                return [frame.with(kind: 0, flags: 1)]
            }
        ),
        (
            "accepts names in capitals", "an HTTP/2 response that is malformed is an error",
            { replacing(Array("X-Upper".utf8), with: Array("x-upper".utf8), $0, $1) }
        ),
        (
            "takes a reset for the end of a body",
            "an HTTP/2 body that ends early is an error, and other streams continue",
            { side, frame in side == .server && frame.kind == 3 ? [frame.with(kind: 0, flags: 1)] : [frame] }
        ),
        (
            "doesn't count a response whose stream is reset",
            "a complete HTTP/2 response counts, even if its stream is reset with NO_ERROR",
            { side, frame in
                guard side == .server else { return [frame] }
                if frame.kind == 3 { return [frame.with(kind: 3, flags: 0, [0, 0, 0, 2])] }
                return frame.kind == 0 && frame.contains("early") ? [frame.with(kind: 0, flags: 0)] : [frame]
            }
        ),
        (
            "ignores GOAWAY", "a response that GOAWAY interrupts arrives, and the next request uses another connection",
            { $0 == .server && $1.kind == 7 ? [] : [$1] }
        ),
        (
            "closes the connection to cancel a stream", "a cancellation or a timeout ends only its own HTTP/2 stream",
            { $0 == .client && $1.kind == 3 ? nil : [$1] }
        ),
        (
            "doesn't release the window of its connection",
            "an HTTP/2 body that isn't read to its end doesn't stall later requests",
            { $0 == .client && $1.kind == 8 && $1.stream == 0 ? [] : [$1] }
        ),
    ]

    @Test("a case refuses a client that breaks a rule", arguments: mistakes.indices)
    func refused(index: Int) async throws {
        let (what, name, change) = Self.mistakes[index]
        let each = try #require(try await Self.cases(changing: change).first { $0.name == name })
        await #expect(throws: ConformanceFailure.self, "\(what)") { try await each.run() }
    }

    @Test("a case refuses a transport that sends a request again, or another request", arguments: [false, true])
    func again(isEmpty: Bool) async throws {
        let name =
            isEmpty
            ? "a request whose HTTP/2 stream was refused is sent again unchanged, or fails"
            : "a POST that the server may have processed is sent once over HTTP/2"
        let cases = try await Self.cases { SendsAgain(inner: CurlTransport(trusting: $0), isEmpty: isEmpty) }
        let each = try #require(cases.first { $0.name == name })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    private static func adding(
        _ name: String, _ value: String, _ side: FrameRelay.Side, _ frame: FrameRelay.Frame
    ) -> [FrameRelay.Frame] {
        guard side == .client, frame.kind == 1 else { return [frame] }
        var copy = frame
        copy.payload += [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        return [copy]
    }

    private static func replacing(
        _ old: [UInt8], with new: [UInt8], _ side: FrameRelay.Side, _ frame: FrameRelay.Frame
    ) -> [FrameRelay.Frame] {
        var copy = frame
        if side == .server { copy.payload.replace(old, with: new) }
        return [copy]
    }
}

/// Sends a request again whose connection was lost, possibly without its body.
private struct SendsAgain: Transport {
    let inner: CurlTransport
    let isEmpty: Bool

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        do { return try await inner.send(request, options: options) } catch let error as ErrandError
            where error.code == .connectionLost
        {
            var again = request
            if isEmpty { again.body = .none }
            return try await inner.send(again, options: options)
        }
    }
}

extension FrameRelay.Frame {
    fileprivate func contains(_ text: String) -> Bool { payload.contains(Array(text.utf8)) }

    fileprivate func with(kind: UInt8, flags: UInt8, _ payload: [UInt8] = []) -> FrameRelay.Frame {
        var copy = self
        (copy.kind, copy.flags) = (kind, flags)
        copy.payload = kind == 0 && self.kind == 0 ? self.payload : payload
        return copy
    }
}

/// A TLS relay in front of a relay that changes frames.
private final class ChangedRelay: WireRelay {
    private let outer: TLSRelay
    private let inner: FrameRelay

    init(_ outer: TLSRelay, _ inner: FrameRelay) { (self.outer, self.inner) = (outer, inner) }

    var url: String { outer.url }
}
#endif
