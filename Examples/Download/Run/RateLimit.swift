import Errand
import ErrandEssentials
import Synchronization

/// Limits the combined rate of all downloads. It paces the reading of bodies and relies on the transport's
/// backpressure.
final class RateLimit: Filter {
    /// Bytes per second.
    let rate: Double
    private let free = Mutex<ContinuousClock.Instant?>(nil)

    init(bytesPerSecond rate: Double) { self.rate = max(1, rate) }

    /// The number of bytes to pass on at once: a tenth of a second's worth.
    var pieceSize: Int { Int(min(max(rate / 10, 1), 262_144)) }

    /// When `count` more bytes may pass, after the bytes of earlier calls.
    func due(_ count: Int, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        free.withLock { free in
            let start = max(free ?? now, now)
            let end = start.advanced(by: .seconds(Double(count) / rate))
            free = end
            return end
        }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        let reader = PacedReader(response.body, self, exchange.time)
        let body = response.body
        response.body = HTTPBody(length: body.length, cancel: { body.cancel() }, next: { try await reader.next() })
        return response
    }
}

/// Reads a body in pieces, each when it is due.
private actor PacedReader {
    private var iterator: HTTPBody.Iterator
    private var rest = Data()
    private let limit: RateLimit
    private let time: any TimeSource

    init(_ body: HTTPBody, _ limit: RateLimit, _ time: any TimeSource) {
        (iterator, self.limit, self.time) = (body.makeAsyncIterator(), limit, time)
    }

    func next() async throws -> Data? {
        if rest.isEmpty {
            var iterator = iterator
            guard let chunk = try await iterator.next() else { return nil }
            (self.iterator, rest) = (iterator, chunk)
        }
        let piece = rest.prefix(limit.pieceSize)
        rest = rest.dropFirst(piece.count)
        try await time.sleep(until: limit.due(piece.count, at: time.now))
        return piece
    }
}
