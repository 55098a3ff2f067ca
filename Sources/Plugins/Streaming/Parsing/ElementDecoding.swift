import Errand
import ErrandEssentials

/// Decodes the bytes of one element to a value.
struct ElementDecoding<Value: Decodable & Sendable>: Sendable {
    private let decode: @Sendable (Data) throws -> Value

    /// Uses the decoder of the request that a response belongs to, or of its agent.
    init(_ response: HTTPResponse) {
        var head = response
        head.body = .empty
        decode = { [head] data in
            var element = head
            element.body = HTTPBody(data)
            do { return try element.decoded(as: Value.self) } catch let error as ErrandError {
                throw error.underlying ?? error
            }
        }
    }

    /// Uses a decoder of the caller's choice.
    init(_ decoder: some BodyDecoder) {
        decode = { try decoder.decode(Value.self, from: $0) }
    }

    /// The value. Throws `decodingFailed`, with the position.
    func value(_ found: ElementSplitter.Found) throws -> Value {
        do { return try decode(found.bytes) } catch {
            throw StreamingError(
                .decodingFailed, "the element is no \(Value.self): \(error.briefDescription)", byte: found.byte,
                element: found.element, underlying: error)
        }
    }

    /// A reader of elements that a splitter finds; of their bytes as they are, if `Value` is `Data`.
    func reader(_ splitter: ElementSplitter) -> ElementReader<Value> {
        DataReader(splitter) as? ElementReader<Value> ?? DecodingReader(splitter, self)
    }
}
