import Errand
import ErrandEssentials
import OpenAPIRuntime

extension RequestBody {
    /// Converts an OpenAPI runtime body, chunk by chunk. A body that can only be read once can only be sent once.
    init(_ body: OpenAPIRuntime.HTTPBody) throws {
        // The client has already set the content type in its header fields.
        let stream = RequestBody.stream(length: body.knownLength, contentType: nil) { DataChunks(body: body) }
        self =
            switch body.iterationBehavior {
            case .multiple: stream
            case .single: .stream(try stream.open(), contentType: nil)
            }
    }
}

extension Errand.HTTPBody {
    /// Converts an OpenAPI runtime body to a stream of chunks that are read on demand.
    init(_ body: OpenAPIRuntime.HTTPBody) {
        let chunks = ChunkPull(body)
        self.init(length: body.knownLength) { try await chunks.next() }
    }
}

extension OpenAPIRuntime.HTTPBody {
    fileprivate var knownLength: Int64? { if case .known(let count) = length { count } else { nil } }

    /// Converts an Errand body: its bytes, or a stream of chunks that are read on demand.
    convenience init(_ body: Errand.HTTPBody) {
        if let data = body.data {
            self.init(data)
        } else {
            self.init(body, length: Self.length(body.length), iterationBehavior: .single)
        }
    }

    /// Converts a request's body, which is opened on the first read.
    convenience init(_ body: RequestBody) {
        self.init(
            OpenedChunks(body: body), length: Self.length(body.length),
            iterationBehavior: body.isReplayable ? .multiple : .single)
    }

    private static func length(_ count: Int64?) -> Length { count.map { .known($0) } ?? .unknown }
}

/// The chunks of a body as `Data`.
private struct DataChunks: AsyncSequence, Sendable {
    let body: OpenAPIRuntime.HTTPBody

    func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: OpenAPIRuntime.HTTPBody.Iterator

        mutating func next() async throws -> Data? { try await chunks.next(isolation: #isolation).map { Data($0) } }
    }
}

/// The chunks of a request's body.
private struct OpenedChunks: AsyncSequence, Sendable {
    let body: RequestBody

    func makeAsyncIterator() -> Iterator { Iterator(body: body) }

    struct Iterator: AsyncIteratorProtocol {
        let body: RequestBody
        var chunks: Errand.HTTPBody.Iterator?

        mutating func next() async throws -> Data? {
            var current = try chunks ?? body.open().makeAsyncIterator()
            let chunk = try await current.next()
            chunks = current
            return chunk
        }
    }
}

/// Isolates a body's iterator, which isn't `Sendable`.
private actor ChunkPull {
    private let body: OpenAPIRuntime.HTTPBody
    private var iterator: OpenAPIRuntime.HTTPBody.Iterator?

    init(_ body: OpenAPIRuntime.HTTPBody) { self.body = body }

    func next() async throws -> Data? {
        var current = iterator ?? body.makeAsyncIterator()
        let chunk = try await current.next(isolation: self)
        iterator = current
        return chunk.map { Data($0) }
    }
}
