import ErrandJSONDecoding
import Foundation
import Testing

/// The result of decoding: a value, or the kind of an error and its coding path.
enum Outcome: Equatable, CustomStringConvertible {
    case value(String)
    case failure(String, path: [String])
    case otherError(String)

    init<Value: Decodable>(_ decode: () throws -> Value) {
        do { self = .value(Self.describe(try decode())) } catch let error as DecodingError {
            let (kind, context) =
                switch error {
                case .typeMismatch(let type, let context): ("mismatch of \(type)", context)
                case .valueNotFound(let type, let context): ("no \(type)", context)
                case .keyNotFound(let key, let context): ("no key \(key.stringValue)", context)
                case .dataCorrupted(let context): ("corrupted", context)
                @unknown default: ("unknown", DecodingError.Context(codingPath: [], debugDescription: ""))
                }
            // JSONDecoder reports a number that doesn't fit its type without a path.
            let isNumber = (context.underlyingError as? JSONDecodingError)?.code == .numberNotRepresentable
            let path = isNumber ? [] : context.codingPath
            self = .failure(kind, path: path.map { "\($0.stringValue)|\($0.intValue ?? -1)" })
        } catch { self = .otherError("\(error)") }
    }

    /// Describes a value completely, independent of the order of dictionaries.
    static func describe(_ value: Any) -> String {
        switch value {
        case let value as Double: "\(value.bitPattern)"
        case let value as Float: "\(value.bitPattern)"
        case let value as String: value.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
        case let value as Data: value.base64EncodedString()
        case let value as Date: "\(value.timeIntervalSinceReferenceDate.bitPattern)"
        case let value as [String: Any]:
            value.map { "\(describe($0.key)): \(describe($0.value))" }.sorted().description
        case let value as [Int: Any]: value.map { "\($0.key): \(describe($0.value))" }.sorted().description
        case let value as [Any]: value.map(describe).description
        default: String(reflecting: value)
        }
    }

    var description: String {
        switch self {
        case .value(let text): "value \(text)"
        case .failure(let kind, let path): "\(kind) at \(path)"
        case .otherError(let text): "error \(text)"
        }
    }
}

/// Both decoders with the same settings.
struct Pair {
    var fast = FastJSONDecoder()
    let slow = JSONDecoder()

    init(_ userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        fast.userInfo = userInfo
        slow.userInfo = userInfo
    }

    mutating func date(_ strategy: JSONDecoder.DateDecodingStrategy) {
        (fast.dateDecodingStrategy, slow.dateDecodingStrategy) = (strategy, strategy)
    }

    mutating func data(_ strategy: JSONDecoder.DataDecodingStrategy) {
        (fast.dataDecodingStrategy, slow.dataDecodingStrategy) = (strategy, strategy)
    }

    mutating func keys(_ strategy: JSONDecoder.KeyDecodingStrategy) {
        (fast.keyDecodingStrategy, slow.keyDecodingStrategy) = (strategy, strategy)
    }

    mutating func floats(_ strategy: JSONDecoder.NonConformingFloatDecodingStrategy) {
        (fast.nonConformingFloatDecodingStrategy, slow.nonConformingFloatDecodingStrategy) = (strategy, strategy)
    }

    func outcomes<Value: Decodable>(_ type: Value.Type, _ data: Data) -> (fast: Outcome, slow: Outcome) {
        (Outcome { try fast.decode(type, from: data) }, Outcome { try slow.decode(type, from: data) })
    }

    @discardableResult
    func agree<Value: Decodable>(
        _ type: Value.Type, _ text: String, at location: SourceLocation = #_sourceLocation
    ) -> Outcome {
        let outcomes = outcomes(type, Data(text.utf8))
        #expect(outcomes.fast == outcomes.slow, "\(type) from \(text)", sourceLocation: location)
        return outcomes.fast
    }
}
