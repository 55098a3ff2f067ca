import Errand
import ErrandEssentials

/// Makes a value of the bytes of one element.
struct ElementDecoding<Value: Decodable & Sendable>: Sendable {
    private let decode: @Sendable (Data) throws -> Value

    /// By the decoder of the request that a response belongs to, or of its agent.
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

    /// By a decoder of the caller's choice.
    init(_ decoder: some BodyDecoder) {
        decode = { try decoder.decode(Value.self, from: $0) }
    }

    /// The value; `Data` is the bytes as they are. Throws `decoding`, with the place.
    func value(_ bytes: UnsafeRawBufferPointer, byte: Int64, element: Int) throws -> Value {
        let data = Data(bytes)
        if let data = data as? Value { return data }
        do { return try decode(data) } catch {
            throw StreamingError(
                .decoding, "the element is no \(Value.self)", byte: byte, element: element, underlying: error)
        }
    }
}
