import Errand
import ErrandEssentials
import ErrandKeys
import Synchronization

struct ChunkChain: Sendable {
    let key: AWSSigningKey
    let time: AWSTimestamp
    let scope: String
    let seed: String

    func signature(of chunk: Data, after previous: String) throws -> String {
        let empty = try AWSSigningKey.digest(Data())
        let digest = try AWSSigningKey.digest(chunk)
        return try key.signature(
            of: "AWS4-HMAC-SHA256-PAYLOAD\n\(time.text)\n\(scope)\n\(previous)\n\(empty)\n\(digest)")
    }
}

/// Splits a body into signed chunks. Each signature covers the previous one.
///
/// ```
/// 10000;chunk-signature=… CRLF bytes CRLF     any number of times, the last of them shorter
/// 0;chunk-signature=… CRLF CRLF
/// ```
final class ChunkSigner: HTTPBodySource {
    private struct State {
        var pending = Data()
        var previous: String
        var isAtEnd = false
        var isOver = false
    }

    private let chain: ChunkChain
    private let chunkBytes: Int
    private let chunks: BodyChunks
    private let state: Mutex<State>

    init(_ chain: ChunkChain, chunkBytes: Int, body: HTTPBody) {
        (self.chain, self.chunkBytes, chunks) = (chain, chunkBytes, BodyChunks(body))
        state = Mutex(State(previous: chain.seed))
    }

    func nextChunk() async throws -> Data? {
        while true {
            let (isReady, isOver) = state.withLock { ($0.isAtEnd || $0.pending.count >= chunkBytes, $0.isOver) }
            if isOver { return nil }
            if isReady { return try signedChunk() }
            let chunk = try await chunks.next()
            state.withLock { state in
                if let chunk { state.pending.append(chunk) } else { state.isAtEnd = true }
            }
        }
    }

    private func signedChunk() throws -> Data {
        try state.withLock { state in
            let chunk = Data(state.pending.prefix(chunkBytes))
            let signature = try chain.signature(of: chunk, after: state.previous)
            state.pending = Data(state.pending.dropFirst(chunk.count))
            state.previous = signature
            state.isOver = chunk.isEmpty
            return Data("\(Self.head(chunk.count))\(signature)\r\n".utf8) + chunk + Data("\r\n".utf8)
        }
    }

    func cancel() { chunks.cancel() }

    private static func head(_ count: Int) -> String { String(count, radix: 16) + ";chunk-signature=" }

    static func encodedLength(of length: Int64, _ chunkBytes: Int) -> Int64 {
        func encoded(_ count: Int64) -> Int64 { Int64(head(Int(count)).utf8.count) + 64 + 2 + count + 2 }
        let (full, rest) = length.quotientAndRemainder(dividingBy: Int64(chunkBytes))
        return full * encoded(Int64(chunkBytes)) + (rest > 0 ? encoded(rest) : 0) + encoded(0)
    }
}
