#if os(Linux) || os(Android)
import Errand
import ErrandEssentials

/// Decodes a body in steps of at most 128 KiB of output, however much the input expands.
struct ContentDecoder: ~Copyable {
    private let stages: [CodingStage]

    /// Throws `transportFailed` if memory runs out.
    init(_ codings: [ContentCoding]) throws {
        stages = try codings.reversed().map(CodingStage.init)
    }

    /// First take the output of earlier bytes from ``next()``.
    func feed(_ data: Data) { stages.first?.feed(data) }

    /// `nil` if more input is needed. Throws `invalidResponse` for malformed input.
    func next() throws -> Data? { try next(of: stages.count - 1) }

    private func next(of index: Int) throws -> Data? {
        while true {
            if let data = try stages[index].next() { return data }
            guard index > 0, let input = try next(of: index - 1) else { return nil }
            stages[index].feed(input)
        }
    }

    /// Throws `truncated` if a coding isn't complete.
    func finish() throws {
        guard stages.allSatisfy(\.isComplete) else {
            throw ErrandError(.truncated, "the body ended before its content coding did")
        }
    }

    /// Decodes as much as possible, up to `limit` bytes.
    static func beginning(of data: Data, _ codings: [ContentCoding], upTo limit: Int) -> Data {
        var result = Data()
        guard let decoder = try? ContentDecoder(codings) else { return result }
        decoder.feed(data)
        while result.count < limit, let piece = try? decoder.next() {
            result.append(piece.prefix(limit - result.count))
        }
        return result
    }

    /// Throws `bodyTooLarge` as soon as the result exceeds `limit`.
    static func decode(_ data: Data, _ codings: [ContentCoding], upTo limit: Int) throws -> Data {
        let decoder = try ContentDecoder(codings)
        decoder.feed(data)
        var result = Data()
        while let piece = try decoder.next() {
            guard result.count + piece.count <= limit else {
                throw ErrandError(.bodyTooLarge, "the body is longer than the limit of \(limit) bytes")
            }
            if result.isEmpty { result = piece } else { result.append(piece) }
        }
        try decoder.finish()
        return result
    }
}
#endif
