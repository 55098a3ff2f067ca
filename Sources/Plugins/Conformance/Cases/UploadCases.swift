import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

enum UploadCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.uploads, "a body in memory is sent with its Content-Length") { bench in
            for size in [0, 1, 1_000, 65_536, 1 << 20, 5_000_000] {
                let body = ConformanceBench.pattern(size)
                bench.server.on("/up", .echoBody)
                let received = try await bench.exchange(.post, "/up", body: .data(body))
                try bench.equal(received.data, body, "the body that the server received")
                try framed(try await bench.server.nextRequest(), length: size, bench)
            }
        },
        ConformanceDraft(.uploads, "PUT, PATCH, DELETE and custom methods can have a body") { bench in
            bench.server.on("/up", .echoBody)
            for method in [.put, .patch, .delete, "REPORT"] as [HTTPMethod] {
                let received = try await bench.exchange(method, "/up", body: .text("payload"))
                try bench.equal(received.text, "payload", "the body of \(method)")
                try bench.equal(received.headers["X-Method"], method.rawValue, "the method")
            }
        },
        ConformanceDraft(.uploads, "POST without a body is sent with Content-Length: 0") { bench in
            bench.server.on("/up", .echoBody)
            _ = try await bench.exchange(.post, "/up")
            try framed(try await bench.server.nextRequest(), length: 0, bench)
        },
        ConformanceDraft(.uploads, "an early response to an unread upload is returned, or a network error is thrown") {
            bench in
            bench.server.on("/early", .text("too large", status: 413), reading: .untouched)
            let body = RequestBody.data(ConformanceBench.pattern(3_000_000))
            let received = try await bench.receivedOrFailure(of: "an early response") {
                try await bench.exchange(.post, "/early", body: body)
            }
            if let received { try bench.equal(received.status, 413, "the status") }
            try await bench.expectWorking(after: "an early response")
        },
        ConformanceDraft(.streamedUploads, "a streamed body with a known length is sent with its Content-Length") {
            bench in
            bench.server.on("/up", .echoBody)
            for sizes in [[1], [10, 0, 20], [100_000, 1, 300_000], Array(repeating: 16_384, count: 100)] {
                let body = ConformanceBench.pattern(sizes.reduce(0, +))
                let stream = RequestBody.stream(length: Int64(body.count)) {
                    HTTPBody(length: Int64(body.count), source: PiecesSource(body, sizes))
                }
                let received = try await bench.exchange(.put, "/up", body: stream)
                try bench.equal(received.data, body, "the body that the server received")
                try framed(try await bench.server.nextRequest(), length: body.count, bench)
            }
        },
        ConformanceDraft(.streamedUploads, "a streamed body of unknown length is sent with exactly one framing") {
            bench in
            bench.server.on("/up", .echoBody)
            for sizes in [[], [1], [10, 0, 20], [100_000, 1, 300_000], Array(repeating: 16_384, count: 100)] {
                let body = ConformanceBench.pattern(sizes.reduce(0, +))
                let stream = RequestBody.stream { HTTPBody(source: PiecesSource(body, sizes)) }
                let received = try await bench.exchange(.post, "/up", body: stream)
                try bench.equal(received.data, body, "the body that the server received")
                let came = try await bench.server.nextRequest()
                let framings = [came.headers.contains(.contentLength), came.isChunked].count { $0 }
                try bench.equal(framings, 1, "framings of the request")
            }
        },
        ConformanceDraft(.streamedUploads, "if a body's source fails, the server doesn't receive a complete request") {
            bench in
            bench.server.on("/up", .text("whole"))
            for length in [nil, 300_000] as [Int64?] {
                let stream = RequestBody.stream(length: length) {
                    HTTPBody(
                        length: length,
                        source: PiecesSource(ConformanceBench.pattern(100_000), [50_000, 50_000], fails: true))
                }
                let error = try await bench.failure(of: "a source that fails") {
                    try await bench.exchange(.post, "/up", body: stream)
                }
                // An app would retry such an error, or report that it's offline.
                let blame: [ErrandError.Code] = [.cannotConnect, .connectionLost, .nameLookupFailed, .timedOut]
                try bench.expect(
                    !blame.contains(error.code), "an error of the body, not of the connection", came: error.description)
            }
            try await bench.expectWorking(after: "sources that failed")
            try bench.equal(bench.server.requestCount, 1, "complete requests at the server")
        },
        ConformanceDraft(.streamedUploads, "if a body's length differs from the announced one, the request fails") {
            bench in
            bench.server.on("/up", .text("whole"))
            for announced in [50, 150] as [Int64] {
                let stream = RequestBody.stream(length: announced) {
                    HTTPBody(source: PiecesSource(ConformanceBench.pattern(100), [40, 60]))
                }
                try await bench.failure(of: "100 bytes instead of \(announced)") {
                    try await bench.exchange(.put, "/up", body: stream)
                }
            }
            try await bench.expectWorking(after: "wrong lengths")
            try bench.equal(bench.server.requestCount, 1, "complete requests at the server")
        },
        ConformanceDraft(.streamedUploads, "if a body announced as empty has bytes, the request fails") {
            bench in
            bench.server.on("/up", .text("whole"))
            for own in [nil, 0, 1] as [Int64?] {
                let stream = RequestBody.stream(length: 0) {
                    HTTPBody(length: own, source: PiecesSource(Data([1]), [0, 1]))
                }
                try await bench.failure(of: "a byte that wasn't announced", .invalidRequest) {
                    try await bench.viaAgent(bench.request(.post, "/up", body: stream))
                }
            }
            let empty = RequestBody.stream(length: 0) { HTTPBody(length: 0, source: PiecesSource(Data(), [0])) }
            try bench.equal(
                try await bench.viaAgent(bench.request(.post, "/up", body: empty)).text, "whole", "an empty source")
            try bench.equal(bench.server.requestCount, 1, "complete requests at the server")
            try framed(try await bench.server.nextRequest(), length: 0, bench)
        },
    ]

    private static func framed(_ request: RecordedRequest, length: Int, _ bench: ConformanceBench) throws {
        try bench.equal(request.headers.values(of: .contentLength), ["\(length)"], "Content-Length")
        try bench.equal(request.headers[.transferEncoding], nil, "Transfer-Encoding")
    }
}

/// A source of a body in pieces. Pieces can be empty. The source can fail after the last piece, or never end.
final class PiecesSource: HTTPBodySource {
    struct Failure: Error {}

    private struct State {
        var rest: Data
        var sizes: ArraySlice<Int>
        var pulled = 0
        var isCancelled = false
    }

    private let fails: Bool
    private let isEndless: Bool
    private let state: Mutex<State>
    let ended = Gate()

    init(_ data: Data, _ sizes: [Int], fails: Bool = false, isEndless: Bool = false) {
        self.fails = fails
        self.isEndless = isEndless
        state = Mutex(State(rest: data, sizes: sizes[...]))
    }

    var pulled: Int { state.withLock { $0.pulled } }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func nextChunk() async throws -> Data? {
        let piece: Data? = state.withLock { state in
            if isEndless {
                state.pulled += state.rest.count
                return state.rest
            }
            guard let size = state.sizes.popFirst() else { return nil }
            defer { state.rest = state.rest.dropFirst(size) }
            state.pulled += size
            return Data(state.rest.prefix(size))
        }
        if piece == nil {
            ended.open()
            if fails { throw Failure() }
        }
        return piece
    }

    func cancel() { state.withLock { $0.isCancelled = true } }
}
