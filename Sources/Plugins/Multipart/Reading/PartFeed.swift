import Errand
import ErrandEssentials
import Synchronization

final class PartFeed: Sendable {
    private struct State {
        /// `nil` while a reader uses the parser.
        var parser: MultipartParser?
        /// From 1.
        var number = 0
        var isInPart = false
        var isOver = false
        var isClaimed = false
    }

    /// The maximum number of bytes to read after the last part. Reading them allows the connection to be reused.
    private static let epilogueBytes = 64 << 10

    private let chunks: BodyChunks
    private let state: Mutex<State>

    init(_ body: HTTPBody, boundary: String, limits: MultipartLimits) {
        chunks = BodyChunks(body)
        state = Mutex(State(parser: MultipartParser(boundary: boundary, limits: limits)))
    }

    func claim() -> Bool {
        state.withLock { state in
            defer { state.isClaimed = true }
            return !state.isClaimed
        }
    }

    func nextPart() async throws -> (HTTPHeaders, Int)? {
        guard var parser = try take(part: nil) else { return nil }
        do {
            while true {
                switch try await event(&parser) {
                case .head(let headers):
                    let number = state.withLock { state in
                        (state.parser, state.isInPart) = (parser, true)
                        return state.number
                    }
                    return (headers, number)
                case .body, .endOfPart: continue
                case .end:
                    state.withLock { $0.isOver = true }
                    try await readEpilogue()
                    return nil
                }
            }
        } catch { throw failed(error) }
    }

    func nextChunk(of number: Int) async throws -> Data? {
        guard var parser = try take(part: number) else { return nil }
        do {
            switch try await event(&parser) {
            case .body(let data):
                state.withLock { $0.parser = parser }
                return data
            case .head, .endOfPart, .end:
                state.withLock { ($0.parser, $0.isInPart) = (parser, false) }
                return nil
            }
        } catch { throw failed(error) }
    }

    private func event(_ parser: inout MultipartParser) async throws -> MultipartParser.Event {
        while true {
            if let event = try parser.next() { return event }
            if let chunk = try await chunks.next() { parser.push(chunk) } else { parser.finish() }
        }
    }

    /// Takes the parser out of the state to read a part or, without a number, the next part. Returns `nil` at the end
    /// of the part or body.
    private func take(part number: Int?) throws -> MultipartParser? {
        try state.withLock { state in
            if let number {
                guard number == state.number else {
                    throw MultipartError(
                        .partPassed, "the part can't be read, because the next part was already requested")
                }
                if !state.isInPart { return nil }
            }
            if state.isOver { return nil }
            guard let parser = state.parser else {
                throw MultipartError(.partPassed, "the parts are already being read")
            }
            state.parser = nil
            if number == nil { state.number += 1 }
            return parser
        }
    }

    private func failed(_ error: any Error) -> any Error {
        state.withLock { ($0.isOver, $0.isInPart) = (true, false) }
        chunks.cancel()
        return error
    }

    private func readEpilogue() async throws {
        var rest = Self.epilogueBytes
        while rest > 0 {
            guard let chunk = try await chunks.next() else { return }
            rest -= chunk.count
        }
        chunks.cancel()
    }
}

final class PartBody: HTTPBodySource {
    private let feed: PartFeed
    private let number: Int

    init(_ feed: PartFeed, _ number: Int) { (self.feed, self.number) = (feed, number) }

    func nextChunk() async throws -> Data? { try await feed.nextChunk(of: number) }

    /// Requesting the next part skips the remaining bytes.
    func cancel() {}
}
