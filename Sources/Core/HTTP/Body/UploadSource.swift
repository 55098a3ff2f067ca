import ErrandEssentials

/// A stream that is sent. Its failures are told apart from the request's failures.
final class UploadSource: HTTPBodySource {
    private let body: HTTPBody

    private init(_ body: HTTPBody) { self.body = body }

    /// - Parameter length: The announced number of bytes. Any other number fails.
    static func guarding(length: Int64?, _ open: () throws -> HTTPBody) throws -> HTTPBody {
        let body: HTTPBody
        do { body = try open() } catch { throw typed(error) }
        if let length, let own = body.length, own != length {
            body.cancel()
            throw ErrandError(.invalidRequest, "the body announced \(length) bytes but has \(own)")
        }
        guard let reader = body.reader, body.file == nil || body.length != length else { return body }
        _ = try reader.claim()
        return HTTPBody(length: length ?? body.length, source: UploadSource(body))
    }

    func nextChunk() async throws -> Data? {
        do { return try await body.nextChunk() } catch { throw Self.typed(error) }
    }

    func cancel() { body.cancel() }

    /// Keeps errors that transports handle themselves, and the cancellation of the sending task.
    private static func typed(_ error: any Error) -> any Error {
        let own: [ErrandError.Code] = [
            .invalidRequest, .encodingFailed, .bodyNotReplayable, .bodyAlreadyRead, .fileFailed, .truncated,
            .invalidResponse,
        ]
        if let known = error as? ErrandError, own.contains(known.code), known.response == nil { return error }
        if error.isCancellation {
            if Task.isCancelled { return error }
            return ErrandError(.encodingFailed, "the body's source was cancelled", underlying: error)
        }
        return ErrandError(
            .encodingFailed, "the body's source failed: \(error.briefDescription)", underlying: error)
    }
}
